package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
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
    private static final Script PROLONG = Script.load("lock/prolong");
    private static final Script PROLONG_READER = Script.load("session/prolong");
    private static final Script DOWNGRADE = Script.load("lock/downgrade");
    private static final Script INSPECT = Script.load("lock/inspect");
    private static final Script ANSWER = Script.load("lock/answer");
    private static final Script SIGNAL = Script.load("lock/signal");
    private static final Script AWAIT = Script.load("lock/await");

    private final RedisSession session;
    private final String key;

    /** How often in a row nobody else was there; a hint, so that updates may be lost. */
    private volatile int quiet = TRUSTED;

    LockScripts(RedisSession session, String key) {
        this.session = session;
        this.key = key;
    }

    // Keys are made when they are needed: a session may hold thousands of names for long.
    private List<Object> keys(String... roles) {
        List<Object> keys = new ArrayList<>(roles.length + 1);
        keys.add(key);
        for (String role : roles) {
            keys.add(Keys.of(role, key));
        }
        return keys;
    }

    private String mark() {
        return "mark:" + session.id();
    }

    private List<Object> allKeys() {
        return keys("queue", "waiters", "token", "turns", mark(), "conditions", "signals", "readers");
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
            ImmutableLongArray over) {
        /** Returns one that tells of no other session. */
        static AcquireReply of(Status status, long ttlMillis, long token, long redisMicros, long owner) {
            ImmutableLongArray none = ImmutableLongArray.of();
            return new AcquireReply(status, ttlMillis, token, false, false, false, false, redisMicros, owner, 0, none);
        }
    }

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
                keys("queue", "token", "conditions", mark()),
                session.id() + ":" + ticket.sequence,
                ticket.sequence,
                ticket.leaseMillis,
                floor);
        return session.runner().runDurably(take).thenCompose(reply -> {
            long token = number(reply, 0);
            return token > 0
                    ? CompletableFuture.completedFuture(
                            AcquireReply.of(Status.GRANTED, ticket.leaseMillis, token, 0, ticket.sequence))
                    : acquire(tickets, earlier, floor, used);
        });
    }

    /** Returns whether a request says no more than that one ticket goes on waiting, and others can go along. */
    boolean isHeartbeat(Request request) {
        Ticket ticket = request.tickets().get(0);
        boolean isOfOne = request.tickets().size() == 1 && request.used().isEmpty() && ticket.from == 0;
        return isOfOne && ticket.isQueued() && session.heartbeats().areTogether();
    }

    /** Says so, together with what is said of other names. */
    CompletableFuture<AcquireReply> heartbeat(Request request, long floor) {
        return session.heartbeats()
                .send(
                        () -> keys("queue", "waiters", mark()),
                        request.tickets().get(0).text())
                .handle((answer, failure) -> {
                    if (failure != null && Failures.isTransient(failure)) {
                        return CompletableFuture.<AcquireReply>failedFuture(failure);
                    }
                    // What Redis refuses may be another name's fault.
                    if (failure != null || answer.ttlMillis() == 0) {
                        return acquire(request.tickets(), request.earlier(), floor, request.used());
                    }
                    return CompletableFuture.completedFuture(
                            AcquireReply.of(Status.QUEUED, answer.ttlMillis(), 0, answer.redisMicros(), 0));
                })
                .thenCompose(reply -> reply);
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
                allKeys(),
                session.id(),
                text(tickets),
                first.leaseMillis,
                first.queues ? 1 : 0,
                earlier,
                floor,
                text(used),
                session.pace().heartbeatMillis());
        return session.runner().runDurably(call).thenApply(reply -> noted(acquireReply(reply)));
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
                (number(reply, 3) & 1) != 0,
                (number(reply, 3) & 2) != 0,
                number(reply, 4),
                number(reply, 5),
                number(reply, 6),
                over.build());
    }

    /** The answer to {@link #release(Release, long, boolean)}: what was given up. */
    enum Released {
        NOTHING,
        TENURE,
        TICKET;

        /** Returns the one that scripts call by that number. */
        static Released of(int number) {
            return values()[number];
        }
    }

    /**
     * The registrations and signals of a tenure, as scripts take them.
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
     * A tenure or ticket that is given up, with all that goes along.
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
        Ticket ticket = release.ticket();
        String used = text(release.used());
        Operations operations = release.operations();
        boolean drops = isFirst && release.isLikelyAlone() && isQuiet();
        if (!drops || !used.isEmpty() || !operations.isEmpty()) {
            return release(ticket, used, floor, operations);
        }
        Call drop = DROP.on(
                keys("queue", "conditions", mark()),
                session.id() + ":" + ticket.sequence,
                ticket.sequence,
                ticket.leaseMillis,
                channel(),
                session.channels().verb());
        return session.runner().run(drop).thenCompose(reply -> {
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
                session.id(),
                ticket.sequence,
                ticket.terms(),
                floor,
                channel(),
                session.channels().verb(),
                used,
                operations.first(),
                operations.text());
        return session.runner().run(call).thenApply(reply -> Released.of((int) number(reply, 0)));
    }

    /**
     * The answer to {@link #renew} or {@link #prolong}.
     *
     * @param tellsOfOthers whether it says who waits
     */
    record Renewal(boolean owned, long ttlMillis, boolean tellsOfOthers, boolean waiters, boolean foreignWaiters) {}

    /**
     * Returns the command that renews a tenure.
     *
     * @param leaseMillis 0 to ask only how much is left of its lease
     */
    Call renew(long sequence, long leaseMillis) {
        return RENEW.on(
                keys("queue", "waiters", "readers"),
                session.id(),
                sequence,
                leaseMillis,
                channel(),
                session.channels().verb());
    }

    /**
     * Renews a tenure by each of its keys alone, while they are split between nodes of a cluster: renew needs all of
     * them on one.
     *
     * @param leaseMillis as for {@link #renew}
     */
    CompletableFuture<List<Object>> prolong(long sequence, long leaseMillis) {
        ScriptRunner runner = session.runner();
        return runner.run(PROLONG.on(List.of(key), session.id(), sequence, leaseMillis))
                .thenCompose(reply -> {
                    boolean reads = number(reply, 0) == 2;
                    List<Object> readers = List.of(Keys.of("readers", key));
                    return reads
                            ? runner.run(PROLONG_READER.on(readers, session.id(), leaseMillis))
                            : CompletableFuture.completedFuture(reply);
                });
    }

    /** Extends a lease to at least so long from now. No lease is shortened, so a late duplicate does no harm. */
    CompletableFuture<Renewal> extend(long sequence, long leaseMillis) {
        return session.runner()
                .runDurably(PROLONG.on(List.of(key), session.id(), sequence, leaseMillis))
                .thenApply(LockScripts::renewal);
    }

    static Renewal renewal(List<Object> reply) {
        boolean tells = reply.size() > 2;
        return new Renewal(
                number(reply, 0) > 0,
                number(reply, 1),
                tells,
                tells && number(reply, 2) > 0,
                tells && number(reply, 3) > 0);
    }

    /** Makes a reader of the owner. */
    CompletableFuture<Released> downgrade(Ticket ticket, long floor, Operations operations) {
        Call call = DOWNGRADE.on(
                allKeys(),
                session.id(),
                ticket.sequence,
                ticket.leaseMillis,
                floor,
                operations.first(),
                operations.text());
        return session.runner()
                .runDurably(call)
                .thenApply(reply -> number(reply, 0) > 0 ? Released.TENURE : Released.NOTHING);
    }

    /** Tells a session that was refused the name whether a thread of this one is inside. */
    void answer(Mail.IdleQuestion question, boolean isInside) {
        session.runner().run(ANSWER.on(List.of(key), question.asker(), question.request(), isInside ? 1 : 0));
    }

    CompletableFuture<Boolean> inspect() {
        return session.runner().run(INSPECT.on(List.of(key))).thenApply(reply -> number(reply, 0) > 0);
    }

    // ---- conditions

    /**
     * How the waiters of a session stand, and which ones it asks for.
     *
     * @param number counts the inquiries of a lock
     * @param asked waiters of which it wants to know
     * @param leaving waiters that leave, unless they have been signalled
     * @param gone waiters that have no thread any more
     * @param isSignalLost whether a signal has reached nobody
     */
    record Inquiry(long number, List<String> asked, List<String> leaving, List<String> gone, boolean isSignalLost) {
        /** Asks for nothing. */
        static final Inquiry SIGNAL_LOST = new Inquiry(0, List.of(), List.of(), List.of(), true);
    }

    /** How a waiter stands, by {@link #await}. */
    enum WaiterState {
        SIGNALLED,
        WAITING,
        LEFT;

        /** Returns the one that scripts call by that number. */
        static WaiterState of(int number) {
            return values()[number];
        }
    }

    /**
     * The part of the answer to {@link #await} that is about one waiter.
     *
     * @param waiter its sequence
     * @param state {@link WaiterState#SIGNALLED} also if Redis doesn't know it
     * @param ticket the sequence of its ticket, or 0
     */
    record WaiterReply(long waiter, WaiterState state, long ticket) {}

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
     * Operations of a tenure that goes on, and a question.
     *
     * @param sequence of that tenure
     * @param last the number of the last operation
     * @param condition whose waiters to count once these are done
     * @param isListed whether to list those of this session
     */
    record Signals(long sequence, Operations operations, long last, String condition, boolean isListed) {}

    /**
     * Does what a tenure has to do with its conditions while it goes on, and counts the waiters of one, or lists its
     * own.
     */
    CompletableFuture<SignalReply> signal(Signals signals) {
        Operations operations = signals.operations();
        Call call = SIGNAL.on(
                keys("queue", "waiters", "conditions", "signals", mark()),
                session.id(),
                signals.sequence(),
                operations.first(),
                operations.text(),
                signals.condition(),
                signals.isListed() ? 1 : 0);
        return session.runner()
                .run(call)
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
                allKeys(),
                session.id(),
                floor,
                String.join(" ", inquiry.asked()),
                String.join(" ", inquiry.leaving()),
                String.join(" ", inquiry.gone()),
                inquiry.isSignalLost() ? 1 : 0);
        return session.runner().run(call).thenApply(LockScripts::waiterReplies);
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

    private static long number(List<Object> reply, int index) {
        return (Long) reply.get(index);
    }
}
