package dev.interlock.readwrite.faults;

import dev.interlock.testing.Loss;
import org.junit.jupiter.api.Tag;

/** The same where the connection isn't cut, but falls silent. */
@Tag("proof")
class MuteReadWriteLostReplyTest extends ReadWriteLostReplyTest {
    @Override
    Loss loss() {
        return Loss.MUTE;
    }
}
