package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redis refuses what takes memory, since that is full and it evicts nothing: all go on when there is room again. */
class FullMemoryTest extends WaitFixture {
    private static final Duration LEASE = Duration.ofSeconds(6);

    /** So short that it ends in the test, unless it is renewed. */
    @Override
    Duration lease() {
        return LEASE;
    }

    @Test
    @Tag("proof")
    void aRedisThatEvictsNothingTakesNothingAwayWhenItIsFull() {
        Recorder recorder = new Recorder();
        theirs().session().addListener(recorder);
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        setMemory("1");
        try {
            await("leases would be over").pollDelay(LEASE.multipliedBy(2)).until(() -> true);
            assertThat(waiting).noneMatch(Begun::hasEnded);
            assertThat(recorder.of(Recorder.Kind.LOST)).isEmpty();
        } finally {
            setMemory("0");
        }
        giveAll(others);
        assertGetIn(waiting);
        assertThat(recorder.of(Recorder.Kind.LOST)).isEmpty();
    }

    private void setMemory(String bytes) {
        servers().forEach(server -> server.command("CONFIG", "SET", "maxmemory", bytes));
    }
}
