package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.StateSync;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The remote half over our own script. The session has an <em>account</em> in Redis, which sums up all that the session
 * was granted, gave back and contributed since the account was opened; a command says the sums. What can't be said as a
 * sum (take what is there, change the number of permits) is one of the {@link Operations}.
 *
 * <p>Redis closes the account of a session of which it hasn't heard for the lease: permits that are owned return to the
 * pool. The session then opens another one, whose <em>epoch</em> is greater.
 */
public final class ScriptSemaphore extends StateSync implements RemoteSemaphore {
    private static final Script TELL = Script.load("semaphore/tell");

    /** The pulse asks every second; before that only for what will have changed by then. */
    private static final long PULSE_MILLIS = 1_000;

    private final String name;
    private final boolean owned;
    private final Recipient recipient;
    private final List<Object> keys;

    @GuardedBy("mutex")
    private final Operations operations = new Operations();

    @GuardedBy("mutex")
    private final Account account;

    @GuardedBy("mutex")
    private int permits;

    /** How many permits are wanted beyond those granted. */
    @GuardedBy("mutex")
    private int wanted;

    /** Whether other sessions wait, as last heard. */
    @GuardedBy("mutex")
    private boolean contended;

    @GuardedBy("mutex")
    private long available;

    /** Whether the account is to be closed: its permits have been given up for lost. */
    @GuardedBy("mutex")
    private boolean leaving;

    @GuardedBy("mutex")
    private boolean closing;

    /** Whether a command was sent since Redis has answered last. */
    @GuardedBy("mutex")
    private boolean asked;

    /** Whether that was so at the last beat of the lease renewer already. */
    @GuardedBy("mutex")
    private boolean askedAtLastBeat;

    /** Joins the semaphore of that name, which is as stated unless Redis knows better. */
    public ScriptSemaphore(RedisSession session, String name, int permits, boolean owned, Recipient recipient) {
        super(session, Keys.prefix(session.key(name)) + "semaphore");
        String prefix = Keys.prefix(session.key(name));
        this.name = name;
        this.permits = permits;
        this.available = permits;
        this.owned = owned;
        this.recipient = recipient;
        this.keys =
                List.of(key, prefix + "semaphore-queue", prefix + "semaphore-sessions", prefix + "semaphore-retired");
        this.account = new Account(session.nextSequence());
    }

    @Override
    public ReentrantLock mutex() {
        return mutex;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isOwned() {
        return owned;
    }

    @Override
    public int permits() {
        mutex.lock();
        try {
            return permits;
        } finally {
            mutex.unlock();
        }
    }

    // ---- commands

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> join() {
        return operate("join", 0).thenAccept(done -> {});
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> tell(int back, int wants) {
        if (back == 0 && wants == wanted) {
            return CompletableFuture.completedFuture(null);
        }
        account.giveBack(back);
        wanted = wants;
        return back > 0 ? insist() : tellAndHear();
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> add(int more) {
        long sum = pool() + more;
        if (sum > Integer.MAX_VALUE) {
            throw new Error("Maximum permit count exceeded");
        } else if (sum < Integer.MIN_VALUE) {
            throw new Error("Permit count underflow");
        }
        account.contribute(more);
        return insist();
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> confirmed() {
        return tellAndHear();
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Integer> take(int number) {
        return operate("take", number);
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Integer> drain() {
        return operate("drain", 0);
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Integer> available() {
        return operate("look", 0);
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> resize(int number) {
        return operate("resize", number).thenAccept(done -> {});
    }

    @GuardedBy("mutex")
    private CompletableFuture<Integer> operate(String verb, int amount) {
        Operation operation = new Operation(verb, amount);
        operations.add(operation);
        tell();
        return operation.result;
    }

    @Override
    @GuardedBy("mutex")
    protected Call command(long version) {
        if (!asked) {
            asked = true;
            askedAtLastBeat = false;
        }
        account.said();
        Operation operation = operations.next(version);
        return TELL.on(
                keys,
                session.id(),
                account.epoch(),
                version,
                account.isFresh() ? 1 : 0,
                account.returned(),
                account.granted() + wanted,
                account.contributed(),
                leaving ? 1 : 0,
                session.settings().leaseMillis(),
                permits,
                owned ? 1 : 0,
                operation == null ? 0 : operation.number(),
                operation == null ? "" : operation.verb,
                operation == null ? 0 : operation.amount);
    }

    // ---- replies and messages

    @Override
    @GuardedBy("mutex")
    protected void answered(List<Object> fields) {
        asked = false;
        SemaphoreReply reply = SemaphoreReply.of(fields);
        if (reply.status() == SemaphoreReply.Status.DISAGREED) {
            disagree(reply);
            return;
        }
        available = reply.available();
        permits = reply.permits();
        complete(reply);
        if (reply.isGone()) {
            reopen(reply);
            return;
        }
        account.heard();
        contended = reply.contended();
        grantUpTo(reply.granted());
        long endMillis = reply.leaseEndMillis();
        if (wanted > 0 && endMillis != SemaphoreReply.NEVER && endMillis < PULSE_MILLIS) {
            askIn(endMillis);
        }
        if (!operations.isEmpty() || leaving) {
            tell();
        }
    }

    @GuardedBy("mutex")
    private void grantUpTo(long sum) {
        if (sum > account.granted() && !leaving) {
            long more = account.grantUpTo(sum);
            wanted = (int) Math.max(0, wanted - more);
            recipient.granted(Ints.saturatedCast(more));
        }
    }

    /** Completes the first operation if that is what the account had done last. */
    @GuardedBy("mutex")
    private void complete(SemaphoreReply reply) {
        boolean losing = owned && (leaving || reply.status() == SemaphoreReply.Status.CLOSED);
        Operation done = operations.removeDone(reply, losing);
        if (done == null) {
            return;
        }
        int brought = Operations.permits(done, reply.result());
        account.take(brought);
        long result = done.looks() ? reply.result() + account.unsaid() : reply.result();
        if (!done.result.complete(Ints.saturatedCast(result)) && brought > 0) {
            // Nobody waits for it any more.
            account.giveBack(brought);
            tell();
        }
    }

    /** The account is gone. Opens another one, with what Redis hasn't heard of the old one. */
    @GuardedBy("mutex")
    private void reopen(SemaphoreReply reply) {
        boolean wasLeaving = leaving;
        account.reopen(session.nextSequence(), reply, owned);
        leaving = false;
        if (owned && !wasLeaving) {
            recipient.lost("Redis has closed the session's account");
        }
        leaving = closing && account.contributed() != 0;
        if (account.contributed() != 0 || wanted > 0 || !operations.isEmpty()) {
            tell();
        }
    }

    @GuardedBy("mutex")
    private void disagree(SemaphoreReply actual) {
        String use = owned ? "whose permits belong to sessions" : "whose permits belong to nobody";
        String message = actual.owned() == owned
                ? "semaphore " + Names.quoted(name) + " was stated to have " + permits + " permits, but has "
                        + actual.permits() + "; resize() changes that"
                : "semaphore " + Names.quoted(name) + " was stated to be one " + use + ", but it isn't";
        Operation join = operations.removeJoin();
        if (join == null) {
            refused(new IllegalStateException(message));
            return;
        }
        join.result.completeExceptionally(new IllegalArgumentException(message));
        if (!operations.isEmpty()) {
            tell();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected void refused(Throwable failure) {
        asked = false;
        operations.failAll(failure);
        recipient.failed(() -> Failures.refusal("semaphore " + Names.quoted(name), failure));
    }

    @Override
    @GuardedBy("mutex")
    protected void mailed(Mail mail) {
        if (mail instanceof Mail.Demand) {
            contended = true;
        } else if (mail instanceof Mail.Booking booking && booking.epoch() == account.epoch() && !leaving) {
            booked(booking.granted());
        }
    }

    @GuardedBy("mutex")
    private void booked(long sum) {
        if (session.runner().isReplicated()) {
            if (sum > account.granted()) {
                tell();
            }
        } else if (sum - account.granted() > wanted) {
            // More than is wanted: threads have left in between, or another client has written it. Redis knows.
            tell();
        } else {
            grantUpTo(sum);
            keepAlive();
        }
    }

    // ---- state

    @Override
    @GuardedBy("mutex")
    public boolean isValid() {
        return !owned || (!leaving && session.now() - validUntilNanos() < 0);
    }

    @Override
    @GuardedBy("mutex")
    public boolean isContended() {
        return contended;
    }

    @Override
    @GuardedBy("mutex")
    public boolean isOverdrawn() {
        return pool() < 0;
    }

    /** How many permits the pool has as far as is known here. */
    @GuardedBy("mutex")
    private long pool() {
        return available + account.unsaid();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isHeld() {
        return recipient.isHeld();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isWaiting() {
        return wanted > 0 || !operations.isEmpty() || recipient.isWaiting();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isLeased() {
        return owned && account.hasPermits();
    }

    @Override
    public void pulse() {
        super.pulse();
        if (session.outage().isTooLong()) {
            Throwable cause = session.outage().cause();
            mutex.lock();
            try {
                if (recipient.isWaiting()) {
                    recipient.failed(() -> unavailable(cause));
                }
            } finally {
                mutex.unlock();
            }
        }
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException("Redis has not answered for semaphore " + Names.quoted(name), cause);
    }

    @Override
    public @Nullable Renewal keep(long now) {
        mutex.lock();
        try {
            boolean silent = asked && askedAtLastBeat;
            askedAtLastBeat = asked;
            if (silent && isLeased() && !leaving && now - validUntilNanos() >= 0) {
                // Another session may have these permits by now, and Redis doesn't answer.
                leaving = true;
                recipient.lost("their lease is over, and Redis doesn't answer");
                tell();
            }
            return super.keep(now);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected CompletableFuture<?> closed() {
        closing = true;
        leaving = true;
        if (owned) {
            recipient.lost("the session was closed");
        }
        operations.cancelAll(new IllegalStateException("the Interlock session is closed"));
        recipient.failed(() -> new IllegalStateException("the Interlock session is closed"));
        wanted = 0;
        return tellAndHear();
    }

    @Override
    @GuardedBy("mutex")
    protected String description() {
        return "Permits = " + pool();
    }
}
