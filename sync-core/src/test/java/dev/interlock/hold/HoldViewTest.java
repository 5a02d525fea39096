package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.junit.InterlockFaults;
import dev.interlock.junit.InterlockTest;
import dev.interlock.junit.OtherSession;
import dev.interlock.ops.NameView;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

/** What operators, callbacks and tests see of holds. */
@InterlockTest
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HoldViewTest {
    @Test
    void aHeldNameIsShownOnce(Interlock mine, @OtherSession Interlock other) throws Exception {
        Hold hold = mine.holds().as("job").hold("a");
        List<NameView> seen = other.operator().inspect("a");
        assertThat(seen).hasSize(1);
        hold.close();
    }

    @Test
    void holdersAndThreadsOfOneNameAreShownAsOne(Interlock mine, @OtherSession Interlock other) throws Exception {
        Hold hold = mine.holds().as("job").hold("a");
        Thread waiter = new Thread(
                () -> {
                    other.lock("a").lock();
                    other.lock("a").unlock();
                },
                "waiter");
        waiter.start();
        await().until(() -> other.operator().find("a").stream()
                .anyMatch(name -> !name.waiters().isEmpty()));
        List<NameView> seen = other.operator().find("a");
        hold.close();
        waiter.join();
        assertThat(seen).hasSize(1);
    }

    @Test
    void anOperatorTakesAHold(Interlock mine, @OtherSession Interlock other) throws Exception {
        Hold hold = mine.holds().hold("a");
        assertThat(other.operator().forceRelease("a", hold.fencingToken())).isTrue();
    }

    private static String threadOf(Supplier<Hold> made) throws Exception {
        Hold hold = made.get();
        CompletableFuture<String> thread = new CompletableFuture<>();
        hold.lost().thenAccept(loss -> thread.complete(Thread.currentThread().getName()));
        return thread.get(20, TimeUnit.SECONDS);
    }

    @Test
    void lossOfAHoldThatAThreadWaitedFor(Interlock mine) throws Exception {
        assertThat(threadOf(() -> {
                    try {
                        return mine.holds().lease(Duration.ofMillis(300)).hold("a");
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }))
                .startsWith("interlock-continuations");
    }

    @Test
    void lossOfSeveral(Interlock mine) throws Exception {
        assertThat(threadOf(() -> mine.holds()
                        .lease(Duration.ofMillis(300))
                        .acquireAll(List.of("a", "b"))
                        .join()))
                .startsWith("interlock-continuations");
    }

    @Test
    void lossOfOne(Interlock mine) throws Exception {
        assertThat(threadOf(() ->
                        mine.holds().lease(Duration.ofMillis(300)).acquire("a").join()))
                .startsWith("interlock-continuations");
    }

    @Test
    void releaseOfSeveral(Interlock mine) throws Exception {
        for (int i = 0; i < 20; i++) {
            Hold hold = mine.holds().acquireAll(List.of("a" + i, "b" + i)).join();
            CompletableFuture<String> thread = new CompletableFuture<>();
            Thread me = Thread.currentThread();
            hold.release().thenAccept(done -> {
                if (Thread.currentThread() != me) {
                    thread.complete(Thread.currentThread().getName());
                } else {
                    thread.complete("interlock-continuations");
                }
            });
            assertThat(thread.get(20, TimeUnit.SECONDS)).startsWith("interlock-continuations");
        }
    }

    @Test
    void aMonoOfALossCanBeCancelled(Interlock mine) throws Exception {
        CompletableFuture<Throwable> dropped = new CompletableFuture<>();
        Hooks.onErrorDropped(dropped::complete);
        Hold hold = mine.holds().hold("a");
        Disposable watching = Mono.fromCompletionStage(hold.lost()).subscribe();
        watching.dispose();
        hold.close();
        Hooks.resetOnErrorDropped();
        assertThat(dropped).isNotDone();
    }

    @Test
    void aFaultTakesAHold(Interlock mine, InterlockFaults faults) throws Exception {
        Hold hold = mine.holds().hold("a");
        faults.loseLock("a");
        hold.lost().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    /** As unlock() does. close() looks for a loss before its release finds that the lease is over. */
    @Test
    void closeTellsOfALeaseThatIsOver(Interlock mine) throws Exception {
        for (int i = 0; i < 30; i++) {
            Hold hold = mine.holds().lease(Duration.ofMillis(100)).hold("a" + i);
            while (hold.isValid()) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(hold::close).as("close " + i).isInstanceOf(LeaseLostException.class);
        }
    }
}
