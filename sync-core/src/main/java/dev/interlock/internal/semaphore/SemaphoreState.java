package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.semaphore.Holdings.Release;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreEffect.Ask;
import dev.interlock.internal.semaphore.SemaphoreEffect.Dropped;
import dev.interlock.internal.semaphore.SemaphoreEffect.Insist;
import dev.interlock.internal.semaphore.SemaphoreEffect.Tell;
import dev.interlock.internal.semaphore.SemaphoreReply.Status;
import dev.interlock.internal.session.Lease;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of one semaphore. Events come in: replies, messages, beats of the lease renewer here, threads at
 * the {@link LocalPermits}. Out come permits for the local half, and the {@linkplain SemaphoreEffect effects} that the
 * owner carries out after each event. It knows no session, thread or clock, and is used with the owner's mutex only.
 *
 * <p>The session has an <em>account</em> in Redis, which sums up all that the session was granted, gave back and
 * contributed since the account was opened; a command says the sums. What can't be said as a sum (take what is there,
 * change the number of permits) is one of the {@link Operations}.
 *
 * <p>Redis closes the account of a session of which it hasn't heard for the lease: permits that are owned return to the
 * pool. The session then opens another one, whose <em>epoch</em> is greater.
 */
final class SemaphoreState implements Pool {
    /** The pulse asks every second; before that only for what will have changed by then. */
    private static final long PULSE_MILLIS = 1_000;

    private final String name;
    private final boolean owned;
    private final LocalPermits local;
    private final Account account;
    private final Operations operations = new Operations();

    /** How many there are in all, as was stated or was last heard. */
    private int permits;

    /** How many permits are wanted beyond those granted: what the next waiter needs, or none. */
    private int wanted;

    /** Whether other sessions wait, as last heard. */
    private boolean contended;

    /** The last command before a message has said that: replies to those until then may be older than the message. */
    private long demandedVersion;

    /** How many permits the pool has, as last heard. It has less than none after a reduction. */
    private long available;

    /** While it is valid, Redis can't have closed the account. */
    private final Lease lease;

    /** Whether the account is to be closed: its permits have been given up for lost. */
    private boolean leaving;

    /** Whether the session is closed, so that the account is to be the last one. */
    private boolean closing;

    /** Whether a command was sent since Redis has last said how the account stands. */
    private boolean asked;

    /** Whether that was so at the last beat of the lease renewer already. */
    private boolean askedAtLastBeat;

    /**
     * What a command has to say.
     *
     * @param wanted up to which sum the session wants to be granted permits
     * @param born when the semaphore was made that the session knows, 0 if it knows none
     * @param leaves whether it closes the account
     * @param ends whether it does so for good
     * @param permits how many there are if the semaphore is new
     * @param operation what is to be done once
     * @param granted how many permits the account was granted, as far as is known here
     * @param taken how many the operations have taken, as far as is known here
     */
    record Statement(
            long epoch,
            boolean fresh,
            long born,
            long returned,
            long wanted,
            long contributed,
            boolean leaves,
            boolean ends,
            int permits,
            @Nullable Operation operation,
            long granted,
            long taken) {}

    /**
     * Creates what is known before Redis has said anything.
     *
     * @param permits how many permits are stated
     * @param owned whether they belong to the session that was granted them
     * @param fair whether threads of this session are served in the order in which they have come
     * @param sliceNanos for how long threads of this session may have permits that other sessions wait for
     * @param epoch that of the first account
     * @param lease until when Redis can't have closed the account
     */
    SemaphoreState(
            String name,
            int permits,
            boolean owned,
            boolean fair,
            long sliceNanos,
            PermitStock stock,
            long epoch,
            Lease lease) {
        this.name = name;
        this.permits = permits;
        this.available = permits;
        this.owned = owned;
        this.account = new Account(epoch);
        this.lease = lease;
        this.local = new LocalPermits(name, owned, fair, sliceNanos, stock, this);
    }

    /** Returns the permits of the session. */
    LocalPermits local() {
        return local;
    }

    /** Returns how many permits there are in all, as was stated or was last heard. */
    int permits() {
        return permits;
    }

    /** Returns how many permits the pool has as far as is known here. */
    long pool() {
        return available + account.unheard();
    }

    /** Returns whether Redis may have to say something that the session waits for. */
    boolean isWaiting() {
        return wanted > 0 || !operations.isEmpty() || local.isWaiting();
    }

    /**
     * Returns whether Redis has to hear of the session within its lease, lest permits or its place are lost; or at some
     * time, though it may have refused that for longer than a lease. Permits that belong to nobody, and were granted by
     * a reply that was lost, come back only if Redis is asked once more.
     */
    boolean isLeased() {
        return wanted > 0 || ownsPermits() || isOwing() || (!owned && asked);
    }

    private boolean ownsPermits() {
        return owned && account.hasPermits();
    }

    // ---- what the pool is told

    @Override
    public long giveBack(int back) {
        account.returned += back;
        local.effects.add(new Insist());
        return account.returned;
    }

    @Override
    public void want(int more) {
        if (more != wanted) {
            wanted = more;
            local.effects.add(new Tell());
        }
    }

    @Override
    public void add(int more) {
        account.contributed += more;
        local.effects.add(new Insist());
    }

    @Override
    public boolean fits(long change) {
        long sum = pool() + change;
        return Ints.saturatedCast(sum) == sum;
    }

    @Override
    public void operate(Operation operation) {
        operations.add(operation);
        local.effects.add(new Tell());
    }

    @Override
    public boolean isValid(long now) {
        return !owned || (!leaving && lease.isValid(now));
    }

    @Override
    public boolean isContended() {
        return contended;
    }

    @Override
    public boolean mayHave(int permits) {
        return pool() >= permits;
    }

    @Override
    public boolean isOverdrawn() {
        return pool() < 0;
    }

    /** Returns what a command of that version says, which is sent now. */
    Statement statement(long version, long now) {
        if (!asked) {
            asked = true;
            askedAtLastBeat = false;
        }
        boolean opens = account.mayOpen(now);
        account.say(version, now);
        return new Statement(
                account.epoch,
                opens,
                account.born,
                account.returned,
                account.granted + wanted,
                account.contributed,
                leaving,
                closing,
                permits,
                operations.next(version),
                account.granted,
                account.taken);
    }

    // ---- replies and messages

    /**
     * Redis has answered.
     *
     * @param version that of the command
     * @param nextEpoch that of the next account, if this one is gone
     */
    void answered(SemaphoreReply reply, long version, long nextEpoch, long now) {
        asked = false;
        if (reply.isGone()) {
            gone(reply, version, nextEpoch, now);
            return;
        }
        available = reply.available();
        permits = reply.permits();
        account.hear(version, reply.born());
        local.holdings.counted(account.heardReturned());
        complete(reply, version, now);
        contended = reply.contended() || version <= demandedVersion;
        grantUpTo(reply.granted(), now);
        if (wanted > 0 && reply.leaseEndMillis() != SemaphoreReply.NEVER && reply.leaseEndMillis() < PULSE_MILLIS) {
            local.effects.add(new Ask(reply.leaseEndMillis()));
        }
        if (!operations.isEmpty() || leaving) {
            local.effects.add(new Tell());
        }
    }

    private void grantUpTo(long sum, long now) {
        long more = sum - account.granted;
        if (more > 0 && !leaving) {
            account.granted = sum;
            wanted = (int) Math.max(0, wanted - more);
            local.granted(Ints.saturatedCast(more), now);
        }
    }

    /** Completes the first operation if that is what the account had done last. */
    private void complete(SemaphoreReply reply, long version, long now) {
        boolean losing = owned && (leaving || reply.isGone());
        complete(operations.removeDoubtful(reply, version, losing), reply, now);
        complete(operations.removeDone(reply, losing), reply, now);
    }

    private void complete(@Nullable Operation done, SemaphoreReply reply, long now) {
        if (done == null) {
            return;
        }
        int brought = done.brought(reply.result());
        if (!reply.isGone()) {
            // The next account has not taken them.
            account.taken += brought;
        }
        long result = done.verb == Verb.LOOK ? reply.result() + account.unheard() : reply.result();
        if (!local.done(done, result, now) && brought > 0) {
            // Nobody waits for it any more.
            account.returned += brought;
            local.effects.add(new Tell());
        }
    }

    /** The account is gone. Opens another one, with what Redis hasn't counted of the old one. */
    private void gone(SemaphoreReply reply, long version, long epoch, long now) {
        boolean isClosed = reply.status() == Status.CLOSED;
        boolean isOtherPool = account.born != 0 && account.born != reply.born();
        boolean wasLeaving = leaving;
        local.holdings.counted(isClosed ? reply.returned() : account.heardReturned());
        List<Release> uncounted = local.holdings.takeUncounted();
        // If the lease has only ended since, permits that were the session's when they were released weren't lost.
        boolean isEarly = isOtherPool || lease.isValid(now);
        List<Release> lost = uncounted.stream()
                .filter(release -> isEarly || !release.isCertain)
                .toList();
        long dropped = account.reopen(reply, version, epoch, owned, now);
        if (dropped != 0) {
            local.effects.add(new Dropped(dropped));
        }
        leaving = closing && account.contributed != 0;
        if (owned && !(wasLeaving && lost.isEmpty())) {
            local.lost(
                    isClosed
                            ? "Redis has closed the session's account"
                            : "Redis doesn't know them any more, since its data was lost or deleted",
                    lost);
        }
        if (reply.status() == Status.DISAGREED) {
            disagree();
            return;
        }
        available = reply.available();
        permits = reply.permits();
        complete(reply, version, now);
        if (account.contributed != 0 || wanted > 0 || !operations.isEmpty()) {
            local.effects.add(new Tell());
        }
    }

    private void disagree() {
        String message = "semaphore " + Names.quoted(name) + " was stated to be one whose permits belong to "
                + (owned ? "sessions" : "nobody") + ", but it isn't";
        Operation join = operations.removeJoin();
        if (join == null) {
            var unused = refused(new IllegalStateException(message));
            return;
        }
        local.fail(join, new IllegalArgumentException(message));
        if (!operations.isEmpty()) {
            local.effects.add(new Tell());
        }
    }

    /** Returns whether Redis has yet to hear what it can't find out by itself. */
    boolean isOwing() {
        return account.isOwing(owned);
    }

    /** Redis refuses what it is told. Returns whether a wait has ended by that. */
    boolean refused(Throwable failure) {
        boolean isThrown = !operations.isEmpty() || local.isWaiting();
        operations.failAll(operation -> local.fail(operation, failure));
        local.failed(() -> Failures.refusal("semaphore " + Names.quoted(name), failure));
        return isThrown;
    }

    /**
     * A message tells that other sessions wait.
     *
     * @param lastVersion that of the last command
     */
    void demanded(long lastVersion) {
        contended = true;
        demandedVersion = lastVersion;
    }

    /**
     * A message tells how many permits the account was granted in all.
     *
     * @param durable whether what the message tells of can't be undone
     */
    void booked(long epoch, long sum, boolean durable, long now) {
        if (epoch != account.epoch || leaving || sum <= account.granted) {
            return;
        }
        if (durable && sum - account.granted <= wanted) {
            grantUpTo(sum, now);
        } else {
            // More than is wanted: threads have left in between, or another client has written it. Redis knows.
            local.effects.add(new Tell());
        }
    }

    // ---- other events

    /** A beat of the lease renewer: the second one since Redis was asked, and hasn't said, ends a lease. */
    void beat(long now) {
        boolean silent = asked && askedAtLastBeat;
        askedAtLastBeat = asked;
        if (silent) {
            endLease(now);
        }
    }

    @Override
    public void endLease(long now) {
        if (ownsPermits() && !leaving && lease.isOver(now)) {
            // Another session may have these permits by now.
            leaving = true;
            local.lost("their lease is over, and Redis doesn't renew it", List.of());
            local.effects.add(new Tell());
        }
    }

    /** The session is closed. */
    void close() {
        Supplier<IllegalStateException> reason = () -> new IllegalStateException("the Interlock session is closed");
        closing = true;
        leaving = true;
        if (owned) {
            local.lost("the session was closed", List.of());
        }
        operations.cancelAll(operation -> local.fail(operation, reason.get()));
        local.failed(reason);
        wanted = 0;
    }
}
