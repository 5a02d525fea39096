package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Actor;
import dev.interlock.testing.Loss;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * Threads that pass through a synchronizer again and again over a network that fails all the time, until it is well
 * again and each of them has passed.
 */
public final class Rage {
    private static final Duration BETWEEN_FAULTS = Duration.ofMillis(60);
    private static final Duration LATE = Duration.ofMillis(300);

    /** All that a thread may need at the end, when the network is well again. */
    private static final Duration END = Duration.ofSeconds(15);

    private final FaultFixture test;
    private final Predicate<List<String>> commands;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<AtomicLong> passages = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final List<CompletableFuture<Boolean>> threads = new ArrayList<>();

    /** Faults concern these commands, above all. */
    public Rage(FaultFixture test, Predicate<List<String>> commands) {
        this.test = test;
        this.commands = commands;
    }

    /** What a thread does again and again. */
    @FunctionalInterface
    public interface Pass {
        /** Returns whether it has got through. */
        boolean isThrough() throws InterruptedException;
    }

    /** Starts a thread. */
    public void start(String name, Pass pass) {
        AtomicLong count = new AtomicLong();
        Actor actor = test.actor(name);
        passages.add(count);
        actors.add(actor);
        threads.add(actor.begin(() -> {
            while (!stop.get()) {
                if (pass.isThrough()) {
                    count.incrementAndGet();
                }
            }
        }));
    }

    /** Begins one fault after the other for so long. */
    public void disturb(Duration time) {
        disturb(time, false);
    }

    /** The same, and interrupts one thread after the other. */
    public void disturbAndInterrupt(Duration time) {
        disturb(time, true);
    }

    private void disturb(Duration time, boolean interrupts) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < time.toNanos() && !hasFailed()) {
            begin(ThreadLocalRandom.current().nextInt(8));
            if (interrupts) {
                actors.get(ThreadLocalRandom.current().nextInt(actors.size())).interrupt();
            }
            FaultFixture.await("some time").pollDelay(BETWEEN_FAULTS).until(() -> true);
        }
        test.proxy().heal();
    }

    private boolean hasFailed() {
        return threads.stream().anyMatch(CompletableFuture::isCompletedExceptionally);
    }

    /** Waits until each thread has passed, and ends them all. Returns how often each has. */
    public List<AtomicLong> end() {
        FaultFixture.await("passages of all threads")
                .atMost(END)
                .until(() -> passages.stream().allMatch(count -> count.get() > 0) || hasFailed());
        stop.set(true);
        for (CompletableFuture<Boolean> thread : threads) {
            assertThat(thread).succeedsWithin(END);
        }
        assertThat(passages).allSatisfy(count -> assertThat(count.get()).isPositive());
        return passages;
    }

    private void begin(int fault) {
        switch (fault) {
            case 0 -> test.proxy().cut();
            case 1 -> test.proxy().dropReplies(commands, 1, Loss.CUT);
            case 2 -> test.proxy().dropReplies(commands, 1, Loss.MUTE);
            case 3 -> test.proxy().dropRequests(commands, 1, Loss.CUT);
            case 4 -> test.proxy().delayRequests(commands, LATE, 1);
            case 5 -> test.proxy().duplicateRequests(commands, LATE, 3);
            case 6 -> test.proxy().dropMessages(words -> words.get(0).equals("message"), 2);
            default -> {
                if (ThreadLocalRandom.current().nextBoolean()) {
                    test.forgetScripts();
                } else {
                    test.killMailboxes();
                }
            }
        }
    }
}
