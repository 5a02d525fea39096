package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A thousand threads of three JVMs wait on one condition, on a server of its own, since it is the server that counts.
 */
@Timely
@Tag("proof")
class CrowdTest {

    private static final int JVMS = 3;
    private static final int THREADS = 334;
    private static final int WAITERS = JVMS * THREADS;
    private static final int MOST_COMMANDS_PER_WAITER = 6;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final RedisServer server = RedisServer.launch();

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(server);

    CrowdTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    /** What Redis has executed. Messages are counted once more, since those that a script sends are commands, too. */
    private record Traffic(long scripts, long messages, long others) {

        static Traffic now() {
            return new Traffic(
                    calls("evalsha", "eval"),
                    calls("publish", "spublish"),
                    calls("wait", "ping", "subscribe", "unsubscribe", "script|load"));
        }

        private static long calls(String... commands) {
            long calls = 0;
            for (String command : commands) {
                calls += server.commandCalls(command);
            }
            return calls;
        }

        Traffic since(Traffic before) {
            return new Traffic(scripts - before.scripts, messages - before.messages, others - before.others);
        }

        double perWaiter() {
            return (double) (scripts + messages + others) / WAITERS;
        }
    }

    /**
     * One signalAll wakes them all; to come, wait and return takes Redis a handful of commands and messages for each.
     */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair"})
    void signalAllWakesAThousandWaiters(String kind) {
        String name = keyspace.name("crowd-" + kind);
        try (Interlock interlock = Interlock.connect(server.url());
                Fleet fleet = Fleet.start(JVMS, jvm -> Crowd.of(server.url(), name, kind, THREADS))) {
            DistributedReentrantLock lock = Crowd.lock(interlock, name, kind);
            Condition condition = lock.newCondition();
            fleet.awaitAll("READY", PATIENCE);
            long start = System.nanoTime();
            Traffic before = Traffic.now();
            fleet.send("go");
            fleet.awaitAll("INSIDE", PATIENCE);
            lock.lock();
            long signalled = System.nanoTime();
            Traffic waiting = Traffic.now();
            try {
                assertThat(lock.getWaitQueueLength(condition)).isEqualTo(WAITERS);
                condition.signalAll();
                assertThat(lock.hasWaiters(condition)).isFalse();
            } finally {
                lock.unlock();
            }
            fleet.awaitAll("DONE", PATIENCE);
            long end = System.nanoTime();
            Traffic after = Traffic.now();
            fleet.awaitAll("STOPPED", PATIENCE);
            for (ChildJvm child : fleet) {
                assertThat(child.waitFor(PATIENCE)).isZero();
            }
            reporter.publishEntry(String.format(
                    "%s: waiting after %d ms, %s; back after %d ms, %s",
                    kind,
                    (signalled - start) / 1_000_000,
                    waiting.since(before),
                    (end - signalled) / 1_000_000,
                    after.since(waiting)));
            assertThat(after.since(before).perWaiter())
                    .as("commands and messages per waiter")
                    .isLessThanOrEqualTo(MOST_COMMANDS_PER_WAITER);
        }
    }
}
