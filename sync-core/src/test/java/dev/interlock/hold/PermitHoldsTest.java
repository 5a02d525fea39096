package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SemaphoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds of permits promise. */
@DisplayName("a hold of permits")
class PermitHoldsTest extends HoldFixture {

    private DistributedSemaphore semaphore;
    private DistributedSemaphore rival;

    @BeforeEach
    void begin() {
        String name = freshName();
        semaphore = mine.semaphore(name, 3);
        rival = other.semaphore(name, 3);
    }

    private Hold acquired(int permits) {
        CompletableFuture<Hold> asked = mine.holds().acquirePermits(semaphore, permits);
        assertThat(asked).succeedsWithin(PATIENCE);
        return asked.join();
    }

    @Test
    @DisplayName("has them until it is released, and others wait for as many")
    void excludesOthers() {
        Hold two = acquired(2);
        assertThat(two.isValid()).isTrue();
        assertThat(two.name()).isEqualTo(semaphore.getName());
        assertThat(rival.availablePermits()).isEqualTo(1);
        assertThat(semaphore.tryAcquire(2)).isFalse();
        CompletableFuture<Hold> more = other.holds().acquirePermits(rival, 2);
        CompletableFuture<Hold> mineToo = mine.holds().acquirePermits(semaphore, 2);
        assertThat(more).failsWithin(SHORT);
        assertThat(mineToo).failsWithin(SHORT);
        released(two);
        CompletableFuture<Object> first = CompletableFuture.anyOf(more, mineToo);
        assertThat(first).succeedsWithin(PATIENCE);
        released((Hold) first.join());
        assertThat(more).succeedsWithin(PATIENCE);
        assertThat(mineToo).succeedsWithin(PATIENCE);
        more.join().close();
        released(mineToo.join());
        assertThat(two.isValid()).isFalse();
        assertThatThrownBy(two::assertValid).isInstanceOf(IllegalStateException.class);
        assertThat(rival.tryAcquire(3)).isTrue();
        rival.release(3);
    }

    @Test
    @DisplayName("and threads of its own session exclude each other")
    void excludesThreads() throws InterruptedException {
        semaphore.acquire(2);
        CompletableFuture<Hold> asked = mine.holds().acquirePermits(semaphore, 2);
        assertThat(asked).failsWithin(SHORT);
        semaphore.release(2);
        assertThat(asked).succeedsWithin(PATIENCE);
        assertThat(semaphore.tryAcquire(2)).isFalse();
        released(asked.join());
        assertThat(semaphore.tryAcquire(3, 20, TimeUnit.SECONDS)).isTrue();
        semaphore.release(3);
    }

    @Test
    @DisplayName("never has more than there are, however many ask")
    void neverHasTooMany() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            int permits = 1 + i % 3;
            boolean isMine = i % 2 == 0;
            all.add((isMine ? mine : other)
                    .holds()
                    .acquirePermits(isMine ? semaphore : rival, permits)
                    .thenCompose(hold -> {
                        most.accumulateAndGet(inside.addAndGet(permits), Math::max);
                        inside.addAndGet(-permits);
                        return hold.release();
                    }));
        }
        all.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
        assertThat(most.get()).isBetween(1, 3);
        assertThat(rival.tryAcquire(3)).isTrue();
        rival.release(3);
    }

    @Test
    @DisplayName("that is asked for once, or with a wait, is refused when there are too few")
    void isRefused() {
        Hold two = acquired(2);
        assertThat(other.holds().tryAcquirePermits(rival, 2, Duration.ZERO))
                .succeedsWithin(PATIENCE)
                .isEqualTo(Optional.empty());
        assertThat(mine.holds().tryAcquirePermits(semaphore, 2, Duration.ofMillis(50)))
                .succeedsWithin(PATIENCE)
                .isEqualTo(Optional.empty());
        CompletableFuture<Optional<Hold>> one = other.holds().tryAcquirePermits(rival, 1, Duration.ZERO);
        assertThat(one).succeedsWithin(PATIENCE).matches(Optional::isPresent);
        released(one.join().orElseThrow());
        released(two);
    }

    @Test
    @DisplayName("that nobody wants any more is withdrawn, at the worst moment as well")
    void isCancelled() {
        Hold all = acquired(3);
        CompletableFuture<Hold> waiting = mine.holds().acquirePermits(semaphore, 3);
        CompletableFuture<Hold> next = mine.holds().acquirePermits(semaphore, 1);
        assertThat(next).failsWithin(SHORT);
        waiting.cancel(false);
        released(all);
        assertThat(next).succeedsWithin(PATIENCE);
        released(next.join());
        for (int i = 0; i < 500; i++) {
            CompletableFuture<Hold> asked = mine.holds().acquirePermits(semaphore, 1 + i % 3);
            asked.cancel(false);
            asked.thenAccept(Hold::close);
        }
        released(acquired(3));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("of a fair semaphore, and of one whose permits belong to nobody, is the same")
    void hasOptions(boolean fair) {
        SemaphoreOptions options = fair ? SemaphoreOptions.fair() : SemaphoreOptions.unowned();
        semaphore = mine.semaphore(semaphore.getName() + "'", 3, options);
        rival = other.semaphore(semaphore.getName(), 3, options);
        Hold two = acquired(2);
        assertThat(rival.availablePermits()).isEqualTo(1);
        CompletableFuture<Hold> next = mine.holds().acquirePermits(semaphore, 3);
        released(two);
        assertThat(next).succeedsWithin(PATIENCE);
        released(next.join());
        assertThat(rival.tryAcquire(3)).isTrue();
        rival.release(3);
    }

    @Test
    @DisplayName("that is lost is told so, and its release charges nobody else")
    void isLost() {
        Hold one = acquired(1);
        Hold another = acquired(1);
        redis.command("FLUSHALL");
        assertThat(one.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertThat(another.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        Hold later = acquired(1);
        assertThatThrownBy(one::assertValid).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(one::close).isInstanceOf(LeaseLostException.class);
        assertThat(later.isValid()).isTrue();
        released(later);
        assertThatThrownBy(() -> another.release().toCompletableFuture().get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    @DisplayName("ends with its session, and so does the wait for one")
    void endsWithItsSession() {
        Interlock closing = Interlock.connect(redis.url());
        DistributedSemaphore same = closing.semaphore(semaphore.getName(), 3);
        Hold hold = closing.holds().acquirePermits(same, 3).join();
        CompletableFuture<Hold> waiting = closing.holds().acquirePermits(same, 1);
        closing.close();
        assertThat(waiting).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(IllegalStateException.class);
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        released(acquired(3));
    }

    @Test
    @DisplayName("has no token, and refuses what makes no sense")
    void refusesNonsense() {
        Hold one = acquired(1);
        assertThatThrownBy(one::fencingToken).isInstanceOf(UnsupportedOperationException.class);
        released(one);
        assertThatThrownBy(() -> mine.holds().acquirePermits(semaphore, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("permits");
        assertThatThrownBy(() -> mine.holds().lease(Duration.ofSeconds(1)).acquirePermits(semaphore, 1))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("lease");
    }
}
