package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Recorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Predicate;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a flight recording shows of locks, losses and outages, with the settings that it has by default. */
class FlightRecordingTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final String WAIT = "dev.interlock.LockWait";
    private static final String HOLD = "dev.interlock.LockHold";
    private static final Duration THRESHOLD = Duration.ofMillis(20);

    /** What is recorded for certain. */
    private static final Duration LONG = Duration.ofMillis(60);

    @TempDir
    Path directory;

    private Recording recording;

    @BeforeEach
    void startRecording() {
        recording = new Recording();
        recording.start();
    }

    @AfterEach
    void closeRecording() {
        recording.close();
    }

    /** Ends the recording, and returns its events of that type that a session has caused. */
    private List<RecordedEvent> recorded(String type, Interlock session) throws IOException {
        Path file = directory.resolve("recording.jfr");
        if (!Files.exists(file)) {
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(type))
                .filter(event -> event.getString("session").equals(session.id()))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    private static void pass(Duration time) {
        await("a while").during(time).until(() -> true);
    }

    private static Predicate<RecordedEvent> is(String name) {
        return event -> event.getString("name").equals(name);
    }

    private static void assertThatIs(RecordedEvent event, Actor actor, String name, String kind, long token) {
        assertThat(event.getString("name")).isEqualTo(name);
        assertThat(event.getString("kind")).isEqualTo(kind);
        assertThat(event.getLong("token")).isEqualTo(token);
        assertThat(event.getThread().getJavaName()).isEqualTo(actor.thread().getName());
        assertThat(event.getDuration()).isGreaterThanOrEqualTo(LONG);
        assertThat(event.getStackTrace().getFrames())
                .anyMatch(frame ->
                        frame.getMethod().getType().getName().equals(DistributedReentrantLock.class.getName()));
    }

    private static void assertEnded(RecordedEvent wait, String source, String outcome) {
        assertThat(wait.getString("source")).isEqualTo(source);
        assertThat(wait.getString("outcome")).isEqualTo(outcome);
    }

    @Test
    void theWaitForAnotherJvmAndTheHoldAfterItAreRecorded() throws IOException {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor actor = actor("actor");
        other.lock();
        CompletableFuture<Boolean> entered = queue(actor, lock);
        pass(LONG);
        other.unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        actor.run(lock::lock); // a re-entry is neither
        long token = actor.get(lock::fencingToken);
        pass(LONG);
        actor.run(lock::unlock);
        actor.run(lock::unlock);
        assertThat(recorded(WAIT, session)).singleElement().satisfies(wait -> {
            assertThatIs(wait, actor, NAME, "lock", token);
            assertEnded(wait, "redis", "acquired");
        });
        assertThat(recorded(HOLD, session))
                .singleElement()
                .satisfies(hold -> assertThatIs(hold, actor, NAME, "lock", token));
    }

    @Test
    void theWaitForAThreadOfTheSameJvmIsLocal() throws IOException {
        Interlock session = session(b -> b.handoffSlice(Duration.ofHours(1)));
        DistributedReentrantLock lock = lock(session, NAME);
        Actor first = actor("first");
        Actor second = actor("second");
        first.run(lock::lock);
        CompletableFuture<Boolean> entered = second.begin(lock::lock);
        awaitQueued(lock, second);
        pass(LONG);
        first.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        long token = second.get(lock::fencingToken);
        second.run(lock::unlock);
        assertThat(recorded(WAIT, session))
                .filteredOn(wait -> wait.getThread().getJavaName().equals("second"))
                .singleElement()
                .satisfies(wait -> {
                    assertThatIs(wait, second, NAME, "lock", token);
                    assertEnded(wait, "local", "acquired");
                });
    }

    @Test
    void attemptsThatFailAreRecordedWithTheReason() throws IOException {
        Interlock session = session();
        DistributedReentrantLock lock = free(session.fairLock(NAME));
        DistributedReentrantLock other = free(undisturbed().fairLock(NAME));
        Actor late = actor("late");
        Actor interrupted = actor("interrupted");
        Actor failed = actor("failed");
        other.lock();
        assertThat(late.get(() -> lock.tryLock(LONG.toMillis(), TimeUnit.MILLISECONDS)))
                .isFalse();
        CompletableFuture<Boolean> entered = interrupted.begin(lock::lockInterruptibly);
        awaitTickets(NAME, 1);
        pass(LONG);
        interrupted.interrupt();
        assertThat(entered).failsWithin(PATIENCE);
        proxy().stall();
        assertThatThrownBy(() -> failed.run(() -> lock.tryLock(LONG.toMillis(), TimeUnit.MILLISECONDS)))
                .isInstanceOf(RedisUnavailableException.class);
        proxy().heal();
        other.unlock();
        List<RecordedEvent> waits = recorded(WAIT, session);
        assertThat(waits).hasSize(3);
        assertThatIs(waits.get(0), late, NAME, "fair lock", 0);
        assertEnded(waits.get(0), "redis", "timeout");
        assertThatIs(waits.get(1), interrupted, NAME, "fair lock", 0);
        assertEnded(waits.get(1), "redis", "interrupted");
        assertThatIs(waits.get(2), failed, NAME, "fair lock", 0);
        assertEnded(waits.get(2), "redis", "failed");
        assertThat(recorded(HOLD, session)).isEmpty();
    }

    @Test
    void whatIsShortIsNotRecorded() throws IOException {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        int pairs = 300;
        for (int i = 0; i < pairs; i++) {
            lock.lock();
            lock.unlock();
        }
        // Some may take long on a busy machine.
        for (String type : List.of(WAIT, HOLD)) {
            assertThat(recorded(type, session))
                    .hasSizeLessThan(pairs)
                    .allSatisfy(event -> assertThat(event.getDuration()).isGreaterThanOrEqualTo(THRESHOLD));
        }
    }

    @Test
    void withoutAThresholdEveryAcquisitionIsRecorded() throws IOException {
        recording.enable(WAIT).withoutThreshold();
        recording.enable(HOLD).withoutThreshold();
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock adapted =
                free(session.adapt(client(server().url()).getLock("adapted")));
        int pairs = 5;
        for (int i = 0; i < pairs; i++) {
            lock.lock();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
            lock.unlock();
        }
        adapted.lock(1, TimeUnit.HOURS);
        adapted.unlock();
        for (String type : List.of(WAIT, HOLD)) {
            assertThat(recorded(type, session))
                    .filteredOn(event -> event.getString("kind").equals("adapted lock"))
                    .singleElement()
                    .satisfies(event -> assertThat(event.getLong("token")).isZero());
            assertThat(recorded(type, session)).hasSize(pairs + 1);
        }
        assertThat(recorded(WAIT, session).get(0).getString("source")).isEqualTo("redis");
    }

    /** A thread that waits for a condition doesn't hold the lock. */
    @Test
    @SuppressWarnings("WaitNotInLoop") // nobody signals
    void aHoldEndsAtAwait() throws IOException, InterruptedException {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        Condition condition = lock.newCondition();
        Duration timeout = Duration.ofSeconds(2);
        lock.lock();
        long first = lock.fencingToken();
        pass(LONG);
        assertThat(condition.await(timeout.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
        long second = lock.fencingToken();
        pass(LONG);
        lock.unlock();
        List<RecordedEvent> holds = recorded(HOLD, session);
        assertThat(holds).extracting(hold -> hold.getLong("token")).containsExactly(first, second);
        assertThat(Duration.between(holds.get(0).getEndTime(), holds.get(1).getStartTime()))
                .isGreaterThan(timeout.dividedBy(2));
    }

    @Test
    void readersWaitButTheirHoldsAreNotRecorded() throws IOException {
        Interlock session = session();
        DistributedReadWriteLock lock = session.readWriteLock(NAME);
        Actor writer = actor("writer");
        Actor reader = actor("reader");
        writer.run(lock.writeLock()::lock);
        CompletableFuture<Boolean> entered = reader.begin(lock.readLock()::lock);
        await("queued").until(() -> lock.hasQueuedThread(reader.thread()));
        pass(LONG);
        long token = writer.get(lock.writeLock()::fencingToken);
        writer.run(lock.writeLock()::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        pass(LONG);
        reader.run(lock.readLock()::unlock);
        assertThat(recorded(WAIT, session))
                .filteredOn(wait -> wait.getThread().getJavaName().equals("reader"))
                .singleElement()
                .satisfies(wait -> {
                    assertThat(wait.getString("kind")).isEqualTo("read lock");
                    assertThat(wait.getLong("token")).isZero();
                    assertEnded(wait, "local", "acquired");
                });
        assertThat(recorded(HOLD, session)).singleElement().satisfies(hold -> {
            assertThat(hold.getString("kind")).isEqualTo("write lock");
            assertThat(hold.getLong("token")).isEqualTo(token);
        });
    }

    @Test
    void lossesAreRecordedWhetherTheirThreadsHearOfThemOrNot() throws IOException {
        Recorder recorder = new Recorder();
        Interlock session = session(b -> b.listener(recorder));
        DistributedReentrantLock noticed = free(session.lock("noticed", LockOptions.confirmUnlock()));
        DistributedReentrantLock unnoticed = lock(session, "unnoticed");
        noticed.lock();
        unnoticed.lock();
        long noticedToken = noticed.fencingToken();
        long unnoticedToken = unnoticed.fencingToken();
        server().command("DEL", "noticed", "unnoticed");
        assertThatThrownBy(noticed::unlock).isInstanceOf(LeaseLostException.class);
        unnoticed.unlock();
        await("told").until(() -> recorder.count(Recorder.Kind.LOST_UNNOTICED) == 1);
        List<RecordedEvent> losses = recorded("dev.interlock.LeaseLost", session);
        assertThat(losses).filteredOn(is("noticed")).singleElement().satisfies(loss -> {
            assertThat(loss.getBoolean("noticed")).isTrue();
            assertThat(loss.getLong("token")).isEqualTo(noticedToken);
            assertThat(loss.getString("message")).contains("'noticed' was lost: ");
        });
        assertThat(losses).filteredOn(is("unnoticed")).singleElement().satisfies(loss -> {
            assertThat(loss.getBoolean("noticed")).isFalse();
            assertThat(loss.getLong("token")).isEqualTo(unnoticedToken);
        });
    }

    /** The main class of a JVM without the recorder's module. */
    static final class Unrecorded {
        public static void main(String[] args) throws InterruptedException {
            assertThat(ModuleLayer.boot().findModule("jdk.jfr")).isEmpty();
            try (Interlock session = Interlock.connect(args[0])) {
                DistributedReentrantLock lock = session.lock(NAME, LockOptions.confirmUnlock());
                lock.lock();
                ChildConsole.say("LOCKED");
                ChildConsole.readCommand();
                assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
                DistributedReadWriteLock readWriteLock = session.readWriteLock(NAME);
                readWriteLock.readLock().lock();
                readWriteLock.readLock().unlock();
                ChildConsole.say("DONE");
            }
        }
    }

    @Test
    void aJvmWithoutTheModuleOfTheRecorderLocksAllTheSame() {
        try (ChildJvm child = ChildJvm.of(Unrecorded.class)
                .options("--limit-modules=java.se,jdk.unsupported")
                .arguments(server().url())
                .start()) {
            child.await("LOCKED", Duration.ofSeconds(30));
            server().command("DEL", NAME);
            child.send("unlock");
            child.await("DONE", Duration.ofSeconds(30));
        }
        server().command("FLUSHALL");
    }

    @Test
    void anOutageIsRecordedWhenItIsOver() throws IOException {
        Recorder recorder = new Recorder();
        // A renewal times out, and the next one is answered within the lease.
        Interlock session = impatient(b -> b.lease(Duration.ofSeconds(9)).listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        proxy().refuse(true);
        proxy().cut();
        await("it is noticed").until(() -> recorder.count(Recorder.Kind.UNREACHABLE) > 0);
        pass(LONG);
        proxy().refuse(false);
        await("it is over").until(() -> recorder.count(Recorder.Kind.REACHABLE) > 0);
        lock.unlock();
        assertThat(recorded("dev.interlock.RedisOutage", session))
                .singleElement()
                .satisfies(outage -> {
                    assertThat(outage.getString("server")).isEqualTo("Redis");
                    assertThat(outage.getString("cause")).isNotEmpty();
                    assertThat(outage.getDuration()).isGreaterThanOrEqualTo(LONG);
                    assertThat(outage.getDuration("silence").toNanos())
                            .isEqualTo(
                                    recorder.of(Recorder.Kind.REACHABLE).get(0).nanos());
                });
    }
}
