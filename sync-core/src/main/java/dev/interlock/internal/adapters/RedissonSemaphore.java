package dev.interlock.internal.adapters;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.semaphore.LocalPermits;
import dev.interlock.internal.semaphore.LocalSemaphore;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.Pool;
import dev.interlock.internal.semaphore.RemoteSemaphore;
import dev.interlock.internal.semaphore.SemaphoreEffect;
import dev.interlock.internal.semaphore.SemaphoreEffect.Failure;
import dev.interlock.internal.semaphore.SemaphoreEffect.LookAgain;
import dev.interlock.internal.semaphore.SemaphoreEffect.Result;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import dev.interlock.internal.session.Resource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RSemaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a semaphore over a semaphore object of Redisson's: a counter that doesn't know which client has
 * which permits. So permits belong to nobody, and those that are lost on the way stay lost.
 *
 * <p>The session asks Redisson for the permits that it wants in requests that wait for a second: a message that
 * Redisson has missed costs no more than that, one that comes just as a request ends costs another. There is at most
 * one request at a time for each number of permits. One whose permits are no longer wanted stands until its second is
 * over, and what it brings goes back to the pool: a cancelled request would stay among those that Redisson notifies of
 * permits one by one, and wouldn't pass the notification on.
 */
public final class RedissonSemaphore implements RemoteSemaphore, Pool, Participant, Resource.Owner<LocalPermits> {
    private static final Logger log = LoggerFactory.getLogger(RedissonSemaphore.class);
    private static final RareLog UNKNOWN = new RareLog();

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
    private static final Duration SLICE = Duration.ofSeconds(1);
    private static final long LOOK_AGAIN_MILLIS = 1;

    private final RedisSession session;
    private final RSemaphore semaphore;
    private final String name;
    private final LocalPermits local;
    private final Resource<LocalPermits> resource;

    // The rest is used in events only.

    private int wanted;

    /** By the number of permits. */
    private final Map<Integer, Requests> requests = new HashMap<>();

    private boolean closed;

    /** Completes when Redisson has answered all that was given back or taken away so far. */
    private CompletableFuture<Void> said = DONE;

    /** Completes when Redisson has answered what the current event has given back or taken away. */
    private CompletableFuture<Void> told = DONE;

    /** How many permits the pool had at the last look, plus those added since if that was a debt. */
    private long seen;

    /** Creates the remote half over this semaphore object. */
    public RedissonSemaphore(RedisSession session, RSemaphore semaphore, LocalSemaphore local) {
        this.session = session;
        this.semaphore = semaphore;
        this.name = Names.quoted(semaphore.getName());
        long sliceNanos = session.settings().handoffSliceNanos();
        this.local = new LocalPermits(semaphore.getName(), false, false, sliceNanos, local, this);
        this.resource = new Resource<>(session, semaphore.getName(), this.local, this);
    }

    @Override
    public Resource<LocalPermits> resource() {
        return resource;
    }

    @Override
    public int permits() {
        return 0;
    }

    @Override
    public void carryOut(LocalPermits known, long now) {
        var unused = told();
        keepAlive();
    }

    @Override
    public CompletableFuture<Void> told() {
        for (SemaphoreEffect next = local.effects.poll(); next != null; next = local.effects.poll()) {
            if (next instanceof Result end) {
                end.operation().result.complete(end.result());
            } else if (next instanceof Failure end) {
                end.operation().result.completeExceptionally(end.cause());
            } else if (next instanceof LookAgain) {
                session.schedule(() -> resource.run((known, now) -> known.lookAgain()), LOOK_AGAIN_MILLIS);
            }
        }
        CompletableFuture<Void> answered = told;
        told = DONE;
        return answered;
    }

    // ---- waiting

    @Override
    public void want(int permits) {
        wanted = permits;
        ask();
    }

    private void ask() {
        if (wanted > 0 && !closed) {
            requests.computeIfAbsent(wanted, Requests::new).loop.beat(true);
        }
    }

    /** The requests for so many permits. */
    private final class Requests implements CommandLoop.Speaker<Boolean> {
        private final int permits;
        private final CommandLoop<Boolean> loop = new CommandLoop<>(session, resource, this);

        /** Used by what is done between events, one after another. */
        private CompletableFuture<Boolean> latest = new CompletableFuture<>();

        Requests(int permits) {
            this.permits = permits;
        }

        @Override
        public long dueNanos() {
            return SLICE.toNanos();
        }

        /**
         * Redisson drops the answer to a request if a message comes just as that ends: so one that is silent is
         * cancelled. Redisson gives back permits that come for it nevertheless.
         */
        @Override
        public @Nullable Supplier<CompletableFuture<Boolean>> say(long nowNanos) {
            if (permits != wanted || closed) {
                resource.later(this::cancel);
                return null;
            }
            return () -> {
                cancel();
                latest = call(() -> semaphore.tryAcquireAsync(permits, SLICE));
                return unlessCancelled(latest);
            };
        }

        private void cancel() {
            latest.cancel(false);
        }

        @Override
        public void answered(long sentNanos, Boolean acquired) {
            session.outage().heard();
            if (acquired) {
                grant(permits);
            }
            ask();
        }

        @Override
        public void failed(Throwable cause) {
            if (Failures.isLateSubscription(cause)) {
                session.outage().heard();
            } else {
                session.outage().failed(loop.sentNanos(), cause);
            }
        }

        @Override
        public boolean refused(Throwable cause) {
            boolean isThrown = local.isWaiting();
            local.failed(() -> new IllegalStateException("Redisson refuses semaphore " + name, cause));
            return isThrown;
        }
    }

    private static <T> CompletableFuture<T> unlessCancelled(CompletableFuture<T> answer) {
        CompletableFuture<T> result = new CompletableFuture<>();
        answer.whenComplete((value, failure) -> {
            if (failure == null) {
                result.complete(value);
            } else if (!answer.isCancelled()) {
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    // Redisson throws at once if its client is shut down.
    private static <T> CompletableFuture<T> call(Supplier<RFuture<T>> command) {
        try {
            return command.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void grant(int permits) {
        if (wanted == permits) {
            wanted = 0;
            local.granted(permits, session.now());
        } else {
            add(permits);
        }
    }

    private void keepAlive() {
        requests.values().removeIf(request -> !request.loop.isBusy());
        if (wanted > 0 || !requests.isEmpty() || local.isWaiting() || !said.isDone()) {
            session.pin(this, this);
        } else {
            session.unpin(this, this);
        }
    }

    @Override
    public void pulse() {
        resource.run((known, now) -> {
            List.copyOf(requests.values()).forEach(request -> request.loop.beat(false));
            if (session.outage().isTooLong()) {
                Throwable cause = session.outage().cause();
                local.failed(
                        () -> new RedisUnavailableException("Redis has not answered for semaphore " + name, cause));
            }
            ask();
        });
    }

    // ---- giving back

    @Override
    @CanIgnoreReturnValue
    public long giveBack(int permits) {
        add(permits);
        return 0;
    }

    @Override
    public void add(int permits) {
        if (seen < 0) {
            seen += permits;
        }
        told = say(
                ReliableCommand.send(
                                session,
                                resource,
                                session.settings().leaseMillis(),
                                failure -> !Failures.isRefused(failure),
                                isFirst -> change(permits))
                        .confirmed(),
                permits);
        if (permits < 0 || seen < 0) {
            // It was sent before the look, so this sees it; an older look is corrected by this one.
            told.whenComplete((done, failure) -> look());
        }
    }

    @Override
    public boolean fits(long change) {
        // Redis counts on.
        return true;
    }

    @Override
    public void endLease(long nowNanos) {
        // Permits that belong to nobody have none.
    }

    private CompletableFuture<Boolean> change(int permits) {
        return call(() -> permits > 0 ? semaphore.releaseAsync(permits) : semaphore.addPermitsAsync(permits))
                .thenApply(done -> true);
    }

    /**
     * Redisson doesn't say whether a command that it has had no answer to was executed, so only what was refused is
     * repeated.
     */
    private CompletableFuture<Void> say(CompletableFuture<?> command, int permits) {
        long sentNanos = session.now();
        CompletableFuture<Void> answered = new CompletableFuture<>();
        said = CompletableFuture.allOf(said, answered);
        command.whenComplete((done, failure) -> {
            if (failure == null) {
                session.outage().heard();
            } else {
                Throwable cause = Failures.cause(failure);
                if (Failures.isTransient(cause)) {
                    session.outage().failed(sentNanos, cause);
                }
                UNKNOWN.say(
                        name,
                        often -> log.warn(
                                "It isn't known whether {} permits were added to semaphore {}: {}{}",
                                permits,
                                name,
                                Failures.brief(cause),
                                often));
            }
            answered.complete(null);
            // Has an end that sees whether this is still needed.
            resource.run((known, now) -> {});
        });
        return answered;
    }

    @Override
    public CompletableFuture<Void> confirmed() {
        return said;
    }

    // ---- what is asked once

    @Override
    public void operate(Operation operation) {
        switch (operation.verb) {
            case JOIN -> local.done(operation, 0, session.now());
            case LOOK -> hear(operation, () -> call(semaphore::availablePermitsAsync));
            case TAKE, TAKE_IN_TURN ->
                hear(
                        operation,
                        () -> call(() -> semaphore.tryAcquireAsync(operation.amount))
                                .thenApply(taken -> taken ? operation.amount : -1));
            case DRAIN -> hear(operation, () -> call(semaphore::drainPermitsAsync));
            case RESIZE ->
                local.fail(
                        operation,
                        new UnsupportedOperationException(
                                "an RSemaphore doesn't know how many permits it has in all; see its addPermits()"));
        }
    }

    private void look() {
        resource.run((known, now) -> operate(new Operation(Verb.LOOK, 0)));
    }

    private void hear(Operation operation, Supplier<CompletableFuture<Integer>> command) {
        long sentNanos = session.now();
        resource.send(command).whenComplete((result, failure) -> {
            resource.run((known, now) -> {
                if (failure == null) {
                    answered(operation, result);
                } else if (Failures.isTransient(failure)) {
                    // The thread that waits gives up by its own time-out.
                    session.outage().failed(sentNanos, Failures.cause(failure));
                } else {
                    local.fail(operation, Failures.cause(failure));
                }
            });
        });
    }

    /** Permits that an answer has brought go back if nobody waits for it any more. */
    private void answered(Operation operation, int result) {
        session.outage().heard();
        if (operation.verb == Verb.LOOK) {
            seen = result;
        } else if (operation.verb == Verb.DRAIN) {
            seen = 0;
        }
        int brought = operation.brought(result);
        if (!local.done(operation, result, session.now()) && brought > 0) {
            add(brought);
        }
    }

    @Override
    public boolean isValid(long nowNanos) {
        return true;
    }

    @Override
    public boolean isContended() {
        // Redisson tells nobody that others wait.
        return true;
    }

    @Override
    public boolean mayHave(int permits) {
        return seen >= permits;
    }

    @Override
    public boolean isOverdrawn() {
        return seen < 0;
    }

    @Override
    public @Nullable Renewal keep(long now) {
        return null;
    }

    @Override
    public @Nullable String retire() {
        resource.run((known, now) -> known.failed(session::closure));
        return null;
    }

    @Override
    public CompletableFuture<?> close() {
        return resource.<CompletableFuture<?>>call((known, now) -> {
            closed = true;
            wanted = 0;
            requests.values().forEach(request -> resource.later(request::cancel));
            requests.clear();
            known.failed(session::closure);
            return said;
        });
    }

    @Override
    public String toString() {
        return "an adapted " + semaphore.getClass().getSimpleName();
    }
}
