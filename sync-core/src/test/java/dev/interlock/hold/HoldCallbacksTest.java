package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What users run when a hold is granted, released or lost may throw and block, and so may their executor. */
@DisplayName("a hold whose callbacks or executor misbehave")
class HoldCallbacksTest extends HoldFaultsFixture {
    private static final String OTHER = "other";
    private static final String USERS = "users";

    /** So short that it has to be renewed within a test. */
    private static final Duration SHORT_LEASE = Duration.ofMillis(1_500);

    private final ExecutorService executor = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, USERS);
        thread.setDaemon(true);
        return thread;
    });
    private Recorder recorder = new Recorder();
    private CountDownLatch blocked = new CountDownLatch(1);

    @BeforeEach
    void beginAnew() {
        recorder = new Recorder();
        blocked = new CountDownLatch(1);
    }

    @AfterEach
    void unblock() {
        blocked.countDown();
    }

    @Override
    protected String lasting() {
        return super.lasting() + "|semaphore";
    }

    @Override
    protected void shutDown() {
        executor.shutdown();
        super.shutDown();
    }

    private Holds holds() {
        return session(builder -> builder.lease(SHORT_LEASE).listener(recorder)).holds();
    }

    private void block() {
        // Longer than all that happens meanwhile.
        var unused = Uninterruptibles.awaitUninterruptibly(blocked, 10 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** It is held for several leases, and others come and go. */
    private void assertGoesOn(Holds holds, Hold held) {
        await("it is renewed").during(SHORT_LEASE.multipliedBy(2)).until(() -> {
            holds.hold(OTHER).close();
            held.assertValid();
            return true;
        });
        assertThat(undisturbed().holds().tryAcquire(held.name()))
                .succeedsWithin(PATIENCE)
                .matches(asked -> asked.isEmpty());
    }

    @Test
    @DisplayName("throws when it is granted: nothing else is concerned")
    void callbackThrows() {
        Holds holds = holds();
        Hold held = acquired(holds.acquire(NAME));
        CompletableFuture<Hold> asked = holds.acquire("thrown");
        CompletableFuture<Void> thrown = asked.thenAccept(granted -> {
            throw new IllegalArgumentException("a user's");
        });
        assertFails(thrown, IllegalArgumentException.class, "a user's");
        assertGoesOn(holds, held);
        released(asked.join());
        released(held);
    }

    @Test
    @DisplayName("block when they are granted: others are renewed, acquired and released")
    void callbacksBlock() {
        Holds holds = holds();
        Hold held = acquired(holds.acquire(NAME));
        List<CompletableFuture<Void>> blocking = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            blocking.add(holds.acquire("blocking" + i).thenAccept(granted -> {
                block();
                granted.close();
            }));
        }
        released(acquired(holds.acquire(OTHER)));
        assertGoesOn(holds, held);
        assertThat(blocking).noneMatch(CompletableFuture::isDone);
        blocked.countDown();
        blocking.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
        released(held);
    }

    @Test
    @DisplayName("block when it is lost: others are renewed, acquired and released")
    void callbackOfALossBlocks() throws InterruptedException {
        Holds holds = holds();
        Hold held = acquired(holds.acquire(NAME));
        for (Hold lost :
                List.of(acquired(holds.acquire("a")), holds.hold("b"), acquired(holds.acquireAll(List.of("c", "d"))))) {
            lost.lost().thenRun(this::block);
            lost.names().forEach(name -> server().command("DEL", name));
            await("lost").until(() -> !lost.isValid());
        }
        assertGoesOn(holds, held);
        released(held);
    }

    @Test
    @DisplayName("runs them on its executor, in whichever way it was acquired")
    void callbacksRunOnTheExecutor() throws InterruptedException {
        Holds holds = session(builder -> builder.lease(SHORT_LEASE).holdExecutor(executor))
                .holds();
        List<Hold> all = List.of(
                acquired(holds.acquire("a")),
                holds.hold("b"),
                holds.tryHold("c", PATIENCE).orElseThrow(),
                acquired(holds.acquireAll(List.of("d", "e"))),
                holds.holdAll(List.of("f", "g")));
        List<CompletableFuture<String>> by = new ArrayList<>();
        for (Hold hold : all) {
            by.add(hold.lost().thenApply(loss -> threadName()).toCompletableFuture());
        }
        all.forEach(hold -> hold.names().forEach(name -> server().command("DEL", name)));
        by.forEach(each -> assertThat(each).succeedsWithin(PATIENCE).isEqualTo(USERS));
    }

    private static String threadName() {
        return Thread.currentThread().getName();
    }

    @Test
    @DisplayName("sees nothing thrown when requests are cancelled at any moment")
    void executorSeesNothingThrown() {
        Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        Holds holds = session(builder -> builder.adaptiveRetention(false).holdExecutor(task -> {
                    try {
                        task.run();
                    } catch (RuntimeException | Error e) {
                        thrown.add(e);
                    }
                }))
                .holds();
        for (int i = 0; i < 1_000; i++) {
            long begun = System.nanoTime();
            CompletableFuture<Hold> both = holds.acquireAll(List.of(NAME, OTHER));
            while (System.nanoTime() - begun < i * 2_000L) {
                Thread.onSpinWait();
            }
            if (!both.cancel(false)) {
                released(both.join());
            }
        }
        assertThat(thrown).isEmpty();
        assertAvailable(NAME);
        assertAvailable(OTHER);
    }

    @Test
    @DisplayName("rejects them: they run all the same")
    void executorRejects() throws InterruptedException {
        Holds holds = session(builder -> builder.holdExecutor(task -> {
                    throw new RejectedExecutionException("a user's");
                }))
                .holds();
        released(acquired(holds.acquire(NAME)));
        released(acquired(holds.acquireAll(List.of(NAME, OTHER))));
        released(holds.hold(NAME));
        Hold lost = acquired(holds.lease(Duration.ofMillis(200)).acquire(NAME));
        assertThat(lost.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        Hold held = acquired(holds.acquire(NAME));
        CompletableFuture<Hold> cancelled = holds.acquire(NAME);
        cancelled.cancel(false);
        released(held);
        assertAvailable(NAME);
    }

    @Test
    @DisplayName("is busy: blocking calls, other sessions and renewals go on, and what is cancelled isn't held")
    void executorIsBusy() throws InterruptedException {
        Interlock session =
                session(builder -> builder.lease(SHORT_LEASE).listener(recorder).holdExecutor(executor));
        Holds holds = session.holds();
        DistributedSemaphore semaphore = session.semaphore(NAME, 1);
        Hold held = acquired(holds.acquire(NAME));
        CompletableFuture<?> busy = CompletableFuture.runAsync(this::block, executor);
        CompletableFuture<Hold> unheard = holds.acquire("unheard");
        CompletableFuture<Hold> several = holds.acquireAll(List.of("several", "unheard2"));
        await("granted")
                .until(() -> !holder("unheard").isEmpty() && !holder("unheard2").isEmpty());
        assertGoesOn(holds, held);
        CompletableFuture<Hold> permit = holds.acquirePermits(semaphore, 1);
        await("granted").until(() -> semaphore.availablePermits() == 0);
        for (CompletableFuture<?> each : List.of(unheard, several, permit)) {
            assertThat(each).isNotDone();
            each.cancel(false);
        }
        await("given back").until(() -> semaphore.availablePermits() == 1);
        assertAvailable("unheard");
        assertAvailable("unheard2");
        assertThat(busy).isNotDone();
        blocked.countDown();
        released(held);
    }

    @Test
    @DisplayName("and more than there are threads block: blocking calls and renewals go on")
    void manyCallbacksBlock() {
        Holds holds = holds();
        Hold held = acquired(holds.acquire(NAME));
        List<CompletableFuture<Void>> blocking = IntStream.range(0, 40)
                .mapToObj(i -> holds.acquire("blocking" + i).thenAccept(granted -> {
                    block();
                    granted.close();
                }))
                .toList();
        assertGoesOn(holds, held);
        blocked.countDown();
        blocking.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
        released(held);
    }
}
