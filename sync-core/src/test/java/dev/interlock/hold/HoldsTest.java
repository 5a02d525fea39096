package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.TestThreads.Running;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What holds of one name promise: to each other, to the drop-in lock and to {@code RLock}. */
@DisplayName("a hold")
class HoldsTest extends HoldFixture {

    private RedissonClient client;
    private String name;

    @BeforeAll
    void connect() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url());
        client = Redisson.create(config);
    }

    @AfterAll
    void shutDown() {
        client.shutdown();
    }

    @BeforeEach
    void begin() {
        name = freshName();
    }

    @Test
    @DisplayName("excludes others in its own session and in others, which get it when it is released")
    void excludesOthers() {
        Hold first = acquired(mine.holds().acquire(name));
        assertThat(first.name()).isEqualTo(name);
        assertThat(first.names()).containsExactly(name);
        assertThat(first.isValid()).isTrue();
        CompletableFuture<Hold> second = mine.holds().acquire(name);
        CompletableFuture<Hold> third = other.holds().acquire(name);
        assertWaits(second);
        assertWaits(third);
        released(first);
        // Whose turn it is next is a question of time.
        CompletableFuture<Object> next = CompletableFuture.anyOf(second, third);
        assertThat(next).succeedsWithin(PATIENCE);
        CompletableFuture<Hold> last = second.isDone() ? third : second;
        assertWaits(last);
        released((Hold) next.join());
        released(acquired(last));
        assertThat(first.isValid()).isFalse();
    }

    @Test
    @DisplayName("and the drop-in lock of its name exclude each other, in the same session as in others")
    void excludesTheDropIn() {
        for (Interlock session : List.of(mine, other)) {
            DistributedReentrantLock lock = session.lock(name);
            Hold hold = acquired(mine.holds().acquire(name));
            assertThat(lock.tryLock()).isFalse();
            Running<Boolean> locking = threads.start("locking", () -> {
                lock.lock();
                lock.unlock();
            });
            assertThat(locking.endsWithin(SHORT)).isFalse();
            released(hold);
            assertThat(locking.result()).isTrue();
            lock.lock();
            CompletableFuture<Hold> asked = mine.holds().acquire(name);
            assertWaits(asked);
            lock.unlock();
            released(acquired(asked));
        }
    }

    @Test
    @DisplayName("and an RLock of its name exclude each other")
    void excludesRedissonsLock() {
        RLock plain = client.getLock(name);
        Hold hold = acquired(mine.holds().acquire(name));
        assertThat(plain.tryLock()).isFalse();
        released(hold);
        plain.lock();
        CompletableFuture<Hold> asked = mine.holds().acquire(name);
        assertWaits(asked);
        plain.unlock();
        released(acquired(asked));
    }

    @Test
    @DisplayName("is granted in the order in which its session was asked")
    void isGrantedInOrder() {
        Hold first = acquired(mine.holds().acquire(name));
        List<Integer> order = new ArrayList<>();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            all.add(mine.holds().acquire(name).thenCompose(hold -> {
                order.add(number);
                return hold.release();
            }));
        }
        released(first);
        all.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
        assertThat(order).hasSize(100).isSorted();
    }

    @Test
    @DisplayName("has a token greater than all before, of the drop-in lock as well")
    void tokensIncrease() {
        long last = 0;
        for (int i = 0; i < 5; i++) {
            Hold hold = acquired(mine.holds().acquire(name));
            assertThat(hold.fencingToken()).isGreaterThan(last);
            assertThat(hold.fencingToken(name)).isEqualTo(hold.fencingToken());
            last = hold.fencingToken();
            released(hold);
            assertThatThrownBy(hold::fencingToken)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("released");
            DistributedReentrantLock lock = other.lock(name);
            lock.lock();
            assertThat(lock.fencingToken()).isGreaterThan(last);
            last = lock.fencingToken();
            lock.unlock();
        }
    }

    @Test
    @DisplayName("costs no round trip if its name is taken again and again")
    void isKept() {
        for (int i = 0; i < 200; i++) {
            released(acquired(mine.holds().acquire(name)));
        }
        long before = redis.commandCalls("evalsha");
        for (int i = 0; i < 2_000; i++) {
            released(acquired(mine.holds().acquire(name)));
        }
        assertThat(redis.commandCalls("evalsha") - before).isLessThan(500);
    }

    @Test
    @DisplayName("may be released by any thread, and only once")
    void isReleasedByAnyThread() {
        Hold hold = acquired(mine.holds().acquire(name));
        threads.start("other thread", () -> released(hold)).result();
        Hold next = acquired(other.holds().acquire(name));
        released(hold);
        hold.close();
        next.assertValid();
        assertThat(client.getLock(name).isLocked()).isTrue();
        released(next);
    }

    @Test
    @DisplayName("that is asked for once is refused if it isn't free, and granted if it is")
    void isAskedForOnce() {
        Hold hold = acquired(mine.holds().acquire(name));
        for (Interlock session : List.of(mine, other)) {
            assertThat(session.holds().tryAcquire(name))
                    .succeedsWithin(PATIENCE)
                    .isEqualTo(Optional.empty());
        }
        released(hold);
        for (Interlock session : List.of(mine, other)) {
            CompletableFuture<Optional<Hold>> asked = session.holds().tryAcquire(name);
            assertThat(asked).succeedsWithin(PATIENCE).matches(Optional::isPresent);
            released(asked.join().orElseThrow());
        }
    }

    @Test
    @DisplayName("that isn't free within the wait isn't granted later")
    void waitsForSoLong() {
        Hold hold = acquired(mine.holds().acquire(name));
        for (Interlock session : List.of(mine, other)) {
            assertThat(session.holds().tryAcquire(name, Duration.ofMillis(50)))
                    .succeedsWithin(PATIENCE)
                    .isEqualTo(Optional.empty());
        }
        CompletableFuture<Optional<Hold>> patient = other.holds().tryAcquire(name, PATIENCE);
        assertWaits(patient);
        released(hold);
        assertThat(patient).succeedsWithin(PATIENCE).matches(Optional::isPresent);
        released(patient.join().orElseThrow());
    }

    @Test
    @DisplayName("that nobody wants any more is withdrawn, and leaves nothing")
    void isCancelled() {
        Hold hold = acquired(mine.holds().acquire(name));
        List<CompletableFuture<Hold>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add((i % 2 == 0 ? mine : other).holds().acquire(name));
        }
        for (int i = 0; i < 98; i++) {
            all.get(i).cancel(false);
            assertThat(all.get(i)).isCancelled();
        }
        released(hold);
        released(acquired(all.get(98)));
        released(acquired(all.get(99)));
    }

    @Test
    @DisplayName("that is granted as its request is cancelled is given back")
    void isCancelledAtTheWorstMoment() {
        for (int i = 0; i < 500; i++) {
            CompletableFuture<Hold> asked = (i % 2 == 0 ? mine : other).holds().acquire(name);
            if (i % 3 == 0) {
                Thread.onSpinWait();
            }
            asked.cancel(false);
            asked.thenAccept(Hold::close);
        }
        released(acquired(mine.holds().acquire(name)));
    }

    @Test
    @DisplayName("ends with its fixed lease, and tells so")
    void fixedLeaseEnds() {
        Hold hold = acquired(mine.holds().lease(Duration.ofMillis(300)).acquire(name));
        CompletableFuture<LeaseLostException> lost = hold.lost().toCompletableFuture();
        Hold next = acquired(other.holds().acquire(name));
        assertThat(lost)
                .succeedsWithin(PATIENCE)
                .extracting(LeaseLostException::lockName)
                .isEqualTo(name);
        assertThat(hold.isValid()).isFalse();
        assertThatThrownBy(hold::assertValid).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(hold::close).isInstanceOf(LeaseLostException.class);
        released(next);
    }

    @Test
    @DisplayName("that is lost is told so, and keeps nobody out")
    void isLost() {
        Hold hold = acquired(mine.holds().acquire(name));
        CompletableFuture<Hold> next = mine.holds().acquire(name);
        redis.command("DEL", name);
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertThatThrownBy(() -> hold.release().toCompletableFuture().get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LeaseLostException.class);
        released(acquired(next));
    }

    @Test
    @DisplayName("that a thread waits for comes to it, and belongs to it no more than to others")
    void isWaitedFor() throws InterruptedException {
        Hold hold = mine.holds().hold(name);
        Running<Boolean> waiting =
                threads.start("waiting", () -> mine.holds().hold(name).close());
        assertThat(waiting.endsWithin(SHORT)).isFalse();
        assertThat(other.holds().tryHold(name, Duration.ofMillis(20))).isEmpty();
        hold.close();
        assertThat(waiting.result()).isTrue();
    }

    @Test
    @DisplayName("isn't granted to a thread that was interrupted")
    void isInterrupted() {
        Hold hold = acquired(mine.holds().acquire(name));
        Running<Boolean> waiting = threads.start("waiting", () -> {
            assertThatThrownBy(() -> mine.holds().hold(name)).isInstanceOf(InterruptedException.class);
        });
        assertThat(waiting.endsWithin(SHORT)).isFalse();
        waiting.thread().interrupt();
        waiting.result();
        released(hold);
        released(acquired(other.holds().acquire(name)));
    }

    @Test
    @DisplayName("is refused to a thread that would wait for its own lock")
    void isRefusedToTheOwnerOfTheLock() {
        DistributedReentrantLock lock = mine.lock(name);
        lock.lock();
        assertThatThrownBy(() -> mine.holds().hold(name))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(name);
        assertThatThrownBy(() -> mine.holds().holdAll(List.of("a", name))).isInstanceOf(IllegalStateException.class);
        lock.unlock();
    }

    @Test
    @DisplayName("is shown to operators with the text of its holder")
    void isShown() {
        Hold hold = acquired(mine.holds().as("import job 7").acquire(name));
        CompletableFuture<Hold> next = other.holds().as("import job 8").acquire(name);
        await("shown")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(mine.operator().inspect(name).toString())
                        .contains("import job 7")
                        .contains("import job 8"));
        released(hold);
        released(acquired(next));
    }

    @Test
    @DisplayName("ends with its session, and so does the wait for one")
    void endsWithItsSession() {
        Interlock closing = Interlock.connect(redis.url());
        Hold hold = acquired(closing.holds().acquire(name));
        CompletableFuture<Hold> waiting = closing.holds().acquire(name);
        closing.close();
        assertThat(waiting).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(IllegalStateException.class);
        assertThat(hold.isValid()).isFalse();
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertThatThrownBy(() -> closing.holds()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(hold::close).isInstanceOf(LeaseLostException.class);
        released(acquired(other.holds().acquire(name)));
    }

    @Test
    @DisplayName("that a future was cancelled for is over before others are asked")
    void cancellationIsAnException() {
        Hold hold = acquired(mine.holds().acquire(name));
        CompletableFuture<Hold> asked = mine.holds().acquire(name);
        asked.cancel(true);
        assertThatThrownBy(asked::join).isInstanceOf(CancellationException.class);
        released(hold);
    }

    private static SyncListener telling(List<String> told) {
        return new SyncListener() {
            @Override
            public void waiting(String of, String kind) {
                told.add("waits for " + kind);
            }

            @Override
            public void waited(String of, String kind, Outcome outcome, boolean local, long nanos) {
                told.add((local ? "locally " : "for Redis ") + outcome);
            }

            @Override
            public void acquired(String of, long waitedNanos, boolean local) {
                told.add("acquired");
            }

            @Override
            public void held(String of, long holds, long heldNanos) {
                told.add("held " + holds);
            }

            @Override
            public void lost(LeaseLostException loss) {
                told.add("lost " + loss.lockName());
            }
        };
    }

    @Test
    @DisplayName("is told to listeners as a lock is")
    void isTold() {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        SyncListener listener = telling(told);
        mine.addListener(listener);
        try {
            Hold hold = acquired(mine.holds().acquire(name));
            CompletableFuture<Hold> next = mine.holds().acquire(name);
            CompletableFuture<Hold> cancelled = mine.holds().acquire(name);
            cancelled.cancel(false);
            released(hold);
            released(acquired(next));
            assertThat(mine.holds()
                            .tryAcquire(name)
                            .join()
                            .orElseThrow()
                            .release()
                            .toCompletableFuture())
                    .succeedsWithin(PATIENCE);
            Hold lost = acquired(mine.holds().acquire(name));
            redis.command("DEL", name);
            assertThat(lost.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
            await("told")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(told)
                            .contains("waits for hold", "for Redis ACQUIRED", "acquired")
                            .contains("locally FAILED", "locally ACQUIRED", "held 1", "lost " + name));
            assertThat(told).filteredOn(what -> what.startsWith("waits")).hasSize((int) told.stream()
                    .filter(what -> what.contains("Redis") || what.contains("local"))
                    .count());
        } finally {
            mine.removeListener(listener);
        }
    }

    @Test
    @DisplayName("is in flight recordings as a lock is")
    void isRecorded(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("dev.interlock.LockWait").withThreshold(Duration.ZERO);
            recording.enable("dev.interlock.LockHold").withThreshold(Duration.ZERO);
            recording.start();
            released(acquired(mine.holds().acquire(name)));
            recording.stop();
            recording.dump(file);
        }
        assertThat(RecordingFile.readAllEvents(file))
                .filteredOn(event -> event.getEventType().getName().startsWith("dev.interlock.Lock")
                        && event.getString("name").equals(name))
                .extracting(event -> event.getEventType().getName() + " " + event.getString("kind"))
                .containsExactlyInAnyOrder("dev.interlock.LockWait hold", "dev.interlock.LockHold hold");
    }
}
