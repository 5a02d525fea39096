package dev.interlock.internal.lock.script;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.lock.script.LockEffect.GiveBack;
import dev.interlock.internal.lock.script.LockEffect.GiveUp;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
import dev.interlock.internal.lock.script.LockEffect.Lost;
import dev.interlock.internal.lock.script.LockEffect.Plain;
import dev.interlock.internal.lock.script.LockEffect.Renew;
import dev.interlock.internal.lock.script.LockEffect.Report;
import dev.interlock.internal.lock.script.LockEffect.Signal;
import dev.interlock.internal.lock.script.LockEffect.Unanswered;
import dev.interlock.internal.lock.script.LockEffect.WakeWaiter;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Inquiry;
import dev.interlock.internal.lock.script.LockScripts.Release;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.Request;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.Signals;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.UnlockChannels;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.Participant.Renewal;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a lock over our own scripts, as events see it: owns the {@link LockState} of one name, brings it
 * what happens, and carries out its effects.
 *
 * <p><b>Concurrency.</b> The state is that of a {@link Resource}, which has the mutex. The {@linkplain LockEffect
 * effects} of an event are carried out at its end, in the order in which they have to happen; commands are sent, and
 * threads and listeners told, once the mutex is free. What the fast path reads is volatile, in the {@link LockView}.
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
final class LockMonitor implements Resource.Owner<LockState> {
    /** The lock that it belongs to, and what that is told, without the mutex. */
    interface Owner extends Participant {
        /** Returns the name of the lock. */
        String name();

        /** A waiting thread may find what it waits for. */
        void changed();

        /** Another session, or a plain RLock client, waits for the name. */
        void demanded();

        /** No other session waits any more. */
        default void undemanded() {}

        /** Another session asks whether a thread is inside. */
        default void asked(Mail.IdleQuestion question) {}

        /** Another session owns the name, and was silent for so long that a thread of this one was refused. */
        default void unanswered(long waitedNanos) {}

        /** Nobody needs the name any longer for which it was kept, unless a thread has come. */
        default void cleanUp() {}

        /** The time has come that a {@link LookAt} has asked for. */
        default void due() {}

        /** Readers that stay inside are to share the tenure with others. */
        default void share() {}

        /** Returns whether a thread relies on the tenure, or is about to. */
        boolean isRelied();

        /** A tenure was lost that a thread relied on. */
        void lost(LeaseLostException loss);
    }

    private record TicketAnswer(Request request, AcquireReply reply) {}

    private record WaiterAnswer(Inquiry inquiry, List<WaiterReply> replies) {}

    private static final Logger log = LoggerFactory.getLogger(LockMonitor.class);
    private static final RareLog UNKNOWN = new RareLog();

    private final RedisSession session;
    private final Owner owner;
    final LockScripts scripts;
    private final LockView view;
    final Resource<LockState> resource;

    // The rest is used in events only.

    private final LockState state;
    private final CommandLoop<TicketAnswer> requests;

    /** Made when a waiter is first asked for. */
    private @Nullable CommandLoop<WaiterAnswer> inquiries;

    /** Redisson's channel, while the owner of the name is none of ours. */
    private UnlockChannels.@Nullable Subscription subscription;

    /** Whether what is asked now goes together with what is asked of other names, if it can. */
    private boolean isTogether;

    /** Completes with the renewal that is under way, if a thread waits for that. */
    private @Nullable CompletableFuture<Void> confirmation;

    LockMonitor(RedisSession session, String key, LockView view, Owner owner) {
        this.session = session;
        this.view = view;
        this.owner = owner;
        this.scripts = new LockScripts(session, key);
        this.state = new LockState(owner.name(), view, session.settings(), session.pace(), session.now());
        this.resource = new Resource<>(session, key, state, this);
        this.requests = new CommandLoop<>(session, resource, new Requests());
    }

    /** An event happens. */
    void run(Resource.Event<LockState> event) {
        resource.run(event);
    }

    /** An event happens, and has an answer. */
    <R extends @Nullable Object> R call(Resource.Query<LockState, R> event) {
        return resource.call(event);
    }

    // ---- threads

    /** Returns whether an answer is on its way that is likely to say that the name was free. */
    boolean expectsToBeAlone() {
        return scripts.isQuiet() && call((known, now) -> known.tickets.isAsking() || view.isReleasing(now));
    }

    /** The tenure goes on for another thread: sends signals ahead. */
    void flush(LockTenure current) {
        if (view.isAnySignalDue) {
            run((known, now) -> known.conditions().flush(current, now));
        }
    }

    /** Ends the tenure and releases the name. */
    ReliableRelease giveUp(LockTenure current) {
        return call((known, now) -> {
            ReliableRelease release = send(known, known.ownership.giveUp(current, now));
            known.tickets.askForUnsent(true, now);
            return release;
        });
    }

    /** Makes the next request wait for a release that no thread waits for. */
    void hold(LockTenure ended, ReliableRelease release) {
        run((known, now) -> known.ownership.releasing(ended, now));
        Resource.Event<LockState> over = (known, now) -> known.ownership.released(ended.sequence, now);
        release.confirmed().whenComplete((what, failure) -> run(over));
    }

    /**
     * Repeats a release until it is confirmed. The thread that was inside doesn't wait for the answer: if that says
     * that the tenure was lost, the session's listener is told. After the lease, nothing follows from that.
     */
    void insistFor(LockTenure ended, ReliableRelease release) {
        release.insist().confirmed().thenAccept(released -> {
            if (released == Released.NOTHING && !ended.isOver(session.now())) {
                session.reportUnnoticed(lose(ended, LockState.OWNER_CHANGED, false));
            }
        });
    }

    /** Has the tenure go on for reading only. It ought to be usable. */
    ReliableRelease downgrade(LockTenure current) {
        return call((known, now) -> {
            Release release = known.ownership.downgrade(current, now);
            ReliableRelease sent =
                    ReliableRelease.downgrade(session, resource, scripts, release, known.ownership.floor());
            tell(release, sent);
            sent.confirmed()
                    .thenAccept(released -> run((later, then) -> {
                        if (!later.ownership.downgraded(current, released)) {
                            later.lose(current, LockState.OWNER_CHANGED, then);
                        }
                    }));
            return sent;
        });
    }

    /** Marks a tenure lost, and tells the lock the first time. Returns the loss. */
    LeaseLostException lose(LockTenure current, String reason) {
        return call((known, now) -> known.lose(current, reason, now));
    }

    /** As {@link #lose}, of a tenure of which it is known whether threads rely on it. */
    LeaseLostException lose(LockTenure current, String reason, boolean isRelied) {
        return call((known, now) -> known.lose(current, reason, isRelied, now));
    }

    /**
     * Asks Redis whether the session still owns the name. The result completes with the answer, or if there is none.
     */
    CompletableFuture<?> confirm(LockTenure current) {
        return this.<CompletableFuture<?>>call((known, now) -> {
            CompletableFuture<Void> answer = confirmation == null ? new CompletableFuture<>() : confirmation;
            confirmation = answer;
            current.renewNow(now, known.effects);
            return answer;
        });
    }

    /** Renews a tenure at once, for the sake of what the reply tells about waiters. */
    void renewNow(LockTenure current) {
        run((known, now) -> current.renewNow(now, known.effects));
    }

    /** The lease renewer comes by. Returns the renewal that is due. */
    @Nullable
    Renewal keep(LockTenure current) {
        Renew due = this.<@Nullable Renew>call((known, now) -> current.keep(now, known.effects));
        return due == null ? null : renewal(due);
    }

    /** Counts the threads that wait for a condition once all signals of a tenure are done, asking Redis if need be. */
    CompletableFuture<SignalReply> count(LockTenure current, String condition, boolean isListed) {
        return call((known, now) -> {
            SignalReply counted = known.conditions().count(current, condition);
            return counted == null
                    ? send(known.conditions().signals(current, condition, isListed, now))
                    : CompletableFuture.completedFuture(counted);
        });
    }

    // ---- what Redis and the session tell

    void receive(Mail mail) {
        if (mail instanceof Mail.Grant grant) {
            boolean isReplicated = session.runner().isReplicated();
            session.settings().suspensions().look();
            run((known, now) -> known.granted(grant, isReplicated, now));
        } else if (mail instanceof Mail.Admission admission) {
            run((known, now) ->
                    admission.waiters().forEach(one -> known.conditions().admitted(one.waiter(), one.ticket(), now)));
        } else if (mail instanceof Mail.Demand demand) {
            run((known, now) -> known.ownership.demanded(demand.sequence(), now));
        } else if (mail instanceof Mail.DemandOver over) {
            run((known, now) -> known.ownership.undemanded(over.sequence(), now));
        } else if (mail instanceof Mail.IdleQuestion question) {
            owner.asked(question);
        } else if (mail instanceof Mail.IdleAnswer answer) {
            run((known, now) -> known.answered(answer));
        } else if (mail instanceof Mail.Eviction eviction) {
            run((known, now) -> evict(known, eviction, now));
        } else if (mail instanceof Mail.AskAgain again) {
            // Threads poll by themselves, however late a message says that they should.
            long millis = Math.min(again.millis(), TimeUnit.NANOSECONDS.toMillis(TicketQueue.POLL_NANOS));
            session.schedule(() -> run((known, now) -> known.tickets.beat(Plain.ASK, now)), millis);
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
    private void evict(LockState known, Mail.Eviction eviction, long now) {
        LockTenure current = view.tenure;
        // Asked before the token is looked at.
        boolean isMeant = owner.isInside() && current != null && current.token() == eviction.token();
        if (current != null && isMeant) {
            known.lose(current, "an operator has released it", now);
            ReliableRelease.giveBack(
                    session, resource, scripts, current.sequence, 0, false, current.tokens.remotePart() + 1);
        }
        String report = new Mail.Report(eviction.number(), session.id(), isMeant ? "1" : "0").text();
        resource.later(() -> session.send(eviction.asker(), report));
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
        run(LockState::pulse);
    }

    CompletableFuture<?> close() {
        List<CompletableFuture<?>> releases = new ArrayList<>();
        run((known, now) -> {
            LockTenure current = view.tenure;
            if (current != null) {
                // First, or a thread would take it for its own while another session has it.
                known.lose(current, "its session was closed", now);
            }
            List<Inquiry> last =
                    known.ownership.hasConditions() ? known.conditions().close(now) : List.of();
            for (Inquiry inquiry : last) {
                long floor = known.ownership.floor();
                releases.add(resource.send(() -> scripts.await(inquiry, floor)));
            }
            known.ownership
                    .close(now)
                    .forEach(release -> releases.add(send(known, release).confirmed()));
        });
        owner.changed();
        return CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new));
    }

    // ---- effects

    @Override
    public void carryOut(LockState known, long now) {
        carryOut();
        known.settle(now);
        carryOut();
    }

    private void carryOut() {
        for (LockEffect next = state.effects.poll(); next != null; next = state.effects.poll()) {
            if (next instanceof Plain plain) {
                carryOut(plain);
            } else if (next instanceof GiveUp what) {
                send(state, what.release()).insist();
            } else if (next instanceof GiveBack what) {
                long floor = state.ownership.floor();
                ReliableRelease.giveBack(
                        session, resource, scripts, what.sequence(), what.waiter(), what.isSignalLost(), floor);
            } else if (next instanceof Signal signal) {
                var unused = send(signal.signals());
            } else if (next instanceof Renew renew) {
                List<Renewal> renewal = List.of(renewal(renew));
                resource.later(() -> session.renewer().renew(renewal));
            } else if (next instanceof Report report) {
                report(report.leftNanos(), report.failure());
            } else if (next instanceof Lost lost) {
                boolean isRelied = lost.isRelied() == null ? owner.isRelied() : lost.isRelied();
                resource.later(isRelied ? () -> owner.lost(lost.loss()) : owner::changed);
            } else if (next instanceof Unanswered unanswered) {
                resource.later(() -> owner.unanswered(unanswered.waitedNanos()));
            } else if (next instanceof WakeWaiter woken) {
                resource.later(woken.waiter()::wake);
            } else if (next instanceof LookAt look) {
                // One timer doesn't end with a tenure, as names may change hands a thousand times a second.
                resource.lookAt(look.nanos());
            }
        }
    }

    private void carryOut(Plain effect) {
        switch (effect) {
            case PIN -> pin();
            case UNPIN -> unpin();
            case LISTEN -> listen();
            case STOP_LISTENING -> stopListening();
            case ASK -> requests.send(session.now());
            case ASK_TOGETHER -> askTogether();
            case ASK_LATER -> requests.tellLater();
            case ASK_FOR_WAITERS -> inquiries().tell();
            case BEAT_FOR_WAITERS -> inquiries().beat(true);
            case CONFIRM -> confirmed();
            case WAKE -> resource.later(owner::changed);
            case DEMANDED -> resource.later(owner::demanded);
            case UNDEMANDED -> resource.later(owner::undemanded);
            case CLEAN_UP -> resource.later(owner::cleanUp);
            case SHARE -> resource.later(owner::share);
        }
    }

    private void askTogether() {
        isTogether = true;
        try {
            requests.send(session.now());
        } finally {
            isTogether = false;
        }
    }

    private void pin() {
        session.pin(scripts.key(), owner);
        if (session.isClosed()) {
            state.ownership.missed(session.now());
        }
    }

    private void unpin() {
        session.unpin(scripts.key(), owner);
        resource.cancelLook();
    }

    private void listen() {
        if (subscription == null) {
            subscription = session.channels().listen(scripts.channel(), () -> run(LockState::beat));
        }
    }

    private void stopListening() {
        if (subscription != null) {
            subscription.close();
            subscription = null;
        }
    }

    private CommandLoop<WaiterAnswer> inquiries() {
        if (inquiries == null) {
            inquiries = new CommandLoop<>(session, resource, new Inquiries());
        }
        return inquiries;
    }

    private void confirmed() {
        CompletableFuture<Void> waiting = confirmation;
        if (waiting != null) {
            confirmation = null;
            resource.later(() -> waiting.complete(null));
        }
    }

    @Override
    public void due(LockState known, long now) {
        known.due(now);
        owner.due();
    }

    private Renewal renewal(Renew due) {
        return new Renewal(scripts.renew(due.sequence(), due.leaseMillis()), (reply, failure) -> {
            if (failure != null && Failures.isSplit(failure)) {
                scripts.prolong(due.sequence(), due.leaseMillis())
                        .whenComplete((prolonged, thrown) -> renewed(due, prolonged, thrown));
            } else {
                renewed(due, reply, failure);
            }
        });
    }

    private void renewed(Renew sent, @Nullable List<Object> reply, @Nullable Throwable failure) {
        LockScripts.Renewal renewal = reply == null ? null : LockScripts.renewal(reply);
        Throwable cause = failure == null ? null : Failures.cause(failure);
        session.settings().suspensions().look();
        run((known, now) -> known.renewed(sent, renewal, cause, now));
    }

    private void report(long leftNanos, @Nullable Throwable failure) {
        if (failure == null) {
            session.renewer().renewed(owner.name(), leftNanos);
        } else {
            session.renewer().renewalFailed(owner.name(), leftNanos, failure);
        }
    }

    private ReliableRelease send(LockState known, Release release) {
        ReliableRelease sent = ReliableRelease.of(session, resource, scripts, release, known.ownership.floor());
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

    private CompletableFuture<SignalReply> send(Signals signals) {
        CompletableFuture<SignalReply> reply = resource.send(() -> scripts.signal(signals));
        reply.whenComplete((signalled, failure) -> run((known, now) -> known.signalled(signals, signalled, now)));
        return reply;
    }

    /** The commands about tickets. */
    private final class Requests implements CommandLoop.Speaker<TicketAnswer> {
        @Override
        public @Nullable Supplier<CompletableFuture<TicketAnswer>> say(long now) {
            long firstSequence = session.nextSequences(state.tickets.unsent());
            Request request = state.request(firstSequence, requests.repeatAtNanos(), now);
            if (request == null) {
                return null;
            }
            long floor = state.ownership.floor();
            boolean isHeartbeat = isTogether && scripts.isHeartbeat(request);
            return () -> (isHeartbeat ? scripts.heartbeat(request, floor) : scripts.acquire(request, floor))
                    .thenApply(reply -> new TicketAnswer(request, reply));
        }

        @Override
        public void answered(long sentNanos, TicketAnswer answer) {
            long now = session.settings().suspensions().look();
            ended();
            state.answered(answer.request, answer.reply, sentNanos == requests.sentNanos(), now);
            carryOut();
        }

        /** The leader looks at what an answer has brought, or that there is none. */
        private void ended() {
            if (!requests.isInFlight()) {
                state.tickets.commandEnded();
            }
            state.effects.add(Plain.WAKE);
        }

        @Override
        public void failed(Throwable cause) {
            ended();
            state.tickets.asksAgain = true;
            state.tickets.requestEnded();
        }

        @Override
        public boolean refused(Throwable cause) {
            ended();
            boolean isThrown = state.requestRefused(cause);
            state.tickets.requestEnded();
            return isThrown;
        }
    }

    /** The commands about waiters of conditions. */
    private final class Inquiries implements CommandLoop.Speaker<WaiterAnswer> {
        @Override
        public @Nullable Supplier<CompletableFuture<WaiterAnswer>> say(long now) {
            Inquiry inquiry = state.conditions().inquiry(now);
            long floor = state.ownership.floor();
            return inquiry == null
                    ? null
                    : () -> scripts.await(inquiry, floor).thenApply(replies -> new WaiterAnswer(inquiry, replies));
        }

        @Override
        public void answered(long sentNanos, WaiterAnswer answer) {
            state.conditions().answered(answer.inquiry, sentNanos, answer.replies, session.now());
            state.effects.add(Plain.WAKE);
            carryOut();
        }

        @Override
        public boolean refused(Throwable cause) {
            state.effects.add(Plain.WAKE);
            return state.conditions().refused(cause, session.now());
        }
    }
}
