package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.junit.InterlockTest;
import dev.interlock.junit.OtherSession;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The code of the guide that has a hold while work goes on that no thread waits for. */
@InterlockTest
@DisplayName("a hold of asynchronous work")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AsynchronousWorkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final String NAME = "order:42";

    private final Carrier carrier = new Carrier();

    /** Stands for a remote service: a request takes until the test completes it. */
    private static final class Carrier {
        final CompletableFuture<Long> asked = new CompletableFuture<>();
        final CompletableFuture<String> receipt = new CompletableFuture<>();
        boolean isClosed;

        CompletableFuture<String> ship(int order, long token) {
            if (isClosed) {
                throw new IllegalStateException("closed on Sundays");
            }
            asked.complete(token);
            return receipt.thenApply(text -> "order " + order + ": " + text);
        }

        void awaitRequest() {
            assertThat(asked).succeedsWithin(PATIENCE);
            assertThat(asked.join()).isPositive();
        }
    }

    private static void assertHeld(Interlock... sessions) {
        for (Interlock session : sessions) {
            assertThat(session.lock(NAME).tryLock()).isFalse();
        }
    }

    private static void assertFree(Interlock... sessions) throws InterruptedException {
        for (Interlock session : sessions) {
            assertThat(session.lock(NAME).tryLock(PATIENCE)).isTrue();
            session.lock(NAME).unlock();
        }
    }

    // ---- CompletableFuture

    private CompletableFuture<String> shipped(Interlock interlock) {
        // tag::hold[]
        CompletableFuture<String> shipped = interlock
                .holds()
                .acquire("order:42") // waits without a thread
                .thenCompose(hold -> CompletableFuture.completedFuture(hold)
                        .thenCompose(held -> carrier.ship(42, held.fencingToken())) // goes on elsewhere
                        .whenComplete((receipt, failure) -> hold.close())); // in whatever thread that ends
        // end::hold[]
        return shipped;
    }

    @Test
    @DisplayName("lasts until that is done")
    void lastsUntilTheWorkIsDone(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        CompletableFuture<String> shipped = shipped(mine);
        carrier.awaitRequest();
        assertHeld(mine, other);
        assertThat(shipped).isNotDone();
        carrier.receipt.complete("sent");
        assertThat(shipped).succeedsWithin(PATIENCE).isEqualTo("order 42: sent");
        assertFree(other, mine);
    }

    @Test
    @DisplayName("ends when that fails")
    void endsWhenTheWorkFails(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        CompletableFuture<String> shipped = shipped(mine);
        carrier.awaitRequest();
        carrier.receipt.completeExceptionally(new IllegalArgumentException("no such address"));
        assertThat(shipped).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("no such address");
        assertFree(other, mine);
    }

    @Test
    @DisplayName("ends when that throws before it begins")
    void endsWhenTheWorkDoesNotBegin(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        carrier.isClosed = true;
        assertThat(shipped(mine)).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("closed on Sundays");
        assertFree(other, mine);
    }

    // tag::ship[]
    /** Ships an order, and releases its hold in whatever thread that ends. */
    private CompletableFuture<String> ship(Hold hold) {
        return CompletableFuture.completedFuture(hold)
                .thenCompose(held -> carrier.ship(42, held.fencingToken())) // what it throws is a failure as well
                .whenComplete((receipt, failure) -> hold.close());
    }
    // end::ship[]

    @Test
    @DisplayName("isn't waited for longer than is asked for")
    void waitsForSoLong(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Holds holds = mine.holds();
        // tag::hold-wait[]
        CompletableFuture<String> shipped = holds.acquire("order:42").thenCompose(this::ship);
        CompletableFuture<String> soon = holds.tryAcquire("order:42", Duration.ofSeconds(2))
                .thenCompose(hold -> hold.map(this::ship).orElse(CompletableFuture.completedFuture("busy")));
        // end::hold-wait[]
        carrier.awaitRequest();
        assertThat(soon).succeedsWithin(PATIENCE).isEqualTo("busy");
        assertHeld(other);
        carrier.receipt.complete("sent");
        assertThat(shipped).succeedsWithin(PATIENCE).isEqualTo("order 42: sent");
        assertFree(other, mine);
    }

    @Test
    @DisplayName("is withdrawn with its future, and not with what depends on that")
    void cancellationWhileWaitingWithdraws(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Hold first = other.holds().hold(NAME);
        CompletableFuture<Hold> asked = mine.holds().acquire(NAME);
        CompletableFuture<String> shipped = asked.thenCompose(this::ship);
        shipped.cancel(false);
        assertThat(asked).failsWithin(SHORT).withThrowableThat().isInstanceOf(TimeoutException.class);
        asked.cancel(false);
        assertThat(mine.holds().acquire(NAME).orTimeout(50, TimeUnit.MILLISECONDS))
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .withCauseInstanceOf(TimeoutException.class);
        first.close();
        assertFree(other, mine);
        assertThat(carrier.asked).isNotDone();
    }

    @Test
    @DisplayName("that was lost makes a failure of what would have succeeded")
    void lossIsAFailure(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Hold hold = mine.holds().lease(SHORT).hold(NAME);
        CompletableFuture<String> shipped = ship(hold);
        carrier.awaitRequest();
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertFree(other);
        carrier.receipt.complete("sent");
        assertThat(shipped).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    @DisplayName("that nobody releases stays held until its session is closed")
    void staysHeldUntilItsSessionIsClosed(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        WeakReference<Hold> forgotten =
                new WeakReference<>(mine.holds().acquire(NAME).join());
        await().atMost(PATIENCE).until(() -> {
            System.gc();
            return forgotten.refersTo(null);
        });
        assertHeld(mine, other);
        mine.close();
        assertFree(other);
    }

    // ---- Reactor

    // tag::reactor[]
    private Mono<String> shipping(Holds holds) {
        return Mono.usingWhen(
                        Mono.fromFuture(() -> holds.acquire("order:42")), // is withdrawn if the Mono is cancelled
                        hold -> Mono.fromFuture(() -> carrier.ship(42, hold.fencingToken())),
                        hold -> Mono.fromFuture(hold.release().toCompletableFuture()))
                .doOnDiscard(Hold.class, Hold::close); // what was granted when the Mono was being cancelled
    }
    // end::reactor[]

    @Test
    @DisplayName("lasts until a Mono is done")
    void lastsUntilTheMonoIsDone(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        CompletableFuture<String> shipped = shipping(mine.holds()).toFuture();
        carrier.awaitRequest();
        assertHeld(mine, other);
        carrier.receipt.complete("sent");
        assertThat(shipped).succeedsWithin(PATIENCE).isEqualTo("order 42: sent");
        assertFree(other, mine);
    }

    @Test
    @DisplayName("ends when a Mono fails, or can't begin")
    void endsWhenTheMonoFails(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        carrier.receipt.completeExceptionally(new IllegalArgumentException("no such address"));
        Mono<String> shipping = shipping(mine.holds());
        assertThatThrownBy(() -> shipping.block(PATIENCE)).hasMessageContaining("no such address");
        carrier.isClosed = true;
        assertThatThrownBy(() -> shipping.block(PATIENCE)).hasMessage("closed on Sundays");
        assertFree(other, mine);
    }

    @Test
    @DisplayName("is withdrawn when a Mono is cancelled that waits for it")
    void cancellationOfAWaitingMonoWithdraws(Interlock mine, @OtherSession Interlock other)
            throws InterruptedException {
        Hold first = other.holds().hold(NAME);
        Disposable waiting = shipping(mine.holds()).subscribe();
        waiting.dispose();
        first.close();
        assertFree(other, mine);
        assertThat(carrier.asked).isNotDone();
    }

    @Test
    @DisplayName("ends when a Mono is cancelled that works")
    void cancellationOfAWorkingMonoReleases(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Disposable working = shipping(mine.holds()).subscribe();
        carrier.awaitRequest();
        assertHeld(mine, other);
        working.dispose();
        assertFree(other, mine);
    }

    @Test
    @DisplayName("is given back if it was granted when a Mono was being cancelled")
    void whatIsGrantedToACancelledMonoIsGivenBack(Interlock mine, @OtherSession Interlock other)
            throws InterruptedException {
        for (int i = 0; i < 2_000; i++) {
            Disposable shipping = shipping(mine.holds()).subscribe();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
            shipping.dispose();
        }
        assertFree(other, mine);
    }

    @Test
    @DisplayName("that was lost makes a failure of a Mono that would have succeeded")
    void lossIsAFailureOfTheMono(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        CompletableFuture<String> shipped = shipping(mine.holds().lease(SHORT)).toFuture();
        carrier.awaitRequest();
        assertFree(other);
        carrier.receipt.complete("sent");
        assertThat(shipped)
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(LeaseLostException.class);
    }
}
