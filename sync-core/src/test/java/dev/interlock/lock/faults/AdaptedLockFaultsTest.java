package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Recorder;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;
import org.redisson.misc.CompletableFutureWrapper;

/** What a lock over one of Redisson's makes of Redisson's failures. */
class AdaptedLockFaultsTest extends FaultFixture {
    private static final String NAME = "stock";

    private final Recorder recorder = new Recorder();

    /** Redis has said that the lock is taken; only the subscription comes too late. */
    @Test
    void aShortWaitForATakenLockIsRefused() {
        RedissonClient client = client(proxy().url());
        Interlock session = over(client, builder -> builder.listener(recorder));
        DistributedReentrantLock lock = session.adapt(client.getLock(NAME));
        RLock taken = client(server().url()).getLock(NAME);
        taken.lock();
        proxy().delayReplies(
                        words -> words.get(0).equalsIgnoreCase("SUBSCRIBE"), Duration.ofMillis(300), FaultProxy.ALWAYS);
        Actor rival = actor("rival");
        for (int millis = 1; millis <= 100; millis += 20) {
            int wait = millis;
            CompletableFuture<Boolean> entered = rival.ask(() -> lock.tryLock(wait, TimeUnit.MILLISECONDS));
            assertThat(entered).as("%s ms", wait).succeedsWithin(PATIENCE).isEqualTo(false);
        }
        assertThat(recorder.count(Recorder.Kind.UNREACHABLE)).isZero();
        proxy().heal();
        CompletableFuture<Boolean> entered = rival.begin(lock::lock);
        taken.unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        rival.run(lock::unlock);
    }

    /** Redisson's multi lock has no name of its own. */
    @Test
    void aMultiLockHasAllItsLocks() {
        RedissonClient client = client(server().url());
        RLock rival = client(server().url()).getLock("second");
        DistributedReentrantLock both = over(client, builder -> builder)
                .adapt(client.getMultiLock(client.getLock("first"), client.getLock("second")));
        both.lock();
        assertThat(rival.tryLock()).isFalse();
        both.unlock();
        assertThat(rival.tryLock()).isTrue();
        rival.unlock();
    }

    /** Its thread has given it up, and that has been answered before. */
    @Test
    void aRequestThatComesBehindItsReleaseKeepsNothing() {
        RedissonClient client = client(proxy().url());
        DistributedReentrantLock lock = over(client, builder -> builder).adapt(client.getLock(NAME));
        RLock taken = client(server().url()).getLock(NAME);
        taken.lock();
        AtomicBoolean isRequested = new AtomicBoolean();
        proxy().duplicateRequests(words -> isRequest(words, isRequested), Duration.ofMillis(500), 1);
        Actor waiter = actor("waiter");
        CompletableFuture<?> waiting = waiter.begin(lock::lockInterruptibly);
        await("request").untilTrue(isRequested);
        waiter.interrupt();
        assertThat(waiting).failsWithin(PATIENCE);
        taken.unlock();
        await("late request").until(() -> server().keys().contains(NAME));
        // Sooner than by the end of its lease.
        await("release")
                .atMost(Duration.ofSeconds(20))
                .until(() -> !server().keys().contains(NAME));
    }

    /** Even if another thread is still busy with what the session had to say before. */
    @Test
    void aRequestDoesNotOvertakeTheReleaseBeforeIt() {
        RedissonClient client = client(server().url());
        var repeated = new CountDownLatch(1);
        var mayGoOn = new CountDownLatch(1);
        RLock slow = slowToRepeat(client.getLock(NAME), repeated, mayGoOn);
        DistributedReentrantLock lock = over(client, builder -> builder).adapt(slow);
        Actor first = actor("first");
        first.run(lock::lock);
        CompletableFuture<?> firstUnlock = first.begin(lock::unlock);
        await("repeat").until(() -> repeated.getCount() == 0);
        Actor second = actor("second");
        second.run(lock::lock);
        CompletableFuture<?> secondUnlock = second.begin(lock::unlock);
        await("given up").until(() -> !lock.isLocked());
        Actor asker = actor("third");
        CompletableFuture<Boolean> entered = asker.ask(lock::tryLock);
        assertThat(entered).failsWithin(Duration.ofMillis(300));
        mayGoOn.countDown();
        assertThat(entered).succeedsWithin(PATIENCE).isEqualTo(true);
        asker.run(lock::unlock);
        assertThat(firstUnlock).succeedsWithin(PATIENCE);
        assertThat(secondUnlock).succeedsWithin(PATIENCE);
    }

    /** Returns the lock, but the answer to the first release gets lost, and its repeat takes its time to be sent. */
    private static RLock slowToRepeat(RLock lock, CountDownLatch repeated, CountDownLatch mayGoOn) {
        var releases = new AtomicInteger();
        return (RLock) Proxy.newProxyInstance(
                AdaptedLockFaultsTest.class.getClassLoader(), new Class<?>[] {RLock.class}, (proxy, method, words) -> {
                    boolean isRelease = method.getName().equals("unlockAsync");
                    int number = isRelease ? releases.incrementAndGet() : 0;
                    if (number == 2) {
                        repeated.countDown();
                        mayGoOn.await();
                    }
                    Object result = method.invoke(lock, words);
                    if (number == 1) {
                        ((RFuture<?>) result).toCompletableFuture().join();
                        return new CompletableFutureWrapper<Void>(new RedisTimeoutException("lost"));
                    }
                    return result;
                });
    }

    private static boolean isRequest(List<String> words, AtomicBoolean isRequested) {
        boolean isRequest = words.get(0).startsWith("EVAL") && words.contains(NAME);
        if (isRequest) {
            isRequested.set(true);
        }
        return isRequest;
    }
}
