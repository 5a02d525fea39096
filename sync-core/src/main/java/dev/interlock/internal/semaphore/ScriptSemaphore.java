package dev.interlock.internal.semaphore;

import com.google.common.base.Ascii;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Locked;
import dev.interlock.internal.Names;
import dev.interlock.internal.Stake;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.SemaphoreEffect.Ask;
import dev.interlock.internal.semaphore.SemaphoreEffect.Dropped;
import dev.interlock.internal.semaphore.SemaphoreEffect.Failure;
import dev.interlock.internal.semaphore.SemaphoreEffect.Insist;
import dev.interlock.internal.semaphore.SemaphoreEffect.LookAgain;
import dev.interlock.internal.semaphore.SemaphoreEffect.Lost;
import dev.interlock.internal.semaphore.SemaphoreEffect.Result;
import dev.interlock.internal.semaphore.SemaphoreEffect.Tell;
import dev.interlock.internal.semaphore.SemaphoreEffect.Unnoticed;
import dev.interlock.internal.semaphore.SemaphoreState.Statement;
import dev.interlock.internal.session.Effects;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.StateSync;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half over our own script. Each event changes the {@link SemaphoreState}, under the mutex, and its effects
 * are carried out then.
 */
public final class ScriptSemaphore extends StateSync implements RemoteSemaphore {
    private static final Logger log = LoggerFactory.getLogger(ScriptSemaphore.class);
    private static final Script TELL = Script.load("semaphore/tell");
    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
    private static final long LOOK_AGAIN_MILLIS = 1;

    private final String name;
    private final boolean owned;
    private final List<Object> keys;

    @GuardedBy("mutex")
    private final SemaphoreState state;

    private final Locked<SemaphoreState> locked;

    /**
     * Joins the semaphore of that name, which is as stated unless Redis knows better.
     *
     * @param owned whether permits belong to the session that was granted them, and return to the pool when it dies
     * @param fair whether threads of this session are served in the order in which they have come
     */
    public ScriptSemaphore(
            RedisSession session, String name, int permits, boolean owned, boolean fair, LocalSemaphore local) {
        super(session, Keys.prefix(session.key(name)) + "semaphore");
        String prefix = Keys.prefix(session.key(name));
        this.name = name;
        this.owned = owned;
        this.keys =
                List.of(key, prefix + "semaphore-queue", prefix + "semaphore-sessions", prefix + "semaphore-retired");
        this.state = new SemaphoreState(
                name,
                permits,
                owned,
                fair,
                session.settings().handoffSliceNanos(),
                local,
                session.nextSequence(),
                lease);
        this.locked = new Locked<>(mutex, state);
    }

    @Override
    public ReentrantLock mutex() {
        return mutex;
    }

    @Override
    public int permits() {
        return locked.call(SemaphoreState::permits);
    }

    @Override
    @GuardedBy("mutex")
    public LocalPermits local() {
        return state.local();
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> carryOut() {
        Effects<SemaphoreEffect> effects = state.local().effects;
        boolean tells = false;
        boolean insists = false;
        for (SemaphoreEffect next = effects.poll(); next != null; next = effects.poll()) {
            tells |= next instanceof Tell;
            insists |= next instanceof Insist;
            carryOut(next);
        }
        if (insists) {
            return insist();
        } else if (tells) {
            tell();
        }
        return DONE;
    }

    @GuardedBy("mutex")
    private void carryOut(SemaphoreEffect effect) {
        if (effect instanceof Result end) {
            end.operation().result.complete(end.result());
        } else if (effect instanceof Failure end) {
            end.operation().result.completeExceptionally(end.cause());
        } else if (effect instanceof Ask ask) {
            askIn(ask.millis());
        } else if (effect instanceof LookAgain) {
            session.schedule(() -> run(LocalPermits::lookAgain), LOOK_AGAIN_MILLIS);
        } else if (effect instanceof Lost lost) {
            session.reportLoss(lost.loss(), state.local().holdings.listeners);
        } else if (effect instanceof Unnoticed unnoticed) {
            session.reportUnnoticed(unnoticed.loss());
        } else if (effect instanceof Dropped dropped) {
            log.warn(
                    "It isn't known whether {} permits were added to semaphore {} before Redis forgot the session",
                    dropped.permits(),
                    Names.quoted(name));
        }
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> confirmed() {
        return tellAndHear();
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        if (!wanted.test(name)) {
            return null;
        }
        long now = session.now();
        return locked.call(known -> {
            long held = known.local().holdings.valid();
            return Stake.ofWaiting(name, "semaphore", known.local().waiters.parked(now))
                    .holding(held);
        });
    }

    // ---- commands, replies and messages

    @Override
    @GuardedBy("mutex")
    protected Call command(long version) {
        Statement said = state.statement(version, session.now());
        Operation operation = said.operation();
        return TELL.on(
                keys,
                session.id(),
                said.epoch(),
                version,
                said.fresh() ? 1 : 0,
                said.returned(),
                said.wanted(),
                said.contributed(),
                said.leaves() ? (said.ends() ? 2 : 1) : 0,
                session.settings().leaseMillis(),
                said.permits(),
                owned ? 1 : 0,
                operation == null ? 0 : operation.number,
                operation == null ? "" : Ascii.toLowerCase(operation.verb.name()),
                operation == null ? 0 : operation.amount,
                said.granted(),
                said.taken(),
                said.born());
    }

    @Override
    protected Object leasesKey() {
        return keys.get(2);
    }

    @Override
    @GuardedBy("mutex")
    protected void answered(List<Object> fields) {
        SemaphoreReply reply = SemaphoreReply.of(fields);
        long nextEpoch = reply.isGone() ? session.nextSequence() : 0;
        state.answered(reply, answeredVersion(), nextEpoch, session.now());
        if (reply.isGone() && state.isOwing()) {
            confirmByNext();
        }
        carryOut();
    }

    @Override
    @GuardedBy("mutex")
    protected void refused(Throwable failure) {
        state.refused(failure);
        carryOut();
    }

    @Override
    @GuardedBy("mutex")
    protected void mailed(Mail mail) {
        if (mail instanceof Mail.Demand) {
            state.demanded(lastVersion());
        } else if (mail instanceof Mail.Booking booking) {
            state.booked(booking.epoch(), booking.granted(), !session.runner().isReplicated(), session.now());
            carryOut();
            keepAlive();
        }
    }

    // ---- what the session asks

    @Override
    @GuardedBy("mutex")
    protected boolean isHeld() {
        return !state.local().holdings.isEmpty();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isWaiting() {
        return state.isWaiting();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isLeased() {
        return state.isLeased();
    }

    @Override
    public void pulse() {
        super.pulse();
        if (session.outage().isTooLong()) {
            Throwable cause = session.outage().cause();
            run(local -> local.failed(() -> new RedisUnavailableException(
                    "Redis has not answered for semaphore " + Names.quoted(name), cause)));
        }
    }

    @Override
    public @Nullable Renewal keep(long now) {
        mutex.lock();
        try {
            state.beat(now);
            carryOut();
            return super.keep(now);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public @Nullable String retire() {
        mutex.lock();
        try {
            state.local().failed(session::closure);
            carryOut();
            keepAlive();
            return held();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public @Nullable String held() {
        mutex.lock();
        try {
            long held = state.local().holdings.valid();
            return held == 0 ? null : held + " of the permits of " + Names.quoted(name);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected CompletableFuture<?> closed() {
        state.close();
        carryOut();
        return tellAndHear();
    }

    @Override
    @GuardedBy("mutex")
    protected String description() {
        return "Permits = " + state.pool();
    }
}
