package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Rig;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Threads that leave a wait by time-out or interrupt, get the lock back, and signal a thread of another JVM at once:
 * each signal arrives. What Redis says of the leaving thread may come when it has given the lock up again, and must not
 * get in the way of the release that carries the signal. A fault in this shows in some pairs of JVMs only.
 */
class LeaverSignalsTest {

    private static final List<String> KINDS = List.of("plain", "fair", "write", "fairWrite");

    /** For each kind of lock. */
    private static final int ROUNDS = Integer.getInteger("interlock.leavers.rounds", 150);

    private static final Duration START = Duration.ofSeconds(60);

    /** Longer than lost messages, commands and beats take to be made good. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    LeaverSignalsTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @Test
    @Tag("proof")
    void noSignalOfALeaverIsLost() {
        signal(0, ROUNDS);
    }

    @Test
    @Tag("soak")
    void noSignalOfALeaverIsLostInAnyPair() throws IOException {
        Rig.soak(pair -> signal(pair, ROUNDS));
    }

    private void signal(int pair, int rounds) {
        String name = keyspace.name("leavers-" + pair);
        try (Fleet fleet = Fleet.start(2, jvm -> Leaver.of(keyspace.server().url(), name))) {
            fleet.awaitAll("READY", START);
            for (String kind : KINDS) {
                long start = System.nanoTime();
                for (int round = 0; round < rounds; round++) {
                    ChildJvm waiter = fleet.get(round % 2);
                    ChildJvm leaver = fleet.get(1 - round % 2);
                    String way = round / 2 % 2 == 0 ? "timeOut" : "interrupt";
                    waiter.send("wait " + kind);
                    waiter.await("WAITING", PATIENCE);
                    leaver.send(way + " " + kind);
                    leaver.await("SIGNALLED", PATIENCE);
                    awaitReturn(waiter, "pair " + pair + ", " + kind + ", round " + round + ", " + way);
                }
                reporter.publishEntry(
                        rounds + " signals, " + kind + ": " + (System.nanoTime() - start) / 1_000_000 + " ms");
            }
            fleet.send("stop");
            for (ChildJvm child : fleet) {
                assertThat(child.waitFor(PATIENCE)).isZero();
            }
        }
    }

    private static void awaitReturn(ChildJvm waiter, String where) {
        try {
            waiter.await("RETURNED", PATIENCE);
        } catch (AssertionError e) {
            throw new AssertionError("The signal was lost: " + where, e);
        }
    }
}
