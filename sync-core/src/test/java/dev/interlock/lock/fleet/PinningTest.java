package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Rig;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A lock object outlives a garbage collection for as long as anybody refers to it, holds it or waits for it; no longer.
 */
@Tag("proof")
class PinningTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    private Interlock interlock;

    @BeforeEach
    void open() {
        interlock = Interlock.connect(rig.url());
    }

    @AfterEach
    void close() {
        interlock.close();
    }

    private static void collectGarbage() {
        var canary = new WeakReference<>(new Object());
        awaitCleared(canary);
    }

    private static void awaitCleared(WeakReference<?> reference) {
        await("a cleared reference")
                .atMost(PATIENCE)
                .pollInterval(10, TimeUnit.MILLISECONDS)
                .until(() -> {
                    System.gc();
                    return reference.get() == null;
                });
    }

    /** A lock that is held is the same lock after a garbage collection, though nobody refers to it. */
    @Test
    void heldLockSurvivesGarbageCollection() {
        String name = rig.name("pinned");
        interlock.lock(name).lock();
        long token = interlock.lock(name).fencingToken();
        collectGarbage();
        assertThat(interlock.lock(name).isHeldByCurrentThread()).isTrue();
        assertThat(interlock.lock(name).fencingToken()).isEqualTo(token);
        interlock.lock(name).lock();
        collectGarbage();
        assertThat(interlock.lock(name).getHoldCount()).isEqualTo(2);
        interlock.lock(name).unlock();
        collectGarbage();
        interlock.lock(name).assertHeld();
        interlock.lock(name).unlock();
        await("its release").atMost(PATIENCE).until(() -> rig.keyspace().ownedMillis(name) < 0);
    }

    /** A fixed lease pins as well, for as long as it is held. */
    @Test
    void lockHeldForAFixedLeaseSurvivesGarbageCollection() {
        String name = rig.name("pinned-fixed");
        interlock.lock(name).lock(1, TimeUnit.MINUTES);
        collectGarbage();
        interlock.lock(name).assertHeld();
        interlock.lock(name).unlock();
    }

    /** Returns what doesn't keep the object from being dropped. */
    private WeakReference<?> onlyLock(String name) {
        DistributedReentrantLock lock = interlock.lock(name);
        assertThat(interlock.lock(name)).isSameAs(lock);
        return new WeakReference<>(lock);
    }

    /** An object that nobody refers to, holds or waits for is dropped; its successor goes on where it ended. */
    @Test
    void unusedLockIsDropped() {
        String name = rig.name("dropped");
        WeakReference<?> lock = onlyLock(name);
        interlock.lock(name).lock();
        long token = interlock.lock(name).fencingToken();
        interlock.lock(name).unlock();
        assertThat(interlock.lock(name).tryLock()).isTrue();
        interlock.lock(name).unlock();
        awaitCleared(lock);

        interlock.lock(name).lock();
        assertThat(interlock.lock(name).fencingToken()).isGreaterThan(token);
        interlock.lock(name).unlock();
    }

    /** An object is dropped as well if its last user has waited in vain. */
    @Test
    void lockThatWasWaitedForInVainIsDropped() throws InterruptedException {
        String name = rig.name("in-vain");
        try (Interlock other = Interlock.connect(rig.url())) {
            other.lock(name).lock();
            var lock = new WeakReference<>(interlock.lock(name));
            assertThat(interlock.lock(name).tryLock()).isFalse();
            assertThat(interlock.lock(name).tryLock(2, TimeUnit.SECONDS)).isFalse();
            awaitCleared(lock);
            await().atMost(PATIENCE).until(() -> rig.keyspace().waiting(name) == 0);
            other.lock(name).unlock();
        }
    }

    private static void lockAndListen(DistributedReentrantLock lock, Queue<LeaseLostException> losses) {
        lock.onLost(losses::add);
        lock.lock();
    }

    /** The listeners of a lock that is held stay with it, though nobody refers to it, and hear of its loss. */
    @Test
    void listenersOfAHeldLockSurviveGarbageCollection() {
        String name = rig.name("listener");
        Queue<LeaseLostException> losses = new ConcurrentLinkedQueue<>();
        try (Interlock renewing =
                Interlock.builder().uri(rig.url()).lease(Duration.ofSeconds(3)).open()) {
            lockAndListen(renewing.lock(name), losses);
            collectGarbage();
            rig.keyspace().forget(name);
            await().atMost(PATIENCE).until(() -> !losses.isEmpty());
            assertThat(losses).extracting(LeaseLostException::lockName).containsExactly(name);
            var lock = new WeakReference<>(renewing.lock(name));
            try {
                renewing.lock(name).unlock();
            } catch (LeaseLostException e) {
                assertThat(e.lockName()).isEqualTo(name);
            }
            awaitCleared(lock);
        }
    }
}
