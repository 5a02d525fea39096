package dev.interlock.internal.adapters;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.latch.LatchEffect;
import dev.interlock.internal.latch.LatchState;
import dev.interlock.internal.latch.LatchSync;
import dev.interlock.internal.latch.LocalLatch;
import dev.interlock.internal.latch.RemoteLatch;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import dev.interlock.internal.session.Resource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFuture;

/**
 * The remote half of a latch over a latch object of Redisson's, whose scripts count. On behalf of all threads that wait
 * there is one request to Redisson at a time, which waits for a short while only: Redisson may have missed the message
 * that the latch is open.
 */
public final class RedissonLatch
        implements RemoteLatch, Participant, Resource.Owner<LatchState>, CommandLoop.Speaker<Boolean> {
    /** For how long Redisson waits by a message before it is made to ask again. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RedisSession session;
    private final RCountDownLatch latch;
    private final LocalLatch local;
    private final LatchState state;
    private final Resource<LatchState> resource;
    private final CommandLoop<Boolean> requests;

    /** Creates the remote half over this latch object. */
    public RedissonLatch(RedisSession session, RCountDownLatch latch, LocalLatch local) {
        this.session = session;
        this.latch = latch;
        this.local = local;
        this.state = new LatchState(latch.getName(), 0, LatchState.UNKNOWN);
        this.resource = new Resource<>(session, latch.getName(), state, this);
        this.requests = new CommandLoop<>(session, resource, this);
    }

    @Override
    public long dueNanos() {
        return LOOK_NANOS;
    }

    @Override
    public LatchState state() {
        return state;
    }

    @Override
    public CompletableFuture<?> join() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<?> ask() {
        return asked(latch::getCountAsync).whenComplete((count, failure) -> {
            if (count != null) {
                counted(count);
            }
        });
    }

    private void counted(long count) {
        resource.run((known, now) -> {
            if (count == 0) {
                known.forgotten();
            } else {
                known.counted(count);
            }
        });
    }

    @Override
    public void countDown() {
        // Publishes what this thread has done before: threads that the latch lets pass take the mutex later.
        boolean isToBeTold = resource.call((known, now) -> {
            known.ensureAlive(session.isClosed());
            return known.countDown();
        });
        if (!isToBeTold) {
            return;
        }
        // Without an answer nobody knows whether it has counted, and a repeat might count twice.
        ReliableCommand<Boolean> command = ReliableCommand.send(
                session,
                resource,
                session.settings().leaseMillis(),
                failure -> !Failures.isRefused(failure),
                isFirst -> asked(latch::countDownAsync).thenApply(done -> true));
        CompletableFuture<Boolean> counted = command.confirmed();
        session.expect(counted, counted);
        try {
            LatchSync.hear(session, state, counted, "has not confirmed the count-down of");
        } catch (RedisUnavailableException e) {
            Throwable refusal = command.refusal();
            throw refusal == null ? e : state.refusal(refusal);
        }
    }

    private <T> CompletableFuture<T> asked(Supplier<RFuture<T>> command) {
        long sent = session.now();
        CompletableFuture<T> answer;
        try {
            answer = command.get().toCompletableFuture();
        } catch (RuntimeException e) {
            // A client that is shut down throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
        return answer.whenComplete((result, failure) -> {
            if (failure == null || Failures.isLateSubscription(failure)) {
                session.outage().heard();
            } else if (Failures.isTransient(failure)) {
                session.outage().failed(sent, Failures.cause(failure));
            }
        });
    }

    @Override
    public CompletableFuture<?> arrive(boolean asks) {
        resource.run((known, now) -> {
            known.ensureUsable(session.isClosed());
            known.arrive(false);
            session.pin(this, this);
        });
        return asks ? ask() : CompletableFuture.completedFuture(null);
    }

    @Override
    public void leave() {
        resource.run((known, now) -> {
            if (known.leave()) {
                session.unpin(this, this);
            }
        });
    }

    // ---- requests to Redisson that wait for the latch

    @Override
    public @Nullable Supplier<CompletableFuture<Boolean>> say(long nowNanos) {
        return state.isWaiting() && !session.isClosed()
                ? () -> asked(() -> latch.awaitAsync(LOOK_NANOS, TimeUnit.NANOSECONDS))
                : null;
    }

    @Override
    public void answered(long sentNanos, Boolean opened) {
        if (opened) {
            // Redisson's clients can set their latch again, so the name is free for another object.
            state.forgotten();
        } else {
            // Not at once: a request made by the answer to another would go round on Redisson's threads.
            session.execute(this::beat);
        }
    }

    @Override
    public boolean refused(Throwable cause) {
        return state.refused(cause);
    }

    @Override
    public void carryOut(LatchState known, long now) {
        for (LatchEffect next = known.effects.poll(); next != null; next = known.effects.poll()) {
            switch (next) {
                case TELL -> requests.beat(true);
                case OPEN -> local.open();
            }
        }
    }

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        return null;
    }

    /**
     * Also looks, since an answer says less than that: Redisson takes a channel to which a client may not listen any
     * more for one on which nothing is heard.
     */
    @Override
    public void pulse() {
        beat();
        ask().whenComplete((count, failure) -> {
            if (failure != null && !Failures.isTransient(failure)) {
                resource.run((known, now) -> known.refused(Failures.cause(failure)));
            }
        });
    }

    private void beat() {
        resource.run((known, now) -> requests.beat(true));
    }

    @Override
    public CompletableFuture<?> close() {
        // Threads that wait check that once a second.
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public String toString() {
        return state.isOpen() ? "open" : "counting";
    }
}
