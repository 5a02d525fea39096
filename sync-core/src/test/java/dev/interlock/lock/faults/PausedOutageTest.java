package dev.interlock.lock.faults;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The same where Redis is stopped, or can't be connected to. */
@Tag("proof")
class PausedOutageTest extends OutageTest {
    @Override
    Stream<Fault> faults() {
        return Stream.of(Fault.PAUSED, Fault.REFUSED);
    }
}
