package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.junit.InterlockTest;
import dev.interlock.junit.OtherSession;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of the guide that acquires several names at once. */
@InterlockTest
@DisplayName("several names at once")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeveralNamesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int ACCOUNTS = 4;

    private final AtomicIntegerArray balances = new AtomicIntegerArray(ACCOUNTS);
    private final CompletableFuture<String> loading = new CompletableFuture<>();

    /** Loses money if two do this at a time. */
    private void book(int account, int amount) {
        int balance = balances.get(account);
        LockSupport.parkNanos(1_000);
        balances.set(account, balance + amount);
    }

    // tag::lock-all[]
    private void transfer(Interlock interlock, int from, int to, int amount) {
        Lock both = interlock.lockAll(List.of("account:" + from, "account:" + to)); // in whatever order
        both.lock();
        try {
            book(from, -amount);
            book(to, amount);
        } finally {
            both.unlock();
        }
    }
    // end::lock-all[]

    @Test
    @DisplayName("end in no deadlock if threads of several sessions name them in any order")
    void orderDoesNotMatter(Interlock mine, @OtherSession Interlock other) {
        try (TestThreads threads = new TestThreads(PATIENCE)) {
            List<Running<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Interlock session = i % 2 == 0 ? mine : other;
                SplittableRandom random = new SplittableRandom(i);
                all.add(threads.start("clerk " + i, () -> {
                    for (int done = 0; done < 50; done++) {
                        int from = random.nextInt(ACCOUNTS);
                        int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
                        transfer(session, from, to, 1 + random.nextInt(100));
                    }
                }));
            }
            all.forEach(Running::result);
        }
        assertThat(IntStream.range(0, ACCOUNTS).map(balances::get).sum()).isZero();
    }

    private CompletableFuture<String> load(Hold hold) {
        assertThat(hold.fencingToken("truck:3")).isPositive();
        return loading.whenComplete((done, failure) -> hold.close());
    }

    @Test
    @DisplayName("are all held until the work is over")
    void allAreHeld(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Holds holds = mine.holds();
        // tag::acquire-all[]
        CompletableFuture<String> loaded = holds.as("loading of truck 3")
                .tryAcquireAll(List.of("truck:3", "shelf:7"), Duration.ofSeconds(5))
                .thenCompose(hold -> hold.map(this::load).orElse(CompletableFuture.completedFuture("busy")));
        // end::acquire-all[]
        assertThat(other.holds().tryHoldAll(List.of("shelf:7", "truck:4"), Duration.ofMillis(100)))
                .isEmpty();
        assertThat(other.lock("truck:3").tryLock()).isFalse();
        assertThat(other.lock("shelf:7").tryLock()).isFalse();
        loading.complete("done");
        assertThat(loaded).succeedsWithin(PATIENCE).isEqualTo("done");
        assertThat(other.lock("truck:3").tryLock(PATIENCE)).isTrue();
        assertThat(other.lock("shelf:7").tryLock(PATIENCE)).isTrue();
    }

    @Test
    @DisplayName("are all free again if one of them can't be had within the wait")
    void allOrNone(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Hold taken = other.holds().hold("b");
        Optional<Hold> none = mine.holds().tryHoldAll(List.of("c", "b", "a"), Duration.ofMillis(100));
        assertThat(none).isEmpty();
        assertThat(other.lock("a").tryLock(PATIENCE)).isTrue();
        assertThat(other.lock("c").tryLock(PATIENCE)).isTrue();
        taken.close();
        assertThat(mine.lock("b").tryLock(PATIENCE)).isTrue();
    }

    @Test
    @DisplayName("that come before one that isn't free are held while that is waited for, and later ones aren't")
    void earlierNamesAreHeldMeanwhile(Interlock mine, @OtherSession Interlock other) throws InterruptedException {
        Hold taken = other.holds().hold("b");
        CompletableFuture<Hold> asked = mine.holds().acquireAll(List.of("c", "b", "a"));
        await().until(() -> other.lock("a").isRemotelyLocked());
        assertThat(other.lock("c").tryLock(PATIENCE)).isTrue();
        assertThat(other.lock("a").tryLock(Duration.ofMillis(100))).isFalse();
        assertThat(asked).isNotDone();
        other.lock("c").unlock();
        taken.close();
        assertThat(asked).succeedsWithin(PATIENCE);
        asked.join().close();
    }
}
