package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.SessionId;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** What close() means to the threads that hold a lock, queue behind it, or come just then. */
class LockCloseTest extends FaultFixture {
    private static final String NAME = "stock";

    /** A session over a client of its own, as connect() opens it. */
    private Interlock connected(UnaryOperator<InterlockBuilder> settings) {
        return closing(settings.apply(Interlock.builder()).uri(proxy().url()).open());
    }

    private static void awaitThreadsEnd(Interlock session) {
        String id = SessionId.brief(session.id());
        await("threads of " + id)
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().endsWith(id)));
    }

    private static void assertUnlockTellsTheLoss(DistributedReentrantLock lock, Actor holder) {
        assertThat(holder.get(lock::isHeldByCurrentThread)).isTrue();
        assertThatThrownBy(() -> holder.run(lock::assertHeld)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LeaseLostException.class);
        assertThat(holder.get(lock::isHeldByCurrentThread)).isFalse();
    }

    /** A thread would take for its own what another session has. */
    @Test
    void whatIsHeldIsLostBeforeItIsGivenBack() {
        Thread closer = Thread.currentThread();
        Actor holder = actor("holder");
        AtomicReference<@Nullable DistributedReentrantLock> held = new AtomicReference<>();
        List<Boolean> lost = new ArrayList<>();
        Interlock session = session(builder -> builder.ticker(() -> {
            DistributedReentrantLock lock = held.get();
            if (lock != null && Thread.currentThread() == closer && isReleasing()) {
                lost.add(holder.get(() -> isLost(lock)));
            }
            return Monotonic.nanos();
        }));
        DistributedReentrantLock lock = lock(session, NAME);
        holder.run(lock::lock);
        held.set(lock);
        session.close();
        held.set(null);
        assertThat(lost).as("lost when its release begins").isNotEmpty().containsOnly(true);
        assertUnlockTellsTheLoss(lock, holder);
    }

    private static boolean isReleasing() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getClassName().endsWith(".ReliableRelease")));
    }

    private static boolean isLost(DistributedReentrantLock lock) {
        try {
            lock.assertHeld();
            return false;
        } catch (LeaseLostException e) {
            return true;
        }
    }

    @Test
    void whoIsQueuedLocallyIsSentAwayWhenTheHolderLeaves() {
        Interlock session = connected(builder -> builder);
        DistributedReentrantLock lock = lock(session, NAME);
        Actor holder = actor("holder");
        Actor queued = actor("queued");
        holder.run(lock::lock);
        CompletableFuture<Boolean> wait = queued.begin(lock::lock);
        awaitQueued(lock, queued);
        session.close();
        assertThat(holder(NAME)).isEmpty();
        assertUnlockTellsTheLoss(lock, holder);
        assertThat(wait)
                .failsWithin(PROMPTLY)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IllegalStateException.class);
        assertThat(lock.isLocked()).isFalse();
    }

    /** Two sessions may share one client: closing one is nothing to the other. */
    @Test
    void sessionsOverOneClientDontShareTheirEnd() {
        RedissonClient client = client(proxy().url());
        Interlock first = over(client, builder -> builder);
        Interlock second = over(client, builder -> builder);
        DistributedReentrantLock closing = lock(first, NAME);
        DistributedReentrantLock staying = lock(second, NAME);
        DistributedReentrantLock held = lock(second, "held");
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        held.lock();
        holder.run(closing::lock);
        CompletableFuture<Boolean> entered = queue(waiter, staying);
        first.close();
        assertThat(entered).succeedsWithin(PROMPTLY);
        assertUnlockTellsTheLoss(closing, holder);
        // Messages still come: the mailbox of the one isn't that of the other.
        DistributedReentrantLock third = lock(session(), NAME);
        CompletableFuture<Boolean> next = queue(holder, third);
        waiter.run(staying::unlock);
        assertThat(next).succeedsWithin(PROMPTLY);
        holder.run(third::unlock);
        held.assertHeld();
        held.unlock();
        awaitThreadsEnd(first);
        assertThat(client.isShutdown()).isFalse();
    }

    /** The client is shut down first, as a container may do: close() still ends everything of its own. */
    @Test
    void aClientThatIsGoneDoesNotKeepASessionFromClosing() {
        RedissonClient client = client(proxy().url());
        Interlock session = over(client, builder -> builder);
        DistributedReentrantLock held = lock(session, NAME);
        DistributedReentrantLock lock = lock(session, "other");
        Actor holder = actor("holder");
        holder.run(held::lock);
        client.shutdown(0, 2, TimeUnit.SECONDS);
        assertThatThrownBy(() -> holder.run(lock::lock)).isInstanceOf(IllegalStateException.class);
        assertThat(lock.isLocked()).isFalse();
        assertThatCode(session::close).doesNotThrowAnyException();
        awaitThreadsEnd(session);
        assertUnlockTellsTheLoss(held, holder);
        server().command("DEL", NAME); // as its lease would
    }

    /** Many threads lock and unlock while the session is closed under them: each ends, and nothing is left. */
    @Test
    void closingUnderLoadLeavesNothing() {
        long seed = 20_260_101;
        Random random = new Random(seed);
        RedissonClient client = client(proxy().url());
        long end = System.nanoTime() + Duration.ofSeconds(15).toNanos();
        List<Actor> actors = List.of(actor("a"), actor("b"), actor("c"), actor("d"));
        Interlock rival = session();
        DistributedReentrantLock rivals = lock(rival, "name-0");
        Actor rivalActor = actor("rival");
        AtomicBoolean stop = new AtomicBoolean();
        CompletableFuture<Boolean> rivalry = rivalActor.begin(() -> {
            while (!stop.get()) {
                rivals.lock();
                rivals.unlock();
            }
        });
        for (int round = 0; round < 40 && System.nanoTime() - end < 0; round++) {
            Interlock session = over(client, builder -> builder);
            List<CompletableFuture<Boolean>> work = new ArrayList<>();
            for (int i = 0; i < actors.size(); i++) {
                DistributedReentrantLock lock = lock(session, "name-" + i / 2);
                work.add(actors.get(i).begin(() -> useUntilClosed(lock)));
            }
            LockSupport.parkNanos(random.nextInt(20_000_000));
            session.close();
            for (CompletableFuture<Boolean> each : work) {
                assertThat(each).as("seed %d, round %d", seed, round).succeedsWithin(PATIENCE);
            }
            String about = "free, seed " + seed + ", round " + round;
            awaitPromptly(about).until(() -> holder("name-1").isEmpty() && tickets("name-1") == 0);
            awaitPromptly(about).until(() -> !holder("name-0").contains(session.id()) && tickets("name-0") <= 1);
        }
        stop.set(true);
        assertThat(rivalry).succeedsWithin(PATIENCE);
    }

    private static void useUntilClosed(DistributedReentrantLock lock) {
        while (true) {
            try {
                lock.lock();
            } catch (IllegalStateException e) {
                assertThat(lock.isHeldByCurrentThread()).isFalse();
                return;
            }
            try {
                lock.unlock();
            } catch (LeaseLostException e) {
                assertThat(lock.isHeldByCurrentThread()).isFalse();
            }
        }
    }

    /** A reader's release isn't waited for, and has two round trips ahead, as Redis is told the script. */
    @Test
    void aShareThatIsLeftJustBeforeCloseIsNotLeftBehind() {
        Interlock session = closing(Interlock.builder()
                .uri(proxy().url())
                .handoffSlice(Duration.ZERO)
                .open());
        DistributedReadWriteLock lock = session.readWriteLock("stock");
        lock.readLock().lock();
        server().command("SCRIPT", "FLUSH");
        proxy().delay(Duration.ofMillis(50));
        lock.readLock().unlock();
        session.close();
        assertThat(holder("interlock:{stock}:rw")).isEmpty();
        proxy().heal();
        loadScripts();
    }
}
