package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Outage;
import dev.interlock.testing.TooLate;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Redis is gone for a while: whatever a thread waits for or asks, it doesn't hang, and afterwards everything works. */
class OutageTest extends WaitFixture {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(4);

    /** Until anybody notices: the next pulse, and its command time-out. */
    private static final Duration NOTICED = PULSE.plus(SHORT_TIMEOUT);

    private @Nullable Outage current;
    private Predicate<Wait> chosen = wait -> true;

    @Override
    Predicate<Wait> chosen() {
        return chosen;
    }

    @Override
    protected List<String> serverArguments() {
        return Outage.serverArguments();
    }

    /** Each test waits for commands to time out. */
    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    @Override
    Duration redisTimeout() {
        return REDIS_TIMEOUT;
    }

    /**
     * Longer than any outage here. But Redisson repeats requests that nobody waits for any more; what they get after an
     * outage has to end before the fixture looks for what is left.
     */
    @Override
    Duration lease() {
        return Duration.ofSeconds(25);
    }

    private void begin(Outage outage) {
        current = outage;
        outage.begin(servers(), proxies());
    }

    private void end() {
        if (current != null) {
            current.end(servers(), proxies());
            current = null;
        }
    }

    @AfterEach
    @Override
    void clear() {
        end();
        super.clear();
    }

    /** Threads that wait without an end fail {@code redisTimeout} after the beginning, those of a session together. */
    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    void anOutageThatLastsEndsEachWaitInTime(Outage outage) {
        // Timed waits have an end of their own; and a fair lock of Redisson's is asked for again after a lease.
        chosen = wait -> !wait.what().endsWith("(1 h)") && !wait.what().equals("adapted fair lock()");
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        begin(outage);
        long begun = Monotonic.nanos();
        awaitEnds(waiting);
        assertFail(waiting, RedisUnavailableException.class, "(?s).*");
        for (Begun wait : waiting) {
            Duration took = Duration.ofNanos(wait.endNanos().get() - begun);
            assertThat(took).as("%s, not before its time", wait).isGreaterThan(REDIS_TIMEOUT.minus(NOTICED));
            TooLate.assertWithin(wait.what(), REDIS_TIMEOUT.plus(NOTICED).plus(SLACK), took);
        }
        end();
        giveAll(others);
        assertWorkAgain();
    }

    @ParameterizedTest
    @EnumSource(names = {"PAUSED", "REFUSED"})
    @Tag("proof")
    void anotherOutageThatLastsEndsEachWaitInTime(Outage outage) {
        anOutageThatLastsEndsEachWaitInTime(outage);
    }

    /** The other session gives during the outage, if it can; that arrives afterwards. */
    @ParameterizedTest
    @EnumSource
    @Tag("proof")
    void aShortOutageEndsNoWait(Outage outage) {
        // A message that is lost meanwhile costs a thread that waits in Redisson the rest of a lease.
        chosen = wait -> !wait.kind().isRedissons();
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        begin(outage);
        giveAll(others);
        end();
        assertGetIn(waiting);
    }

    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    void eachCallEndsDuringAnOutage(Outage outage) {
        List<Begun> all = callAll(REDIS_TIMEOUT, () -> begin(outage)).stream()
                // It is said until it is confirmed, in the background.
                .filter(call -> !call.what().equals("latch.countDown()"))
                .toList();
        assertFail(all, RedisUnavailableException.class, "(?s).*");
        end();
    }
}
