package dev.interlock.lock.faults;

import dev.interlock.testing.Loss;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The same where connections aren't cut, but fall silent. */
@Tag("proof")
class MuteLostReplyTest extends LostReplyTest {
    @Override
    Stream<Loss> losses() {
        return Stream.of(Loss.MUTE);
    }
}
