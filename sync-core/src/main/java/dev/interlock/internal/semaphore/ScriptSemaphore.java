package dev.interlock.internal.semaphore;

import com.google.common.base.Ascii;
import dev.interlock.RedisUnavailableException;
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
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Resource;
import dev.interlock.internal.session.StateSync;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half over our own script. Each event changes the {@link SemaphoreState}, and its effects are carried out
 * then.
 */
public final class ScriptSemaphore extends StateSync<LocalPermits> implements RemoteSemaphore {
    private static final Logger log = LoggerFactory.getLogger(ScriptSemaphore.class);
    private static final Script TELL = Script.load("semaphore/tell");
    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
    private static final long LOOK_AGAIN_MILLIS = 1;

    private final String name;
    private final boolean owned;
    private final List<Object> keys;

    /** Of the pool; used in events only. */
    private final SemaphoreState state;

    /**
     * Joins the semaphore of that name, which is as stated unless Redis knows better.
     *
     * @param owned whether permits belong to the session that was granted them, and return to the pool when it dies
     * @param fair whether threads of this session are served in the order in which they have come
     */
    public ScriptSemaphore(
            RedisSession session, String name, int permits, boolean owned, boolean fair, PermitStock local) {
        this(session, name, permits, owned, fair, local, newLease(session));
    }

    private ScriptSemaphore(
            RedisSession session,
            String name,
            int permits,
            boolean owned,
            boolean fair,
            PermitStock local,
            Lease lease) {
        this(
                session,
                name,
                owned,
                lease,
                new SemaphoreState(
                        name,
                        permits,
                        owned,
                        fair,
                        session.settings().handoffSliceNanos(),
                        local,
                        session.nextSequence(),
                        lease));
    }

    private ScriptSemaphore(RedisSession session, String name, boolean owned, Lease lease, SemaphoreState state) {
        super(session, Keys.prefix(session.key(name)) + "semaphore", lease, state.local());
        String prefix = Keys.prefix(session.key(name));
        this.name = name;
        this.owned = owned;
        this.state = state;
        this.keys =
                List.of(key, prefix + "semaphore-queue", prefix + "semaphore-sessions", prefix + "semaphore-retired");
    }

    @Override
    public int permits() {
        return resource.call((known, now) -> state.permits());
    }

    @Override
    public Resource<LocalPermits> resource() {
        return resource;
    }

    @Override
    public void carryOut(LocalPermits known, long now) {
        var unused = told();
    }

    @Override
    public CompletableFuture<Void> told() {
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

    private void carryOut(SemaphoreEffect effect) {
        if (effect instanceof Result end) {
            end.operation().result.complete(end.result());
        } else if (effect instanceof Failure end) {
            end.operation().result.completeExceptionally(end.cause());
        } else if (effect instanceof Ask ask) {
            askIn(ask.millis());
        } else if (effect instanceof LookAgain) {
            session.schedule(() -> resource.run((local, now) -> local.lookAgain()), LOOK_AGAIN_MILLIS);
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
    public CompletableFuture<Void> confirmed() {
        return resource.call((known, now) -> tellAndHear());
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        if (!wanted.test(name)) {
            return null;
        }
        return resource.call((known, now) -> {
            long held = known.holdings.valid();
            return Stake.ofWaiting(name, "semaphore", known.waiters.parked(now)).holding(held);
        });
    }

    // ---- commands, replies and messages

    @Override
    protected Call command(LocalPermits known, long version) {
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
    protected void answered(LocalPermits known, List<Object> fields) {
        SemaphoreReply reply = SemaphoreReply.of(fields);
        long nextEpoch = reply.isGone() ? session.nextSequence() : 0;
        state.answered(reply, answeredVersion(), nextEpoch, session.now());
        if (reply.isGone() && state.isOwing()) {
            confirmByNext();
        }
    }

    @Override
    protected boolean refused(LocalPermits known, Throwable failure) {
        return state.refused(failure);
    }

    @Override
    protected void mailed(LocalPermits known, Mail mail) {
        if (mail instanceof Mail.Demand) {
            state.demanded(lastVersion());
        } else if (mail instanceof Mail.Booking booking) {
            state.booked(booking.epoch(), booking.granted(), !session.runner().isReplicated(), session.now());
        }
    }

    // ---- what the session asks

    @Override
    protected boolean isHeld(LocalPermits known) {
        return !known.holdings.isEmpty();
    }

    @Override
    protected boolean isWaiting(LocalPermits known) {
        return state.isWaiting();
    }

    @Override
    protected boolean isLeased(LocalPermits known) {
        return state.isLeased();
    }

    @Override
    public void pulse() {
        super.pulse();
        if (session.outage().isTooLong()) {
            Throwable cause = session.outage().cause();
            resource.run((local, now) -> local.failed(() -> new RedisUnavailableException(
                    "Redis has not answered for semaphore " + Names.quoted(name), cause)));
        }
    }

    @Override
    public @Nullable Renewal keep(long now) {
        resource.run((known, at) -> state.beat(now));
        return super.keep(now);
    }

    @Override
    public @Nullable String retire() {
        resource.run((local, now) -> local.failed(session::closure));
        return held();
    }

    @Override
    public @Nullable String held() {
        long held = resource.call((local, now) -> local.holdings.valid());
        return held == 0 ? null : held + " of the permits of " + Names.quoted(name);
    }

    @Override
    protected CompletableFuture<?> closed(LocalPermits known) {
        state.close();
        carryOut(known, session.now());
        return tellAndHear();
    }

    @Override
    protected String description(LocalPermits known) {
        return "Permits = " + state.pool();
    }
}
