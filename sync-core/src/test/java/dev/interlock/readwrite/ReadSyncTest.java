package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.LocalReadWriteLock;
import dev.interlock.internal.lock.ReadSync;
import dev.interlock.internal.lock.ReadWriteHalves;
import dev.interlock.internal.lock.RemoteReadWriteLock;
import dev.interlock.internal.lock.SpareReadWriteLock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a reader does when what it has seen of the remote half changes at once. */
class ReadSyncTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ReentrantReadWriteLock half = new ReentrantReadWriteLock();
    private final AtomicInteger looks = new AtomicInteger();
    private BooleanSupplier admits = () -> looks.getAndIncrement() > 0;
    private long drainNanos = Long.MAX_VALUE;
    private Runnable beforeQueueing = () -> {};

    /** The writer that others had to wait for has gone between two looks; so nobody tells of it any more. */
    @Test
    void joinsAReaderThatStaysInsideOnceItMay() {
        half.readLock().lock();
        assertThat(CompletableFuture.runAsync(newSync()::lock)).succeedsWithin(PATIENCE);
        assertThat(half.getReadLockCount()).isEqualTo(2);
    }

    /** The writer that it has seen stops writing just before the reader queues, or later, and reads on. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void joinsAWriterThatReadsOn(boolean atOnce) throws InterruptedException {
        admits = () -> !half.isWriteLocked();
        drainNanos = 0;
        CountDownLatch hasLooked = new CountDownLatch(1);
        CountDownLatch mayQueue = new CountDownLatch(atOnce ? 1 : 0);
        beforeQueueing = () -> {
            hasLooked.countDown();
            Uninterruptibles.awaitUninterruptibly(mayQueue);
        };
        half.writeLock().lock();
        half.readLock().lock();
        CompletableFuture<Void> reader = CompletableFuture.runAsync(newSync()::lock);
        assertThat(hasLooked.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        if (!atOnce) {
            await("the queue").atMost(PATIENCE).until(half::hasQueuedThreads);
        }

        half.writeLock().unlock();
        mayQueue.countDown();

        assertThat(reader).succeedsWithin(PATIENCE);
        assertThat(half.getReadLockCount()).isEqualTo(2);
    }

    private ReadSync newSync() {
        return new ReadSync(
                new ReadWriteHalves(
                        fake(LocalReadWriteLock.class, this::ofLocal),
                        false,
                        () -> new SpareReadWriteLock(false),
                        System::nanoTime),
                fake(RemoteReadWriteLock.class, this::ofRemote));
    }

    private Object ofRemote(String method) {
        return switch (method) {
            case "mayEnterShared" -> admits.getAsBoolean();
            case "isBarred", "mayAskSharing" -> false;
            case "enterSharedAtOnce" -> true;
            case "listeners" -> new Listeners();
            case "now" -> System.nanoTime();
            case "drainNanos" -> drainNanos;
            default -> method;
        };
    }

    private Object ofLocal(String method) {
        return switch (method) {
            case "readLock" -> queuesFor(half.readLock());
            case "tryLock" -> takesInTheEnd();
            case "isHeld", "isOwned" -> half.isWriteLocked();
            case "sharedHolds", "holds" -> 0;
            default -> false;
        };
    }

    private Lock queuesFor(Lock view) {
        beforeQueueing.run();
        return view;
    }

    private boolean takesInTheEnd() {
        half.writeLock().lock();
        return true;
    }

    /** Answers by the names of methods; what returns nothing needs no answer. */
    private static <T> T fake(Class<T> type, Function<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            Object answer = answers.apply(method.getName());
            return method.getReturnType() == void.class ? null : answer;
        }));
    }
}
