package dev.interlock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.benchmarks.Site.Round;
import dev.interlock.benchmarks.Site.Tally;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What all locks promise, ours and others: two threads in each of two JVMs are never in the section at once. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PeersTest {

    private static final int JVMS = 2;
    private static final int THREADS = 2;
    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long STAY_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

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
        ensemble = Ensemble.start(JVMS, servers.addresses());
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
        long sections = 0;
        // At full speed an update would be lost, of many; where they stay inside, the time wouldn't suffice for all.
        sections += play(name, 0);
        sections += play(name, STAY_NANOS);
        booked += sections;
        assertThat(ensemble.sum()).isEqualTo(booked);
        assertThat(sections).isPositive();
    }

    /** The same measures find a lock that excludes only the threads of its own JVM. */
    @Test
    void lockOfOneJvmIsFound() {
        ensemble.open("ReentrantLock");
        Stay stay = stay("ReentrantLock");
        booked = ensemble.sum();
        assertThat(stay.insideNanos()).isGreaterThan(stay.nanos());
    }

    @Test
    void roundTripsGoToRedisAndBookNothing() {
        ensemble.open("round-trip");
        long before = RedisServer.provided().commandCalls("get");
        Tally tally = ensemble.play(round("round-trip", 0));
        assertThat(tally.booked()).isZero();
        double trips = tally.perSecond() * TimeUnit.NANOSECONDS.toMillis(ROUND_NANOS) / 1_000;
        assertThat(RedisServer.provided().commandCalls("get") - before).isGreaterThan((long) (trips / 2));
        assertThat(trips).isGreaterThan(1);
    }

    private long play(String name, long stayNanos) {
        if (stayNanos == 0) {
            return ensemble.play(round(name, 0)).booked();
        }
        Stay stay = stay(name);
        assertThat(stay.insideNanos()).isLessThan(stay.nanos());
        return stay.tally.booked();
    }

    private Stay stay(String name) {
        Round round = round(name, STAY_NANOS);
        Tally tally = ensemble.play(round);
        return new Stay(tally, Monotonic.nanos() - round.startNanos());
    }

    private static Round round(String name, long stayNanos) {
        long start = Monotonic.nanos() + TimeUnit.MILLISECONDS.toNanos(10);
        return new Round(name, "peers:" + name, THREADS, 100, 0, false, stayNanos, start, start + ROUND_NANOS);
    }

    /**
     * A round in which each thread stayed in the section.
     *
     * @param nanos how long it took until all had ended
     */
    private record Stay(Tally tally, long nanos) {

        long insideNanos() {
            return tally.booked() * STAY_NANOS;
        }
    }
}
