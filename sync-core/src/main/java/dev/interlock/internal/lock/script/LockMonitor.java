package dev.interlock.internal.lock.script;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.lock.script.ConditionLog.Signals;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Inquiry;
import dev.interlock.internal.lock.script.LockScripts.Request;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.ReliableRelease.Release;
import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.UnlockChannels;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of a lock over our own scripts: what a session has of one name. The owner of a {@link LockState}: has the
 * mutex under which events change it, and carries out its effects.
 *
 * <p><b>Concurrency.</b> Each change is an event, handled under one mutex by the thread that brings it: a thread that
 * wants the name or is done with it, the reply to a command, a message in the mailbox, a beat of the pulse or of the
 * lease renewer. The state calls its {@link LockEffects} while it changes, in the order in which they have to happen.
 * Nothing blocks under the mutex, which comes after the local half and before the session's own locks. Leaders and
 * listeners are told after it is freed. What the fast path reads is volatile, in the {@link LockView}.
 *
 * <p><b>Tickets.</b> A session queues in Redis by a {@link Ticket}: a plain lock by one, on behalf of the thread that
 * has the local half; a fair lock by one for each thread. A ticket gets its sequence when it is first sent, and every
 * command acts on exactly that sequence, so a repeated or delayed command changes nothing. A ticket is cancelled only
 * after the command that announces it was answered, since a cancel must not overtake it. See {@link TicketQueue}.
 *
 * <p><b>Grants.</b> Redis grants a name to the head of the queue, in the reply to a request or in a message that
 * another session's release sends. A message may be late or forged; so it counts only within the lease that began when
 * Redis last said "queued", with a newer time and token, and else the session asks. A grant makes a {@link LockTenure}
 * of a ticket; a grant to no ticket is given back. See {@link Ownership}.
 *
 * <p><b>Leases and loss.</b> Threads enter on a tenure while it is valid, without asking: its validity ends safely
 * before its lease in Redis, see {@link dev.interlock.internal.session.Lease}. When it can't serve a thread (another
 * lease is wanted, its validity or its fencing tokens are used up) a request with a new sequence continues it. A loss,
 * once seen, stays: the thread that relies on the tenure is told, and its release is sent all the same.
 *
 * <p><b>Conditions.</b> Awaiting and signalling require the lock, so a {@link ConditionLog} has both locally and they
 * are shipped with the release. Whether a waiter was signalled or left is decided in Redis, which moves it to the queue
 * of the lock; the {@link ConditionQueue} finds out about messages that are lost.
 */
final class LockMonitor implements LockEffects, CommandLoop.Speaker<LockMonitor.TicketAnswer> {
    /** An event that the state answers. */
    interface Query<R> {
        R on(LockState state, long now);
    }

    /** An event that changes the state. */
    interface Event {
        void on(LockState state, long now);
    }

    record TicketAnswer(Request request, AcquireReply reply) {}

    private record WaiterAnswer(Inquiry inquiry, List<WaiterReply> replies) {}

    private static final Logger log = LoggerFactory.getLogger(LockMonitor.class);
    private static final RareLog REFUSED = new RareLog();

    private static final RareLog UNKNOWN = new RareLog();

    private final RedisSession session;
    private final LockTenure.Owner owner;
    final LockScripts scripts;
    final ReentrantLock mutex = new ReentrantLock();
    private final LockView view;

    @GuardedBy("mutex")
    private final LockState state;

    @GuardedBy("mutex")
    private final CommandLoop<TicketAnswer> requests;

    /** Made when a waiter is first asked for. */
    @GuardedBy("mutex")
    private @Nullable CommandLoop<WaiterAnswer> inquiries;

    /** Redisson's channel, while the owner of the name is none of ours. */
    @GuardedBy("mutex")
    private UnlockChannels.@Nullable Subscription subscription;

    LockMonitor(RedisSession session, String key, LockView view, LockTenure.Owner owner) {
        this.session = session;
        this.view = view;
        this.owner = owner;
        this.scripts = new LockScripts(session, key);
        this.requests = new CommandLoop<>(session, mutex, this);
        this.state = new LockState(key, view, session.settings(), session.pace(), this, session.now());
    }

    /** An event happens. */
    void run(Event event) {
        mutex.lock();
        try {
            long now = session.now();
            event.on(state, now);
            state.settle(now);
        } finally {
            mutex.unlock();
        }
    }

    /** An event happens, and has an answer. */
    <R> R call(Query<R> event) {
        mutex.lock();
        try {
            long now = session.now();
            R answer = event.on(state, now);
            state.settle(now);
            return answer;
        } finally {
            mutex.unlock();
        }
    }

    // ---- threads

    /** Returns whether an answer is on its way that is likely to say that the name was free. */
    boolean expectsToBeAlone() {
        return scripts.isQuiet()
                && this.<Boolean>call((known, now) -> known.effects.isAsking() || view.isReleasing(now));
    }

    /** The tenure goes on for another thread: sends signals ahead. */
    void flush(LockTenure current) {
        if (view.isAnySignalDue) {
            run((known, now) -> known.conditions().flush(current, now));
        }
    }

    /** Ends the tenure and releases the name. */
    ReliableRelease giveUp(LockTenure current) {
        mutex.lock();
        try {
            long now = session.now();
            ReliableRelease release = send(state.ownership.giveUp(current, now));
            state.tickets.askForUnsent(true, now);
            // Not before it is expected, or a session that is being closed could miss it.
            state.settle(now);
            return release;
        } finally {
            mutex.unlock();
        }
    }

    /** Has the next request wait for a release that no thread waits for. */
    void hold(LockTenure ended, ReliableRelease release) {
        run((known, now) -> known.ownership.releasing(ended, now));
        Event over = (known, now) -> known.ownership.released(ended.sequence, now);
        release.confirmed().whenComplete((what, failure) -> run(over));
    }

    /** Has the tenure go on for reading only. It ought to be usable. */
    ReliableRelease downgrade(LockTenure current) {
        return call((known, now) -> {
            Release release = known.ownership.downgrade(current, now);
            ReliableRelease sent = ReliableRelease.downgrade(session, scripts, release, known.ownership.floor());
            tell(release, sent);
            sent.confirmed().thenAccept(released -> {
                if (!this.<Boolean>call((later, then) -> later.ownership.downgraded(current, released))) {
                    current.lose("its owner in Redis had changed");
                }
            });
            return sent;
        });
    }

    // ---- what Redis and the session tell

    void receive(Mail mail) {
        if (mail instanceof Mail.Grant grant) {
            boolean isReplicated = session.runner().isReplicated();
            if (this.<Boolean>call((known, now) -> known.ownership.granted(grant, isReplicated, now))) {
                owner.changed();
            }
        } else if (mail instanceof Mail.Admission admission) {
            run((known, now) ->
                    admission.waiters().forEach(one -> known.conditions().admitted(one.waiter(), one.ticket(), now)));
        } else if (mail instanceof Mail.Demand demand) {
            LockTenure current = view.tenure;
            if (current != null && current.sequence == demand.sequence()) {
                current.demanded();
            } else {
                run((known, now) -> known.ownership.ownedAnyway(demand.sequence(), 0, now));
            }
        } else if (mail instanceof Mail.DemandOver over) {
            LockTenure current = view.tenure;
            if (current != null && current.sequence == over.sequence()) {
                current.undemanded(session.now());
            }
        } else if (mail instanceof Mail.IdleQuestion question) {
            owner.asked(question);
        } else if (mail instanceof Mail.IdleAnswer answer) {
            run((known, now) -> known.answered(answer));
            owner.changed();
        } else if (mail instanceof Mail.Eviction eviction) {
            run((known, now) -> evict(eviction));
        } else if (mail instanceof Mail.AskAgain again) {
            // Threads poll by themselves, however late a message says that they should.
            long millis = Math.min(again.millis(), TimeUnit.NANOSECONDS.toMillis(TicketQueue.POLL_NANOS));
            session.schedule(() -> run((known, now) -> known.tickets.beat(now)), millis);
        } else {
            unknown(mail);
        }
    }

    /**
     * Takes the name from the thread that has entered with a token, if it is still inside: it has lost the lock, and
     * the next one in the queue gets that. Threads of a fair lock draw their tokens under the mutex. A plain lock's
     * draw them without, for the sake of speed: if one leaves between the comparison and the loss, and another one of
     * the same session enters, that one has lost the lock, and is told so.
     */
    private void evict(Mail.Eviction eviction) {
        LockTenure current = view.tenure;
        // Asked before the token is looked at.
        boolean isMeant = owner.isInside() && current != null && current.token() == eviction.token();
        if (current != null && isMeant) {
            current.lose("an operator has released it");
            ReliableRelease.giveBack(session, scripts, current.sequence, 0, false, current.tokens.remotePart() + 1);
        }
        session.send(eviction.asker(), new Mail.Report(eviction.number(), session.id(), isMeant ? "1" : "0").text());
    }

    private void unknown(Mail mail) {
        UNKNOWN.say(
                scripts.key(),
                often -> log.warn(
                        "Unknown message for {}, maybe of another version: {}{}",
                        Names.quoted(scripts.key()),
                        Names.excerpt(mail.toString()),
                        often));
    }

    /** Asks how the tickets and waiters stand, if there are any; the tickets together with those of other names. */
    void pulse() {
        run((known, now) -> scripts.beat(() -> known.beat(now)));
    }

    CompletableFuture<?> close() {
        List<CompletableFuture<?>> releases = new ArrayList<>();
        mutex.lock();
        try {
            LockTenure current = view.tenure;
            if (current != null) {
                // First, or a thread would take it for its own while another session has it.
                current.lose("its session was closed");
            }
            long now = session.now();
            List<Inquiry> last = state.hasConditions() ? state.conditions().close(now) : List.of();
            for (Inquiry inquiry : last) {
                releases.add(scripts.await(inquiry, state.ownership.floor()));
            }
            state.close(now).forEach(release -> releases.add(send(release).confirmed()));
            state.settle(now);
        } finally {
            mutex.unlock();
        }
        owner.changed();
        return CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new));
    }

    // ---- effects

    @Override
    public long nextSequence() {
        return session.nextSequence();
    }

    @Override
    public boolean pin() {
        session.pin(scripts.key(), owner);
        return !session.isClosed();
    }

    @Override
    public void unpin() {
        session.unpin(scripts.key(), owner);
    }

    @Override
    @GuardedBy("mutex")
    public void listen(boolean isForeign) {
        if (isForeign && subscription == null) {
            subscription = session.channels().listen(scripts.channel(), () -> run(LockState::beat));
        } else if (!isForeign && subscription != null) {
            subscription.close();
            subscription = null;
        }
    }

    @Override
    @GuardedBy("mutex")
    public boolean isAsking() {
        return requests.isInFlight();
    }

    @Override
    @GuardedBy("mutex")
    public long repeatAtNanos() {
        return requests.repeatAtNanos();
    }

    @Override
    @GuardedBy("mutex")
    public void ask(long now) {
        requests.send(now);
    }

    @Override
    @GuardedBy("mutex")
    public void askLater() {
        requests.tellLater();
    }

    @Override
    @GuardedBy("mutex")
    public void askForWaiters() {
        inquiries().tell();
    }

    @Override
    @GuardedBy("mutex")
    public void beatForWaiters() {
        inquiries().beat(true);
    }

    @GuardedBy("mutex")
    private CommandLoop<WaiterAnswer> inquiries() {
        if (inquiries == null) {
            inquiries = new CommandLoop<>(session, mutex, new Inquiries());
        }
        return inquiries;
    }

    @Override
    public LockTenure begin(Ticket ticket, long token, long now, long sentNanos, long validUntilNanos) {
        return new LockTenure(session.renewer(), owner, ticket, token, now, sentNanos, validUntilNanos);
    }

    @Override
    public void unanswered(long waitedNanos) {
        owner.unanswered(waitedNanos);
    }

    @Override
    @GuardedBy("mutex")
    public void release(Release release) {
        send(release).insist();
    }

    @GuardedBy("mutex")
    private ReliableRelease send(Release release) {
        ReliableRelease sent = ReliableRelease.of(session, scripts, release, state.ownership.floor());
        tell(release, sent);
        return sent;
    }

    private void tell(Release release, ReliableRelease sent) {
        if (release.bringsWord()) {
            List<Waiter> registered = release.operations().registered();
            sent.confirmed()
                    .whenComplete((released, failure) ->
                            run((known, now) -> known.conditions().released(registered, released, now)));
        }
    }

    @Override
    @GuardedBy("mutex")
    public void giveBack(long sequence, long waiter, boolean isSignalLost) {
        ReliableRelease.giveBack(session, scripts, sequence, waiter, isSignalLost, state.ownership.floor());
    }

    @Override
    public CompletableFuture<SignalReply> signal(Signals signals) {
        CompletableFuture<SignalReply> reply = scripts.signal(signals);
        reply.whenComplete((signalled, failure) -> signalled(signals, signalled));
        return reply;
    }

    private void signalled(Signals signals, @Nullable SignalReply reply) {
        LockTenure current = signals.tenure();
        boolean isLost = this.<Boolean>call(
                (known, now) -> view.tenure == current && !known.conditions().signalled(signals, reply, now));
        if (isLost) {
            current.lose("its owner in Redis had changed");
        }
        if (reply != null && reply.waiters() && view.tenure == current) {
            owner.demanded();
        }
    }

    // ---- the commands about tickets

    @Override
    @GuardedBy("mutex")
    public @Nullable CompletableFuture<TicketAnswer> say(long now) {
        Request request = state.request(now);
        if (request == null) {
            return null;
        }
        return scripts.acquire(request, state.ownership.floor()).thenApply(reply -> new TicketAnswer(request, reply));
    }

    @Override
    @GuardedBy("mutex")
    public void answered(long sentNanos, TicketAnswer answer) {
        state.answered(answer.request, answer.reply, sentNanos == requests.sentNanos(), session.now());
    }

    @Override
    @GuardedBy("mutex")
    public void failed(Throwable cause) {
        state.tickets.asksAgain = true;
    }

    @Override
    @GuardedBy("mutex")
    public void refused(Throwable cause) {
        state.requestRefused(cause);
    }

    @Override
    @GuardedBy("mutex")
    public void settled() {
        state.tickets.requestEnded();
        state.settle(session.now());
    }

    @Override
    public void changed() {
        owner.changed();
    }

    /** The commands about waiters of conditions. */
    private final class Inquiries implements CommandLoop.Speaker<WaiterAnswer> {
        @Override
        @GuardedBy("mutex")
        public @Nullable CompletableFuture<WaiterAnswer> say(long now) {
            Inquiry inquiry = state.conditions().inquiry(now);
            if (inquiry == null) {
                return null;
            }
            return scripts.await(inquiry, state.ownership.floor())
                    .thenApply(replies -> new WaiterAnswer(inquiry, replies));
        }

        @Override
        @GuardedBy("mutex")
        public void answered(long sentNanos, WaiterAnswer answer) {
            state.conditions().answered(answer.inquiry, sentNanos, answer.replies, session.now());
        }

        @Override
        @GuardedBy("mutex")
        public void refused(Throwable cause) {
            REFUSED.say(
                    scripts.key(),
                    often -> log.warn(
                            "Redis refuses to be asked about threads that wait for conditions of lock {}: {}{}",
                            Names.quoted(scripts.key()),
                            Failures.brief(cause),
                            often));
            state.conditions().refused(cause, session.now());
        }

        @Override
        @GuardedBy("mutex")
        public void settled() {
            state.settle(session.now());
        }

        @Override
        public void changed() {
            owner.changed();
        }
    }
}
