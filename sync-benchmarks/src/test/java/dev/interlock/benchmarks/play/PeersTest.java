package dev.interlock.benchmarks.play;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.benchmarks.play.Site.Round;
import dev.interlock.benchmarks.play.Site.Tally;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What all locks promise, ours and others: two threads in each of two JVMs are never in the section at once. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("proof")
class PeersTest {

    private static final int JVMS = 2;
    private static final int THREADS = 2;
    private static final Duration ROUND = Duration.ofMillis(300);
    private static final Duration STAY = Duration.ofMillis(10);

    /** How many may seem to be inside on average: one, and each thread goes in once more after the end. */
    private static final double MOST_INSIDE = 1 + (double) JVMS * THREADS * STAY.toNanos() / ROUND.toNanos();

    private Servers servers;
    private Ensemble ensemble;
    private long booked;

    @BeforeAll
    void start() {
        servers = new Servers(RedisServer.provided());
        // The child JVMs are told once where everything is.
        for (String name : new String[] {"Curator", "Hazelcast", "Postgres-row", "etcd"}) {
            Contestants.absence(name, servers);
        }
        ensemble = Troupe.once(JVMS, servers.addresses());
    }

    @AfterAll
    void end() {
        ensemble.close();
        servers.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Interlock",
                "Interlock-fair",
                "Interlock-retaining",
                "SETNX",
                "RLock",
                "RFairLock",
                "RSpinLock",
                "Spring-spin",
                "Spring-pubsub",
                "Curator",
                "Hazelcast",
                "Postgres-advisory",
                "Postgres-row",
                "etcd"
            })
    void nobodyIsInTheSectionBesideAnother(String name) {
        Optional<String> absence = Contestants.absence(name, servers);
        assumeTrue(absence.isEmpty(), () -> absence.orElse(""));
        ensemble.open(name);
        // At full speed an update would be lost, of many. Where threads stay inside, the time wouldn't suffice for so
        // many.
        Tally hurried = play(name, Duration.ZERO);
        Tally staying = play(name, STAY);
        booked += hurried.booked() + staying.booked();
        assertThat(ensemble.sum()).isEqualTo(booked);
        assertThat(hurried.booked()).isPositive();
        assertThat(inside(staying)).isPositive().isLessThanOrEqualTo(MOST_INSIDE);
    }

    /** The second measure finds a lock that excludes only the threads of its own JVM. */
    @Test
    void lockOfOneJvmIsFound() {
        ensemble.open("ReentrantLock");
        Tally staying = play("ReentrantLock", STAY);
        booked = ensemble.sum(); // less, perhaps, than was booked
        assertThat(inside(staying)).isGreaterThan(MOST_INSIDE);
    }

    @Test
    void roundTripsGoToRedisAndBookNothing() {
        ensemble.open("round-trip");
        long before = RedisServer.provided().commandCalls("get");
        Tally tally = play("round-trip", Duration.ZERO);
        long calls = RedisServer.provided().commandCalls("get") - before;
        assertThat(tally.booked()).isZero();
        assertThat(tally.perSecond()).isPositive();
        assertThat(calls).isGreaterThanOrEqualTo((long) (tally.perSecond() * ROUND.toMillis() / 1_000));
    }

    private Tally play(String name, Duration stay) {
        long start = Monotonic.nanos() + TimeUnit.MILLISECONDS.toNanos(10);
        return ensemble.play(new Round(
                name,
                "peers:" + name,
                THREADS,
                100,
                0,
                Timing.NOTHING,
                stay.toNanos(),
                0,
                start,
                start + ROUND.toNanos(),
                null));
    }

    private static double inside(Tally staying) {
        return staying.perSecond() * STAY.toNanos() / TimeUnit.SECONDS.toNanos(1);
    }
}
