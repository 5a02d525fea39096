package dev.interlock.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.reflect.Reflection;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the local half of a lock does when the remote half is lost, and that waiting in slices costs nobody his place.
 */
class HalvesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Longer than two slices. */
    private static final long LONG_MILLIS = 2_500;

    private final LeaseLostException loss = new LeaseLostException("stock", 7, "its lease is over");

    private final List<Actor> actors = new ArrayList<>();

    private static Halves<LocalLock> halves(boolean fair) {
        return new Halves<>(new SpareLock(fair), fair, () -> new SpareLock(fair), System::nanoTime);
    }

    private static ReadWriteHalves halvesToShare(boolean fair) {
        return new ReadWriteHalves(
                new SpareReadWriteLock(fair), fair, () -> new SpareReadWriteLock(fair), System::nanoTime);
    }

    private Actor actor(String name) {
        Actor actor = new Actor(name);
        actors.add(actor);
        return actor;
    }

    @AfterEach
    void endThreads() {
        actors.forEach(Actor::close);
    }

    private static void awaitQueued(LocalLock half, Actor actor) {
        await("queued").atMost(PATIENCE).until(() -> half.isQueued(actor.thread()));
    }

    /** Each waits for longer than a slice, so each has queued again, behind those that came later. */
    @Test
    void waitersOfAFairLockKeepTheirOrderOverSlices() {
        Halves<LocalLock> half = halves(true);
        List<Integer> entered = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Boolean>> entries = new ArrayList<>();
        half.lock();
        for (int i = 0; i < 6; i++) {
            int place = i;
            Actor waiter = actor("waiter " + i);
            entries.add(waiter.begin(() -> {
                half.lock();
                entered.add(place);
                half.unlock();
            }));
            awaitQueued(half, waiter);
        }
        Actor timer = actor("timer");
        assertThat(timer.<Boolean>get(() -> half.tryLock(TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS))))
                .isFalse();
        half.unlock();
        entries.forEach(entry -> assertThat(entry).succeedsWithin(PATIENCE));
        assertThat(entered).containsExactly(0, 1, 2, 3, 4, 5);
    }

    /** Those that came after it would pass each time that it queues again. */
    @Test
    void aWriterIsNotPassedByReadersForLongerThanASlice() {
        ReadWriteHalves half = halvesToShare(false);
        Actor first = actor("first");
        Actor writer = actor("writer");
        Actor timer = actor("timer");
        Actor later = actor("later");
        first.run(half.readLock()::lock);
        CompletableFuture<Boolean> written = writer.begin(half::lock);
        awaitQueued(half, writer);
        assertThat(timer.<Boolean>get(() -> half.tryLock(TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS))))
                .isFalse();
        CompletableFuture<Boolean> read = later.begin(half.readLock()::lock);
        awaitQueued(half, later);
        assertThat(timer.<Boolean>get(() -> half.tryLock(TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS))))
                .isFalse();
        // It may have a share for a moment, which it gives back.
        assertThat(read).isNotDone();
        first.run(half.readLock()::unlock);
        assertThat(written).succeedsWithin(PATIENCE);
        assertThat(read).isNotDone();
        writer.run(half::unlock);
        assertThat(read).succeedsWithin(PATIENCE);
        later.run(half.readLock()::unlock);
    }

    /** None of them keeps the others out that has a share, and is slow to enter. */
    @Test
    void readersOfAFairLockEnterTogether() throws InterruptedException {
        Actor writer = actor("writer");
        Actor slow = actor("slow");
        Actor reader = actor("reader");
        Actor later = actor("later");
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch enters = new CountDownLatch(1);
        ReadWriteHalves half = new ReadWriteHalves(
                slowAfterTaking(slow.thread(), taken, enters),
                true,
                () -> new SpareReadWriteLock(true),
                System::nanoTime);
        writer.run(half::lock);
        CompletableFuture<Boolean> first = slow.begin(half.readLock()::lock);
        awaitQueued(half, slow);
        CompletableFuture<Boolean> second = reader.begin(half.readLock()::lock);
        awaitQueued(half, reader);
        CompletableFuture<Boolean> written = later.begin(half::lock);
        awaitQueued(half, later);
        writer.run(half::unlock);
        assertThat(taken.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(second).succeedsWithin(PATIENCE);
        enters.countDown();
        assertThat(first).succeedsWithin(PATIENCE);
        assertThat(written).isNotDone();
        slow.run(half.readLock()::unlock);
        reader.run(half.readLock()::unlock);
        assertThat(written).succeedsWithin(PATIENCE);
    }

    /** A half of which that thread, when it has waited for a share, doesn't know yet that it has it. */
    private static LocalReadWriteLock slowAfterTaking(Thread slow, CountDownLatch taken, CountDownLatch enters) {
        SpareReadWriteLock half = new SpareReadWriteLock(true);
        Lock shares = Reflection.newProxy(Lock.class, (proxy, method, arguments) -> {
            Object result = method.invoke(half.readLock(), arguments);
            if (Thread.currentThread() == slow && Boolean.TRUE.equals(result)) {
                taken.countDown();
                enters.await();
            }
            return result;
        });
        return Reflection.newProxy(
                LocalReadWriteLock.class,
                (proxy, method, arguments) ->
                        method.getName().equals("readLock") ? shares : method.invoke(half, arguments));
    }

    /** A writer whose slice has ended is in no queue for a moment, in which a reader passed it that had come later. */
    @Test
    void aWriterIsNotPassedByAReaderBetweenTwoSlices() throws InterruptedException {
        Actor first = actor("first");
        Actor writer = actor("writer");
        Actor later = actor("later");
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        CountDownLatch gaveBack = new CountDownLatch(1);
        AtomicLong nanos = new AtomicLong();
        ReadWriteHalves half = new ReadWriteHalves(
                slowBetweenSlices(writer.thread(), ended, goesOn, later.thread(), gaveBack),
                false,
                () -> new SpareReadWriteLock(false),
                nanos::get);
        first.run(half.readLock()::lock);
        CompletableFuture<Boolean> written = writer.begin(half::lock);
        awaitQueued(half, writer);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        CompletableFuture<Boolean> read = later.begin(half.readLock()::lock);
        assertThat(ended.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(gaveBack.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(read).isNotDone();
        goesOn.countDown();
        first.run(half.readLock()::unlock);
        assertThat(written).succeedsWithin(PATIENCE);
        assertThat(read).isNotDone();
        writer.run(half::unlock);
        assertThat(read).succeedsWithin(PATIENCE);
        later.run(half.readLock()::unlock);
    }

    /** A half that lets a writer wait again as late as is said, and that tells when a reader has given it back. */
    private static LocalReadWriteLock slowBetweenSlices(
            Thread writer, CountDownLatch ended, CountDownLatch goesOn, Thread reader, CountDownLatch gaveBack) {
        SpareReadWriteLock half = new SpareReadWriteLock(false);
        Lock shares = Reflection.newProxy(Lock.class, (proxy, method, arguments) -> {
            Object result = method.invoke(half.readLock(), arguments);
            if (Thread.currentThread() == reader && method.getName().equals("unlock")) {
                gaveBack.countDown();
            }
            return result;
        });
        return Reflection.newProxy(LocalReadWriteLock.class, (proxy, method, arguments) -> {
            if (method.getName().equals("readLock")) {
                return shares;
            }
            boolean waits = method.getName().equals("tryLock") && arguments != null && !arguments[0].equals(0L);
            Object result = method.invoke(half, arguments);
            if (waits && Thread.currentThread() == writer && result.equals(false)) {
                ended.countDown();
                goesOn.await();
            }
            return result;
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aThreadThatWaitsAlreadyTakesTheHalfThatIsCurrentNow(boolean fair) {
        Halves<LocalLock> half = halves(fair);
        Actor loser = actor("loser");
        Actor waiter = actor("waiter");
        Actor third = actor("third");
        loser.run(half::lock);
        loser.run(half::lock);
        CompletableFuture<Boolean> entered = waiter.begin(half::lock);
        awaitQueued(half, waiter);

        half.retire(loss, () -> true);

        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(loser.get(half::loss)).isSameAs(loss);
        assertThat(loser.get(half::holds)).isEqualTo(2);
        assertThat(waiter.get(() -> half.loss() == null && half.holds() == 1)).isTrue();
        assertThat(third.<Boolean>get(half::tryLock)).isFalse();
        loser.run(half::unlock);
        loser.run(half::unlock);
        assertThat(loser.<Boolean>get(half::isMine)).isFalse();
        assertThat(third.<Boolean>get(half::tryLock)).isFalse();
        waiter.run(half::unlock);
        assertThat(third.<Boolean>get(half::tryLock)).isTrue();
        third.run(half::unlock);
    }

    @Test
    void whatIsRetiredWhileAnotherOneIsHeldComesBackWhenBothAreFree() {
        SpareLock home = new SpareLock(false);
        Halves<LocalLock> half = new Halves<>(home, false, () -> new SpareLock(false), System::nanoTime);
        Actor first = actor("first");
        Actor second = actor("second");
        Actor third = actor("third");
        first.run(half::lock);
        half.retire(loss, () -> true);
        second.run(half::lock);
        half.retire(loss, () -> true);
        third.run(half::lock);
        assertThat(home.owner()).isSameAs(first.thread());
        first.run(half::unlock);
        second.run(half::unlock);
        third.run(half::unlock);

        third.run(half::lock);

        assertThat(home.owner()).isSameAs(third.thread());
        assertThat(third.get(half::loss)).isNull();
        third.run(half::unlock);
    }

    /** The superclass stays with a thread that has ended; the lock goes on by spares. */
    @Test
    void aThreadThatHasEndedKeepsNobodyOut() throws InterruptedException {
        Halves<LocalLock> half = halves(false);
        for (int i = 0; i < 3; i++) {
            Thread gone = new Thread(half::lock, "gone");
            gone.start();
            gone.join();
            half.retire(loss, half::isHeld);
        }
        assertThat(half.tryLock()).isTrue();
        half.unlock();
    }

    @Test
    void whatNoThreadIsInsideByIsNotRetired() {
        Halves<LocalLock> half = halves(false);
        half.lock();
        half.retire(loss, () -> false);
        assertThat(half.loss()).isNull();
        half.unlock();
    }

    @Test
    void readersAndAWriterOfALostLockKeepTheirHolds() {
        ReadWriteHalves half = halvesToShare(false);
        Actor loser = actor("loser");
        Actor reader = actor("reader");
        Actor writer = actor("writer");
        loser.run(half::lock);
        loser.run(half.readLock()::lock);
        loser.run(half::unlock);
        reader.run(half.readLock()::lock);

        half.retire(loss, () -> true);

        assertThat(writer.<Boolean>get(half::tryLock)).isTrue();
        assertThat(loser.get(half::loss)).isSameAs(loss);
        assertThat(reader.get(half::sharedHolds)).isEqualTo(1);
        reader.run(half.readLock()::unlock);
        loser.run(half.readLock()::unlock);
        assertThat(reader.<Boolean>get(half.readLock()::tryLock)).isFalse();
        writer.run(half::unlock);
        assertThat(reader.<Boolean>get(half.readLock()::tryLock)).isTrue();
        reader.run(half.readLock()::unlock);
    }
}
