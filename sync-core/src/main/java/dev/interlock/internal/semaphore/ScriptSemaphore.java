package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.StateSync;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The remote half over our own script. The session has an <em>account</em> in Redis, in which all that it was granted,
 * gave back and contributed is summed up since the account was opened; a command says the sums, so that a repeated one
 * says nothing new. What can't be said as a sum (take what is there, change the number of permits) is an
 * <em>operation</em> with a number, of which the account knows the last.
 *
 * <p>Redis closes the account of a session of which it hasn't heard for the lease: permits that are owned return to the
 * pool. The session then opens another one, whose <em>epoch</em> is greater. Whatever an old account had that Redis
 * hadn't heard of yet goes over to the new one, but for permits: those are lost.
 */
public final class ScriptSemaphore extends StateSync implements RemoteSemaphore {
    private static final Script TELL = Script.load("semaphore/tell");
    private static final long NEVER = -1;

    /** The pulse asks every second; before that only for what will have changed by then. */
    private static final long PULSE_MILLIS = 1_000;

    private static final int CLOSED = 0;
    private static final int UNKNOWN = -1;
    private static final int DISAGREED = 2;

    /** Something that is to be done once. */
    private static final class Operation {
        final String verb;
        final int amount;
        final CompletableFuture<Integer> result = new CompletableFuture<>();

        /** 0 if it was not sent in this epoch. */
        long number;

        Operation(String verb, int amount) {
            this.verb = verb;
            this.amount = amount;
        }

        /** Whether it gives the session permits. */
        boolean takes() {
            return verb.equals("take") || verb.equals("drain");
        }
    }

    private final String name;
    private final boolean owned;
    private final Recipient recipient;
    private final List<Object> keys;
    private final Deque<Operation> operations = new ArrayDeque<>();

    private int permits;
    private long epoch;

    /** Whether Redis has answered nothing in this epoch. */
    private boolean fresh = true;

    /** Sums since the account was opened. */
    private long granted;

    private long taken;
    private long returned;
    private long contributed;

    /** What of the sums Redis is known to have. */
    private long heardReturned;

    private long heardContributed;

    /** What the last command said. */
    private long saidReturned;

    private long saidContributed;

    /** How many permits are wanted beyond those granted. */
    private int wanted;

    /** How many others wait, as last heard. */
    private boolean contended;

    private long available;

    /** Whether the account is to be closed: its permits have been given up for lost. */
    private boolean leaving;

    private boolean closing;

    /** When the first command was sent of those that have not been answered, if any. */
    private long askedNanos;

    private boolean asked;

    /** What {@link #askedNanos} was at the last beat of the lease renewer, if a command was under way then. */
    private long askedAtLastBeatNanos;

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
        this.epoch = session.nextSequence();
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
        return permits;
    }

    // ---- what is said

    @Override
    public CompletableFuture<Void> join() {
        return operate("join", 0).thenAccept(done -> {});
    }

    @Override
    public CompletableFuture<Void> tell(int back, int wants) {
        if (back == 0 && wants == wanted) {
            return CompletableFuture.completedFuture(null);
        }
        returned += back;
        wanted = wants;
        return back > 0 ? insist() : tellAndHear();
    }

    @Override
    public CompletableFuture<Void> add(int more) {
        long sum = pool() + more;
        if (sum > Integer.MAX_VALUE) {
            throw new Error("Maximum permit count exceeded");
        } else if (sum < Integer.MIN_VALUE) {
            throw new Error("Permit count underflow");
        }
        contributed += more;
        return insist();
    }

    @Override
    public CompletableFuture<Void> confirmed() {
        return tellAndHear();
    }

    @Override
    public CompletableFuture<Boolean> take(int number) {
        Operation take = new Operation("take", number);
        var taking = new CompletableFuture<Boolean>();
        follow(taking, take, result -> taking.complete(result >= 0));
        submit(take);
        return taking;
    }

    @Override
    public CompletableFuture<Integer> drain() {
        return operate("drain", 0);
    }

    @Override
    public CompletableFuture<Integer> available() {
        return operate("look", 0)
                .thenApply(
                        seen -> Ints.saturatedCast(seen + (returned - saidReturned) + (contributed - saidContributed)));
    }

    @Override
    public CompletableFuture<Void> resize(int number) {
        return operate("resize", number).thenAccept(done -> {});
    }

    private CompletableFuture<Integer> operate(String verb, int amount) {
        Operation operation = new Operation(verb, amount);
        submit(operation);
        return operation.result;
    }

    // A result that depends on another one isn't cancelled with it the other way round.
    private static void follow(CompletableFuture<?> dependent, Operation operation, LongConsumer completion) {
        operation.result.whenComplete((result, failure) -> {
            if (failure == null) {
                completion.accept(result);
            } else {
                dependent.completeExceptionally(failure);
            }
        });
        dependent.whenComplete((result, failure) -> {
            if (dependent.isCancelled()) {
                operation.result.cancel(false);
            }
        });
    }

    private void submit(Operation operation) {
        operations.add(operation);
        tell();
    }

    @Override
    protected Call command(long version) {
        if (!asked) {
            asked = true;
            askedNanos = session.now();
        }
        saidReturned = returned;
        saidContributed = contributed;
        while (!operations.isEmpty()
                && operations.element().number == 0
                && operations.element().result.isDone()) {
            operations.remove();
        }
        Operation operation = operations.peek();
        if (operation != null && operation.number == 0) {
            operation.number = version;
        }
        return TELL.on(
                keys,
                session.id(),
                epoch,
                version,
                fresh ? 1 : 0,
                returned,
                granted + wanted,
                contributed,
                leaving ? 1 : 0,
                session.settings().leaseMillis(),
                permits,
                owned ? 1 : 0,
                operation == null ? 0 : operation.number,
                operation == null ? "" : operation.verb,
                operation == null ? 0 : operation.amount);
    }

    // ---- what is heard

    @Override
    protected void answered(List<Object> reply) {
        asked = false;
        int status = Ints.checkedCast(number(reply, 0));
        if (status == DISAGREED) {
            disagree(number(reply, 1), number(reply, 2) == 1);
            return;
        }
        available = number(reply, 2);
        permits = Ints.saturatedCast(number(reply, 3));
        complete(number(reply, 6), number(reply, 7), status);
        if (status == CLOSED || status == UNKNOWN) {
            reopen(reply, status);
            return;
        }
        fresh = false;
        heardReturned = saidReturned;
        heardContributed = saidContributed;
        contended = number(reply, 4) > 0;
        grantUpTo(number(reply, 1));
        long endMillis = number(reply, 5);
        if (wanted > 0 && endMillis != NEVER && endMillis < PULSE_MILLIS) {
            askIn(endMillis);
        }
        if (!operations.isEmpty() || leaving) {
            tell();
        }
    }

    private static long number(List<Object> reply, int index) {
        return (Long) reply.get(index);
    }

    private void grantUpTo(long sum) {
        long more = sum - granted;
        if (more > 0 && !leaving) {
            granted = sum;
            wanted = (int) Math.max(0, wanted - more);
            recipient.granted(Ints.saturatedCast(more));
        }
    }

    /** Completes the first operation if that is what the account had done last. */
    private void complete(long number, long result, int status) {
        Operation operation = operations.peek();
        if (operation == null || operation.number == 0) {
            return;
        }
        if (number != operation.number || (status == CLOSED && owned && operation.takes())) {
            if (status == CLOSED || status == UNKNOWN) {
                operation.number = 0;
            }
            return;
        }
        operations.remove();
        int value = Ints.saturatedCast(result);
        int booked = operation.takes() ? Math.max(0, value) : 0;
        taken += booked;
        if (!operation.result.complete(value) && booked > 0) {
            // Whoever wanted it has left.
            returned += booked;
            tell();
        }
    }

    /** The account is closed. Opens another one, with what the old one had that Redis hasn't heard of. */
    private void reopen(List<Object> reply, int status) {
        long undeliveredReturns = returned - (status == CLOSED ? number(reply, 8) : heardReturned);
        long undeliveredContributions = contributed - (status == CLOSED ? number(reply, 9) : heardContributed);
        long unheard = status == CLOSED ? number(reply, 1) - granted : 0;
        boolean wasLeaving = leaving;
        epoch = session.nextSequence();
        fresh = true;
        granted = 0;
        taken = 0;
        returned = 0;
        heardReturned = 0;
        heardContributed = 0;
        contributed = undeliveredContributions;
        leaving = false;
        if (owned && !wasLeaving) {
            recipient.lost("Redis has closed the session's account");
        } else if (!owned) {
            contributed += undeliveredReturns + Math.max(0, unheard);
        }
        leaving = closing && contributed != 0;
        if (contributed != 0 || wanted > 0 || !operations.isEmpty()) {
            tell();
        }
    }

    private void disagree(long actual, boolean isOwned) {
        String use = owned ? "whose permits belong to sessions" : "whose permits belong to nobody";
        String message = isOwned == owned
                ? "semaphore " + Keys.quoted(name) + " was stated to have " + permits + " permits, but has " + actual
                        + "; resize() changes that"
                : "semaphore " + Keys.quoted(name) + " was stated to be one " + use + ", but it isn't";
        Operation operation = operations.peek();
        if (operation != null && operation.verb.equals("join")) {
            operations.remove();
            operation.result.completeExceptionally(new IllegalArgumentException(message));
            if (!operations.isEmpty()) {
                tell();
            }
        } else {
            refused(new IllegalStateException(message));
        }
    }

    @Override
    protected void refused(Throwable failure) {
        asked = false;
        while (!operations.isEmpty()) {
            operations.remove().result.completeExceptionally(failure);
        }
        recipient.failed(() -> Failures.refusal("semaphore " + Keys.quoted(name), failure));
    }

    @Override
    public void receive(Mail mail) {
        mutex.lock();
        try {
            if (mail instanceof Mail.Demand) {
                contended = true;
            } else if (mail instanceof Mail.Booking booking && booking.epoch() == epoch && !leaving) {
                booked(booking.granted());
            }
        } finally {
            mutex.unlock();
        }
    }

    private void booked(long sum) {
        if (session.runner().isReplicated()) {
            if (sum > granted) {
                tell();
            }
        } else if (sum - granted > wanted) {
            // More than anybody wants: threads have left in between, or a stranger has written it. Redis knows.
            tell();
        } else {
            grantUpTo(sum);
            keepAlive();
        }
    }

    // ---- how it stands

    @Override
    public boolean isValid() {
        return !owned || (!leaving && session.now() - validUntilNanos() < 0);
    }

    @Override
    public boolean isContended() {
        return contended;
    }

    @Override
    public boolean isOverdrawn() {
        return pool() < 0;
    }

    /** How many permits the pool has as far as is known here. */
    private long pool() {
        return available + returned - saidReturned + contributed - saidContributed;
    }

    @Override
    protected boolean isNeeded() {
        return super.isNeeded() || recipient.isHeld();
    }

    @Override
    protected boolean isWaiting() {
        return wanted > 0 || !operations.isEmpty() || recipient.isWaiting();
    }

    @Override
    protected boolean isLeased() {
        return owned && granted + taken > returned;
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
        return new RedisUnavailableException("Redis has not answered for semaphore " + Keys.quoted(name), cause);
    }

    @Override
    public @Nullable Renewal keep(long now) {
        mutex.lock();
        try {
            boolean silent = asked && askedAtLastBeat && askedNanos == askedAtLastBeatNanos;
            askedAtLastBeat = asked;
            askedAtLastBeatNanos = askedNanos;
            if (silent && isLeased() && !leaving && now - validUntilNanos() >= 0) {
                // What was granted may be another session's by now, and nobody answers to that.
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
    public CompletableFuture<?> close() {
        mutex.lock();
        try {
            closing = true;
            leaving = true;
            if (owned) {
                recipient.lost("the session was closed");
            }
            recipient.failed(() -> new IllegalStateException("the Interlock session is closed"));
            wanted = 0;
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public String toString() {
        return "Permits = " + pool();
    }
}
