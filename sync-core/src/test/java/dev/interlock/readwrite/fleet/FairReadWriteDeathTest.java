package dev.interlock.readwrite.fleet;

import org.junit.jupiter.api.Tag;

/** The same with fair locks. */
@Tag("proof")
class FairReadWriteDeathTest extends ReadWriteDeathTest {

    @Override
    String kind() {
        return "fair";
    }
}
