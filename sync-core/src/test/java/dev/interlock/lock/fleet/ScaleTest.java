package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Crew;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Many waiters and many names on a client with Redisson's default settings: all enter, and no channel is missing. */
@Timely
@Tag("proof")
class ScaleTest {

    private static final int WAITERS = 2_000;
    private static final int NAMES = 500;
    private static final Duration QUEUEING = Duration.ofSeconds(30);
    private static final Duration ENTERING = Duration.ofSeconds(30);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    private final Warnings warnings = new Warnings();
    private final List<RedissonClient> clients = new ArrayList<>();

    @AfterEach
    void close() {
        clients.forEach(RedissonClient::shutdown);
        warnings.close();
    }

    private RedissonClient client() {
        var config = new Config();
        config.useSingleServer().setAddress(rig.url());
        RedissonClient client = Redisson.create(config);
        clients.add(client);
        return client;
    }

    /** 2,000 threads of one session wait for a lock that another session holds: all enter, one at a time. */
    @Test
    void manyThreadsOfOneSessionWaitForOneLock() {
        try (Interlock holder = Interlock.using(client());
                Interlock waiting = Interlock.using(client())) {
            assertAllEnter(holder, List.of(waiting));
        }
    }

    /** The same with the threads spread over two sessions. */
    @Test
    void manyThreadsOfTwoSessionsWaitForOneLock() {
        try (Interlock holder = Interlock.using(client());
                Interlock left = Interlock.using(client());
                Interlock right = Interlock.using(client())) {
            assertAllEnter(holder, List.of(left, right));
        }
    }

    private void assertAllEnter(Interlock holder, List<Interlock> waiting) {
        String name = rig.name("many-waiters");
        List<DistributedReentrantLock> locks =
                waiting.stream().map(session -> session.lock(name)).toList();
        DistributedReentrantLock held = holder.lock(name);
        var inside = new Exclusive();
        var crew = new Crew();
        held.lock();
        try {
            for (int i = 0; i < WAITERS; i++) {
                DistributedReentrantLock lock = locks.get(i % locks.size());
                crew.start(() -> inside.enter(lock));
            }
            // One thread of each session waits in Redis on behalf of all, and is out of the local queue.
            await("everybody in a queue")
                    .atMost(QUEUEING)
                    .until(() -> rig.keyspace().waiting(name) == locks.size()
                            && locks.stream()
                                            .mapToInt(DistributedReentrantLock::getQueueLength)
                                            .sum()
                                    == WAITERS - locks.size());
            assertThat(inside.entries()).isZero();
        } finally {
            held.unlock();
        }
        long start = System.nanoTime();
        crew.join(ENTERING);
        rig.report(String.format(
                "%d waiters of %d sessions entered in %d ms",
                WAITERS, locks.size(), (System.nanoTime() - start) / 1_000_000));
        assertThat(inside.entries()).isEqualTo(WAITERS);
        warnings.assertNone();
    }

    /** 500 names, each contended by two sessions with two threads each: all enter, one at a time for each name. */
    @Test
    void manyNamesContendedByTwoSessions() {
        int rounds = 3;
        try (Interlock left = Interlock.using(client());
                Interlock right = Interlock.using(client())) {
            List<Exclusive> names =
                    IntStream.range(0, NAMES).mapToObj(i -> new Exclusive()).toList();
            var crew = new Crew();
            long start = System.nanoTime();
            for (int i = 0; i < NAMES; i++) {
                String name = rig.name("many-names-" + i);
                Exclusive inside = names.get(i);
                for (Interlock session : List.of(left, right, left, right)) {
                    crew.start(() -> {
                        for (int round = 0; round < rounds; round++) {
                            inside.enter(session.lock(name));
                        }
                    });
                }
            }
            crew.join(ENTERING);
            rig.report(String.format(
                    "%d names, %d entries each: %d ms", NAMES, 4 * rounds, (System.nanoTime() - start) / 1_000_000));
            assertThat(names).allMatch(inside -> inside.entries() == 4 * rounds);
            warnings.assertNone();
        }
    }

    /**
     * 500 names held by plain RLocks, each waited for by a thread: as each wants Redisson's channel of that name, and a
     * client has 250, most have to do without. All enter all the same, and there is a channel left for another mailbox,
     * also while everybody waits.
     */
    @Test
    void moreNamesHeldByPlainRLocksThanAClientHasChannels() {
        RedissonClient plain = client();
        RedissonClient shared = client();
        List<RLock> held = IntStream.range(0, NAMES)
                .mapToObj(i -> plain.getLock(rig.name("foreign-" + i)))
                .toList();
        long owner = 1;
        held.forEach(lock -> lock.lockAsync(owner).toCompletableFuture().join());
        try (Interlock waiting = Interlock.using(shared)) {
            var entered = new AtomicInteger();
            var crew = new Crew();
            for (RLock lock : held) {
                crew.start(() -> enterOnce(waiting.lock(lock.getName()), entered));
            }
            await("everybody in a queue")
                    .atMost(QUEUEING)
                    .until(() -> held.stream().allMatch(lock -> rig.keyspace().waiting(lock.getName()) == 1));
            assertThat(entered).hasValue(0);
            try (Interlock meanwhile = Interlock.using(shared)) {
                DistributedReentrantLock free = meanwhile.lock(rig.name("free"));
                free.lock();
                free.unlock();
            }
            long start = System.nanoTime();
            held.forEach(lock -> lock.unlockAsync(owner).toCompletableFuture().join());
            crew.join(ENTERING);
            rig.report(String.format(
                    "%d names of plain RLocks entered in %d ms", NAMES, (System.nanoTime() - start) / 1_000_000));
            assertThat(entered).hasValue(NAMES);
            try (Interlock late = Interlock.using(shared)) {
                assertAllEnter(late, List.of(waiting));
            }
        }
    }

    private static void enterOnce(DistributedReentrantLock lock, AtomicInteger entered) {
        lock.lock();
        try {
            entered.incrementAndGet();
        } finally {
            lock.unlock();
        }
    }

    /** A critical section that notices company, and an unsynchronised count of its entries. */
    private static final class Exclusive {

        private final AtomicInteger inside = new AtomicInteger();
        private int entries;

        void enter(DistributedReentrantLock lock) {
            lock.lock();
            try {
                assertThat(inside.incrementAndGet()).as("threads inside").isEqualTo(1);
                entries++;
                inside.decrementAndGet();
            } finally {
                lock.unlock();
            }
        }

        int entries() {
            return entries;
        }
    }
}
