package dev.interlock.topology;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.internal.redis.Keys;
import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.Topology;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/**
 * A master fails while everything that this library has is in use on it, and each test looks at how one thing has come
 * through. It is one failover for all of them, since that takes seconds: what a test needs is brought about before it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // before all tests
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
abstract class FailoverContract {
    /** What anything may take that has to happen after the failover, on a machine with other things to do. */
    static final Duration PATIENCE = Duration.ofSeconds(40);

    /** Longer than any failover, so that nothing is lost for that reason. */
    private static final Duration LEASE = Duration.ofSeconds(60);

    /**
     * A session that waits for a message gets it by then; without it the next pulse would take half a second on
     * average.
     */
    private static final Duration BY_MESSAGE = Duration.ofMillis(300);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Clients clients = new Clients(config -> connect(config, topology()));
    private Topology topology;
    private String shard;
    private Interlock ours;
    private Interlock theirs;
    private Actor a;
    private Actor b;
    private Hammer hammer;
    private int sectionsBefore;
    private CompletableFuture<Duration> firstLock;
    private CompletableFuture<Duration> firstPlainLock;

    /** Starts the servers. */
    abstract Topology launch();

    /** Has a client use them. */
    abstract void connect(Config config, Topology to);

    /** Whether the master is stopped, and goes on when another node is in use; otherwise it is killed. */
    boolean isPaused() {
        return false;
    }

    /** How long a command may go unanswered. */
    Duration commandTimeout() {
        return Clients.COMMAND_TIMEOUT;
    }

    @BeforeAll
    @Timeout(value = 150, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void failOver() {
        topology = launch();
        clients.onClose(topology::close);
        ours = session(LEASE);
        theirs = session(LEASE);
        a = actor("a");
        b = actor("b");
        // The node of a mailbox goes as well.
        RedisServer victim = topology.masterOf("interlock:mailbox:" + theirs.id());
        shard = tags().filter(tag -> topology.masterOf(tag) == victim)
                .findFirst()
                .orElseThrow();
        RLock plain = clients.client().getLock(shard + "plain");
        DistributedReentrantLock first = session(LEASE).lock(shard + "first");
        assertHandedOverByMessage();
        beginAll();
        hammer = new Hammer(shard + "hammer", ours, theirs);
        await("sections").until(() -> hammer.sections().size() > 20);

        if (isPaused()) {
            topology.pause(victim);
        } else {
            topology.kill(victim);
        }
        long failed = System.nanoTime();
        firstLock = firstSuccess(failed, () -> {
            first.lock();
            first.unlock();
        });
        firstPlainLock = firstSuccess(failed, () -> {
            plain.lock();
            plain.unlock();
        });
        assertThat(firstLock).succeedsWithin(PATIENCE);
        sectionsBefore = hammer.sections().size();
        await("sections after the failover").until(() -> hammer.sections().size() > sectionsBefore + 20);
        hammer.stop(PATIENCE);
        if (isPaused()) {
            topology.heal();
        }
    }

    @AfterAll
    void close() {
        clients.close();
    }

    private static Stream<String> tags() {
        return IntStream.range(0, 1_000).mapToObj(i -> "{" + i + "}");
    }

    private CompletableFuture<Duration> firstSuccess(long failedNanos, Actor.Action attempt) {
        return actor("probe").ask(() -> {
            while (true) {
                try {
                    attempt.run();
                    return Duration.ofNanos(System.nanoTime() - failedNanos);
                } catch (RuntimeException e) {
                    LockSupport.parkNanos(RETRY_NANOS);
                }
            }
        });
    }

    final Interlock session(Duration lease) {
        return clients.session(lease, commandTimeout(), PATIENCE);
    }

    final Actor actor(String name) {
        return clients.actor(name);
    }

    final Topology topology() {
        return topology;
    }

    /** What names begin with that are on the node that fails. */
    final String shard() {
        return shard;
    }

    static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
    }

    private void awaitMembers(String kind, String name, long count) {
        String key = "interlock:" + kind + ":" + name;
        await(count + " in " + key)
                .until(() -> topology.masterOf(key).command("ZCARD", key) instanceof Long found && found == count);
    }

    // ---- what is in use

    private void beginAll() {
        beginLock();
        beginFairLock();
        beginReadWriteLock();
        beginCondition();
        beginSemaphore();
        beginLatch();
        beginBarrier();
        beginBystanders();
    }

    private DistributedReentrantLock lockOfA;
    private DistributedReentrantLock lockOfB;
    private CompletableFuture<Boolean> lockAwaited;
    private long lockToken;

    private void beginLock() {
        lockOfA = ours.lock(shard + "lock");
        lockOfB = theirs.lock(shard + "lock");
        a.run(lockOfA::lock);
        lockToken = a.get(lockOfA::fencingToken);
        lockAwaited = b.begin(lockOfB::lock);
        awaitMembers("queue", shard + "lock", 1);
    }

    /** Who holds it goes on holding it, who waits goes on waiting and gets it with a greater token. */
    @Test
    void aLockStaysWithItsHolderAndGoesToItsWaiter() {
        a.run(lockOfA::assertHeld);
        assertThat(lockAwaited).isNotDone();
        a.run(lockOfA::unlock);
        assertThat(lockAwaited).succeedsWithin(PATIENCE);
        long second = b.get(lockOfB::fencingToken);
        assertThat(second).isGreaterThan(lockToken);
        b.run(lockOfB::unlock);
        a.run(lockOfA::lock);
        assertThat(a.get(lockOfA::fencingToken)).isGreaterThan(second);
        a.run(lockOfA::unlock);
    }

    @Test
    void nobodyEverWasInsideTogether() {
        Section.assertExclusiveAndFenced(hammer.sections());
        // One at the most can have been inside when it began.
        assertThat(hammer.losses()).as("turns lost").isLessThanOrEqualTo(1);
    }

    private DistributedReentrantLock fairOfA;
    private DistributedReentrantLock fairOfB;
    private Actor secondInLine;
    private Actor thirdInLine;
    private CompletableFuture<Boolean> second;
    private CompletableFuture<Boolean> third;

    private void beginFairLock() {
        fairOfA = ours.fairLock(shard + "fair");
        fairOfB = theirs.fairLock(shard + "fair");
        secondInLine = actor("second");
        thirdInLine = actor("third");
        a.run(fairOfA::lock);
        second = secondInLine.begin(fairOfB::lock);
        awaitMembers("queue", shard + "fair", 1);
        third = thirdInLine.begin(fairOfA::lock);
        awaitMembers("queue", shard + "fair", 2);
    }

    @Test
    void aFairLockKeepsItsOrder() {
        a.run(fairOfA::assertHeld);
        a.run(fairOfA::unlock);
        assertThat(second).succeedsWithin(PATIENCE);
        assertThat(third).isNotDone();
        secondInLine.run(fairOfB::unlock);
        assertThat(third).succeedsWithin(PATIENCE);
        thirdInLine.run(fairOfA::unlock);
    }

    private DistributedReadWriteLock readOfA;
    private DistributedReadWriteLock writeOfB;
    private Actor reader;
    private Actor writer;
    private CompletableFuture<Boolean> written;

    private void beginReadWriteLock() {
        readOfA = ours.readWriteLock(shard + "book");
        writeOfB = theirs.readWriteLock(shard + "book");
        reader = actor("reader");
        writer = actor("writer");
        reader.run(readOfA.readLock()::lock);
        written = writer.begin(writeOfB.writeLock()::lock);
        awaitMembers("queue", Keys.prefix(shard + "book") + "rw", 1);
    }

    @Test
    void aReaderKeepsItsLockAndTheWriterFollows() {
        reader.run(readOfA.readLock()::assertHeld);
        assertThat(written).isNotDone();
        reader.run(readOfA.readLock()::unlock);
        assertThat(written).succeedsWithin(PATIENCE);
        writer.run(writeOfB.writeLock()::assertHeld);
        writer.run(writeOfB.writeLock()::unlock);
        reader.run(readOfA.readLock()::lock);
        reader.run(readOfA.readLock()::unlock);
    }

    private DistributedReentrantLock conditionLock;
    private Actor sleeper;
    private CompletableFuture<Boolean> woken;
    private volatile boolean signalled;

    private void beginCondition() {
        conditionLock = ours.lock(shard + "condition");
        DistributedReentrantLock lock = theirs.lock(shard + "condition");
        Condition condition = lock.newCondition("c");
        sleeper = actor("sleeper");
        woken = sleeper.begin(() -> {
            lock.lock();
            try {
                while (!signalled) {
                    condition.await();
                }
            } finally {
                lock.unlock();
            }
        });
        awaitMembers("conditions", shard + "condition", 1);
    }

    @Test
    void aSignalReachesWhoHasWaitedSinceBefore() {
        assertThat(woken).isNotDone();
        a.run(() -> {
            conditionLock.lock();
            try {
                signalled = true;
                conditionLock.newCondition("c").signal();
            } finally {
                conditionLock.unlock();
            }
        });
        assertThat(woken).succeedsWithin(PATIENCE);
    }

    private DistributedSemaphore permitsOfA;
    private DistributedSemaphore permitsOfB;
    private Actor guest;
    private CompletableFuture<Boolean> admitted;

    private void beginSemaphore() {
        permitsOfA = ours.semaphore(shard + "permits", 2);
        permitsOfB = theirs.semaphore(shard + "permits", 2);
        guest = actor("guest");
        a.run(() -> permitsOfA.acquire(2));
        admitted = guest.begin(permitsOfB::acquire);
        await("guest waits").until(permitsOfB::hasQueuedThreads);
    }

    @Test
    void aSemaphoreHasNeitherMoreNorFewerPermits() {
        assertThat(admitted).isNotDone();
        permitsOfA.release();
        assertThat(admitted).succeedsWithin(PATIENCE);
        await("both taken").ignoreExceptions().until(() -> permitsOfA.availablePermits() == 0);
        permitsOfA.release();
        guest.run(permitsOfB::release);
        await("both back").ignoreExceptions().until(() -> permitsOfB.availablePermits() == 2);
        assertThat(permitsOfB.tryAcquire(2)).isTrue();
        permitsOfB.release(2);
    }

    private DistributedCountDownLatch latch;
    private CompletableFuture<Boolean> passed;

    private void beginLatch() {
        latch = ours.countDownLatch(shard + "latch", 2);
        DistributedCountDownLatch other = theirs.countDownLatch(shard + "latch", 2);
        passed = actor("passer").begin(other::await);
        latch.countDown();
        assertThat(other.getCount()).isEqualTo(1);
    }

    @Test
    void aLatchKeepsItsCount() {
        assertThat(passed).isNotDone();
        latch.countDown();
        assertThat(passed).succeedsWithin(PATIENCE);
    }

    private DistributedCyclicBarrier barrier;
    private CompletableFuture<Integer> arrived;

    private void beginBarrier() {
        barrier = ours.cyclicBarrier(shard + "barrier", 2);
        DistributedCyclicBarrier other = theirs.cyclicBarrier(shard + "barrier", 2);
        arrived = actor("early").ask(other::await);
        await("arrival").until(() -> barrier.getNumberWaiting() == 1);
    }

    @Test
    void aBarrierKnowsWhoHasArrived() {
        assertThat(arrived).isNotDone();
        assertThat(actor("late").ask(barrier::await)).succeedsWithin(PATIENCE).isEqualTo(0);
        assertThat(arrived).succeedsWithin(PATIENCE).isEqualTo(1);
    }

    /** Begins to hold what is on nodes that don't fail. */
    void beginBystanders() {}

    // ---- messages, and time

    /** Grants reach a session from whichever node sends them, by its mailbox and not by its pulse. */
    private void assertHandedOverByMessage() {
        List<Duration> times =
                tags().limit(9).map(tag -> handOver(tag + "handover")).sorted().toList();
        assertWithin("the median of " + times, BY_MESSAGE, times.get(times.size() / 2));
    }

    private Duration handOver(String name) {
        DistributedReentrantLock from = ours.lock(name);
        DistributedReentrantLock to = theirs.lock(name);
        Actor giver = actor("giver");
        Actor taker = actor("taker");
        giver.run(from::lock);
        CompletableFuture<Boolean> taken = taker.begin(to::lock);
        awaitMembers("queue", name, 1);
        long given = System.nanoTime();
        giver.run(from::unlock);
        assertThat(taken).succeedsWithin(PATIENCE);
        Duration took = Duration.ofNanos(System.nanoTime() - given);
        taker.run(to::unlock);
        return took;
    }

    @Test
    void theMailboxIsThereAgain() {
        await("messages").untilAsserted(this::assertHandedOverByMessage);
    }

    @Test
    void theFirstLockComesAsSoonAsThereIsAMaster(TestReporter reporter) {
        assertThat(firstLock).succeedsWithin(PATIENCE);
        assertThat(firstPlainLock).as("plain RLock, for comparison").succeedsWithin(PATIENCE);
        String times = getClass().getSimpleName() + ": first lock after "
                + firstLock.join().toMillis() + " ms, RLock's after "
                + firstPlainLock.join().toMillis() + " ms";
        reporter.publishEntry(times);
        // Surefire keeps what is published to itself.
        System.out.println(times);
        assertWithin(PATIENCE, firstLock.join());
    }
}
