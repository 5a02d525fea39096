package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.internal.lock.script.ConditionLog.Inquiry;
import dev.interlock.internal.lock.script.ConditionLog.Signals;
import dev.interlock.internal.lock.script.ConditionLog.Waiter;
import dev.interlock.internal.lock.script.ConditionLog.WaiterReply;
import dev.interlock.internal.lock.script.ConditionLog.WaiterState;
import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.UnlockChannels;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** The scripts of one lock, as one session runs them. */
final class LockScripts {
    /** For how long a session leaves the name to plain RLock clients that are known to wait. */
    static final long YIELD_MILLIS = 10;

    /** A tenure that the session still has in Redis is ended by its next request. */
    static final long ENDED = 0;

    /** A tenure that the session still has in Redis goes on. */
    static final long LEFT_ALONE = -1;

    /** So often in a row a name has to be free before that is expected of the next time. */
    private static final int TRUSTED = 4;

    private static final Script TAKE = Script.load("lock/take");
    private static final Script DROP = Script.load("lock/drop");
    private static final Script ACQUIRE = Script.load("lock/acquire");
    private static final Script RELEASE = Script.load("lock/release");
    private static final Script RENEW = Script.load("lock/renew");
    private static final Script DOWNGRADE = Script.load("lock/downgrade");
    private static final Script INSPECT = Script.load("lock/inspect");
    private static final Script ANSWER = Script.load("lock/answer");
    private static final Script SIGNAL = Script.load("lock/signal");
    private static final Script AWAIT = Script.load("lock/await");

    private final ScriptRunner runner;
    private final String id;
    private final String key;
    private final long leaseMillis;
    private final UnlockChannels channels;

    /** How often in a row nobody else was there; a hint, so that updates may be lost. */
    private volatile int quiet = TRUSTED;

    LockScripts(RedisSession session, String key) {
        this.runner = session.runner();
        this.id = session.id();
        this.key = key;
        this.leaseMillis = session.settings().leaseMillis();
        this.channels = session.channels();
    }

    // Keys are made when they are needed: a session may hold thousands of names for long.
    private String of(String role) {
        return Keys.of(role, key);
    }

    private String mark() {
        return of("mark:" + id);
    }

    private List<Object> allKeys() {
        return List.of(
                key,
                of("queue"),
                of("waiters"),
                of("token"),
                of("turns"),
                mark(),
                of("conditions"),
                of("signals"),
                of("readers"));
    }

    private List<Object> conditionKeys() {
        return List.of(
                key,
                of("queue"),
                of("waiters"),
                of("token"),
                of("turns"),
                of("conditions"),
                of("signals"),
                of("readers"));
    }

    /** Has Redis load the scripts by which locks come and go, those first that do if nobody else is there. */
    static void load(ScriptRunner runner) {
        runner.load(List.of(TAKE, DROP, ACQUIRE, RELEASE));
    }

    /** Returns the key of the read-write lock of a name, which is another one than the lock of that name. */
    static String readWriteKey(String key) {
        return Keys.prefix(key) + "rw";
    }

    /** The name's key. */
    String key() {
        return key;
    }

    /** Redisson's channel for this name, on which it announces that the lock is free. */
    String channel() {
        return "redisson_lock__channel:" + (key.contains("{") ? key : "{" + key + "}");
    }

    /**
     * What {@link #acquire} asks for.
     *
     * @param tickets those asked for
     * @param sequences what these have; a ticket that is over gets another one
     * @param isNew whether the first of them is sent for the first time
     * @param earlier as {@link #acquire} takes it
     * @param used tickets that were served on the tenure of another one
     */
    record Request(
            List<Ticket> tickets,
            ImmutableLongArray sequences,
            boolean isNew,
            long earlier,
            List<Ticket> used,
            long sentNanos) {}

    /**
     * The answer to {@link #acquire}.
     *
     * @param status how those requests stand of which {@code over} doesn't speak
     * @param ttlMillis of the owner, -1 if that is a tenure of this session that was not asked for
     * @param token if granted
     * @param foreign whether the owner is none of ours
     * @param asked whether the owners are asked whether a thread is inside
     * @param waiters whether others are queued behind the run
     * @param conditions whether threads wait for conditions of the lock that is granted
     * @param redisMicros 0 if the lock was simply free
     * @param owner the sequence by which this session owns the lock, or 0
     * @param run the last of the tickets that are served on the tenure of that sequence after its own, or 0
     * @param over requests that are over
     */
    record AcquireReply(
            Status status,
            long ttlMillis,
            long token,
            boolean foreign,
            boolean asked,
            boolean waiters,
            boolean conditions,
            long redisMicros,
            long owner,
            long run,
            ImmutableLongArray over) {}

    enum Status {
        OVER,
        GRANTED,
        QUEUED,
        BUSY
    }

    /**
     * Asks for the lock; on behalf of a new ticket in the way that costs least if nobody owns it and nobody waits.
     *
     * @see #acquire(List, long, long, List)
     */
    CompletableFuture<AcquireReply> acquire(Request request, long floor) {
        List<Ticket> tickets = request.tickets();
        Ticket ticket = tickets.get(0);
        long earlier = request.earlier();
        List<Ticket> used = request.used();
        boolean takes = request.isNew() && isQuiet() && tickets.size() == 1 && !ticket.reads && earlier <= 0;
        if (!takes || !used.isEmpty()) {
            return acquire(tickets, earlier, floor, used);
        }
        Call take = TAKE.on(
                List.of(key, of("queue"), of("token"), of("conditions"), mark()),
                id + ":" + ticket.sequence,
                ticket.sequence,
                ticket.leaseMillis,
                floor);
        return runner.runDurably(take).thenCompose(reply -> {
            long token = number(reply, 0);
            return token > 0
                    ? CompletableFuture.completedFuture(taken(ticket, token))
                    : acquire(tickets, earlier, floor, used);
        });
    }

    /**
     * Returns whether nobody else was there lately. Those who alternate find the name free now and then, and mustn't be
     * misled by that.
     */
    boolean isQuiet() {
        return quiet >= TRUSTED;
    }

    private AcquireReply noted(AcquireReply reply) {
        boolean isFree = reply.status() == Status.GRANTED && reply.redisMicros() == 0;
        quiet = isFree ? Math.min(TRUSTED, quiet + 1) : 0;
        return reply;
    }

    private static AcquireReply taken(Ticket ticket, long token) {
        return new AcquireReply(
                Status.GRANTED,
                ticket.leaseMillis,
                token,
                false,
                false,
                false,
                false,
                0,
                ticket.sequence,
                0,
                ImmutableLongArray.of());
    }

    /**
     * Asks for the lock, or asks again how the requests stand.
     *
     * @param tickets one or more, in growing order of their sequences
     * @param earlier the sequence whose tenure the first of them continues; or what becomes of any such tenure,
     *     {@link #ENDED} or {@link #LEFT_ALONE}
     * @param used tickets that were served on the tenure of another one
     */
    CompletableFuture<AcquireReply> acquire(List<Ticket> tickets, long earlier, long floor, List<Ticket> used) {
        Ticket first = tickets.get(0);
        Call call = ACQUIRE.on(
                allKeys(), id, text(tickets), first.leaseMillis, first.queues ? 1 : 0, earlier, floor, text(used));
        return runner.runDurably(call).thenApply(reply -> noted(acquireReply(reply)));
    }

    /** Returns tickets as scripts take them. */
    static String text(List<Ticket> tickets) {
        return tickets.isEmpty() ? "" : tickets.stream().map(Ticket::text).collect(Collectors.joining(" "));
    }

    private static AcquireReply acquireReply(List<Object> reply) {
        Status status = Status.values()[(int) number(reply, 0)];
        boolean granted = status == Status.GRANTED;
        ImmutableLongArray.Builder over = ImmutableLongArray.builder();
        for (int i = 7; i < reply.size(); i++) {
            over.add(number(reply, i));
        }
        return new AcquireReply(
                status,
                number(reply, 1),
                granted ? number(reply, 2) : 0,
                !granted && number(reply, 2) == 1,
                !granted && number(reply, 2) == 2,
                isOdd(number(reply, 3)),
                number(reply, 3) > 1,
                number(reply, 4),
                number(reply, 5),
                number(reply, 6),
                over.build());
    }

    /** The answer to {@link #release}: what was given up. */
    enum Released {
        NOTHING,
        TENURE,
        TICKET
    }

    /**
     * What is given up.
     *
     * @param ticket what has become a tenure, or has not
     * @param used the tickets that were served on that tenure beside its own
     * @param operations what that tenure has to do with its conditions
     * @param bringsWord whether the waiters that these register are to hear of it
     * @param isLikelyAlone whether nobody is known to wait
     */
    record Release(Ticket ticket, List<Ticket> used, Operations operations, boolean bringsWord, boolean isLikelyAlone) {
        static Release of(Ticket ticket, Operations operations) {
            return new Release(ticket, List.of(), operations, false, false);
        }
    }

    /** Gives something up; at first in the way that costs least if nobody waits. */
    CompletableFuture<Released> release(Release release, long floor, boolean isFirst) {
        Ticket ticket = release.ticket;
        String used = text(release.used);
        Operations operations = release.operations;
        boolean drops = isFirst && release.isLikelyAlone && isQuiet();
        if (!drops || !used.isEmpty() || !operations.isEmpty()) {
            return release(ticket, used, floor, operations);
        }
        Call drop = DROP.on(
                List.of(key, of("queue"), of("conditions"), mark()),
                id + ":" + ticket.sequence,
                ticket.sequence,
                ticket.leaseMillis,
                channel(),
                channels.verb());
        return runner.run(drop).thenCompose(reply -> {
            if (number(reply, 0) > 0) {
                return CompletableFuture.completedFuture(Released.TENURE);
            }
            quiet = 0;
            return release(ticket, used, floor, operations);
        });
    }

    /** Gives up what a sequence has. */
    CompletableFuture<Released> release(Ticket ticket, String used, long floor, Operations operations) {
        Call call = RELEASE.on(
                allKeys(),
                id,
                ticket.sequence,
                ticket.terms(),
                floor,
                channel(),
                channels.verb(),
                used,
                operations.first(),
                operations.text());
        return runner.run(call).thenApply(reply -> Released.values()[(int) number(reply, 0)]);
    }

    /** The answer to {@link #renew}. */
    record Renewal(boolean owned, long ttlMillis, boolean waiters, boolean foreignWaiters) {}

    Call renew(long sequence) {
        return RENEW.on(
                List.of(key, of("queue"), of("waiters"), of("readers")),
                id,
                sequence,
                leaseMillis,
                channel(),
                channels.verb());
    }

    static Renewal renewal(List<Object> reply) {
        return new Renewal(number(reply, 0) > 0, number(reply, 1), number(reply, 2) > 0, number(reply, 3) > 0);
    }

    /** Makes a reader of the owner. */
    CompletableFuture<Released> downgrade(Ticket ticket, long floor, Operations operations) {
        Call call = DOWNGRADE.on(
                conditionKeys(), id, ticket.sequence, ticket.leaseMillis, floor, operations.first(), operations.text());
        return runner.runDurably(call).thenApply(reply -> number(reply, 0) > 0 ? Released.TENURE : Released.NOTHING);
    }

    /** Tells a session that was refused the name whether a thread of this one is inside. */
    void answer(Mail.IdleQuestion question, boolean isInside) {
        runner.run(ANSWER.on(List.of(key), question.asker(), question.request(), isInside ? 1 : 0));
    }

    CompletableFuture<Boolean> inspect() {
        return runner.run(INSPECT.on(List.of(key))).thenApply(reply -> number(reply, 0) > 0);
    }

    // ---- conditions

    /**
     * What a tenure has to do with its conditions, as scripts take it.
     *
     * @param first the number of the first one, counted from 1 in a tenure
     * @param text the operations, separated by spaces
     * @param registered the waiters that they register
     */
    record Operations(long first, String text, List<Waiter> registered) {
        static final Operations NONE = new Operations(1, "", List.of());

        /** A signal to all waiters of all conditions. */
        static final Operations SIGNAL_ALL = new Operations(1, "*", List.of());

        boolean isEmpty() {
            return text.isEmpty();
        }
    }

    /**
     * The answer to {@link #signal}.
     *
     * @param owned whether the operations are done
     * @param waiters whether another session stands in the queue
     * @param conditions whether threads wait for conditions
     * @param count how many wait for the condition that was asked for
     * @param own the numbers of the waiters of this session among these, if they were asked for
     */
    record SignalReply(boolean owned, boolean waiters, boolean conditions, int count, Set<Long> own) {}

    /**
     * Does what a tenure has to do with its conditions while it goes on, and counts the waiters of one, or lists its
     * own.
     */
    CompletableFuture<SignalReply> signal(Signals signals) {
        Operations operations = signals.operations();
        Call call = SIGNAL.on(
                List.of(key, of("queue"), of("waiters"), of("conditions"), of("signals")),
                id,
                signals.tenure().sequence,
                operations.first(),
                operations.text(),
                signals.condition(),
                signals.isListed() ? 1 : 0);
        return runner.run(call)
                .thenApply(reply -> new SignalReply(
                        number(reply, 0) > 0,
                        number(reply, 1) > 0,
                        number(reply, 2) > 0,
                        (int) number(reply, 3),
                        reply.stream().skip(4).map(number -> (Long) number).collect(Collectors.toSet())));
    }

    /** Asks how waiters stand, and has others leave. */
    CompletableFuture<List<WaiterReply>> await(Inquiry inquiry, long floor) {
        Call call = AWAIT.on(
                conditionKeys(),
                id,
                floor,
                String.join(" ", inquiry.asked()),
                String.join(" ", inquiry.leaving()),
                String.join(" ", inquiry.gone()),
                inquiry.isSignalLost() ? 1 : 0);
        return runner.run(call).thenApply(LockScripts::waiterReplies);
    }

    // The reply begins with the time.
    private static List<WaiterReply> waiterReplies(List<Object> reply) {
        List<WaiterReply> replies = new ArrayList<>();
        for (int i = 1; i < reply.size(); i += 3) {
            WaiterState state = WaiterState.of((int) number(reply, i + 1));
            replies.add(new WaiterReply(number(reply, i), state, number(reply, i + 2)));
        }
        return replies;
    }

    private static boolean isOdd(long number) {
        return (number & 1) != 0;
    }

    private static long number(List<Object> reply, int index) {
        return (Long) reply.get(index);
    }
}
