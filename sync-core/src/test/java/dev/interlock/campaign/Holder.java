package dev.interlock.campaign;

import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.locks.LockSupport;

/**
 * Acquires names in all ways that holds offer, beside the locks of these names, and has other threads release some of
 * them. A class of its own, since the last release knows no holds.
 */
final class Holder {
    private static final int MOST_WAIT_MILLIS = 100;
    private static final int MOST_PATIENCE_NANOS = 30_000_000;
    private static final int MOST_STAY_NANOS = 1_000_000;

    private final Interlock interlock;
    private final Blackboard board;
    private final Act act;
    private final List<String> names;
    private final StepLog log;
    private final Random random;

    Holder(Worker.Site site, Act act, StepLog log, Random random) {
        this.interlock = site.interlock();
        this.board = site.board();
        this.act = act;
        this.names = act.names();
        this.log = log;
        this.random = random;
    }

    /** Acquires its names once, and has them released. */
    void once() throws InterruptedException {
        log.begin(act, 0, Monotonic.nanos());
        Optional<Hold> acquired = acquire(interlock.holds());
        if (acquired.isEmpty()) {
            log.end(End.GAVE_UP);
            return;
        }
        Hold hold = acquired.get();
        try {
            stay(hold);
        } catch (RuntimeException e) {
            hold.release();
            throw e;
        }
        release(hold);
        log.end(End.DONE);
    }

    private Optional<Hold> acquire(Holds holds) throws InterruptedException {
        Duration wait = Duration.ofMillis(random.nextInt(MOST_WAIT_MILLIS));
        boolean isOne = names.size() == 1;
        String name = names.get(0);
        return switch (random.nextInt(8)) {
            case 0 -> isOne ? result(holds.tryAcquire(name)) : result(holds.tryAcquireAll(names, Duration.ZERO));
            case 1 -> isOne ? result(holds.tryAcquire(name, wait)) : result(holds.tryAcquireAll(names, wait));
            case 2 -> isOne ? holds.tryHold(name, wait) : holds.tryHoldAll(names, wait);
            case 3 -> Optional.of(isOne ? holds.hold(name) : holds.holdAll(names));
            case 4, 5 -> unlessCancelled(isOne ? holds.acquire(name) : holds.acquireAll(names));
            default -> Optional.of(result(isOne ? holds.acquire(name) : holds.acquireAll(names)));
        };
    }

    private Optional<Hold> unlessCancelled(CompletableFuture<Hold> asked) throws InterruptedException {
        LockSupport.parkNanos(random.nextInt(MOST_PATIENCE_NANOS));
        return asked.cancel(false) ? Optional.empty() : Optional.of(result(asked));
    }

    /** Waits, and wants nothing any more if it is interrupted. */
    private static <T> T result(CompletableFuture<T> asked) throws InterruptedException {
        try {
            return asked.get();
        } catch (InterruptedException e) {
            if (!asked.cancel(false)) {
                asked.thenAccept(Holder::giveBack);
            }
            throw e;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RedisUnavailableException unavailable
                    ? unavailable
                    : new IllegalStateException(e.getCause());
        }
    }

    private static void giveBack(Object late) {
        Object hold = late instanceof Optional<?> granted ? granted.orElse(null) : late;
        if (hold instanceof Hold unwanted) {
            unwanted.release();
        }
    }

    private void stay(Hold hold) {
        long entered = Monotonic.nanos();
        for (int i = names.size() - 1; i > 0; i--) {
            log.number(hold.fencingToken(names.get(i)));
        }
        log.enter(entered, hold.fencingToken(names.get(0)));
        write(hold);
        LockSupport.parkNanos(random.nextInt(MOST_STAY_NANOS));
        long until = Monotonic.nanos();
        hold.assertValid();
        log.stillThere(until);
        write(hold);
    }

    private void write(Hold hold) {
        names.forEach(name -> board.write(Act.of(name), hold.fencingToken(name)));
    }

    private void release(Hold hold) throws InterruptedException {
        switch (random.nextInt(4)) {
            case 0 -> hold.close();
            case 1 -> ForkJoinPool.commonPool().execute(hold::release);
            default -> {
                CompletableFuture<Void> released = new CompletableFuture<>();
                ForkJoinPool.commonPool()
                        .execute(() -> hold.release().whenComplete((done, failure) -> {
                            released.complete(null);
                        }));
                result(released.thenApply(done -> hold));
            }
        }
    }
}
