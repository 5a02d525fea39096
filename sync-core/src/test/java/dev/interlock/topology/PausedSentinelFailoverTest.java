package dev.interlock.topology;

import org.junit.jupiter.api.Tag;

/**
 * The same with a master that is stopped, and goes on when another one has taken its place: what it still says must not
 * matter.
 */
@Tag("proof")
class PausedSentinelFailoverTest extends SentinelFailoverTest {
    @Override
    boolean isPaused() {
        return true;
    }
}
