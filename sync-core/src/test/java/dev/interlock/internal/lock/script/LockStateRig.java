package dev.interlock.internal.lock.script;

import com.google.common.base.Verify;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockEffect.GiveBack;
import dev.interlock.internal.lock.script.LockEffect.GiveUp;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
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
import dev.interlock.internal.lock.script.LockState.Advance;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Pace;
import dev.interlock.internal.session.Session;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The owner of a lock's state that a test is: brings the events, and writes down the effects. Sequences are told in the
 * session's steps: {@code 2} is its second one, {@code 2+1} the first that a script has derived from that.
 */
final class LockStateRig {
    static final long LEASE_MILLIS = 30_000;
    static final long FIXED_MILLIS = 20_000;
    static final long SILENCE_MILLIS = 1_000;
    static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long OUTAGE_NANOS = TimeUnit.SECONDS.toNanos(30);

    final Settings settings;
    final LockView view;
    final LockState state;
    final Pace pace;
    private final List<String> effects = new ArrayList<>();
    private final Suspensions suspensions;
    private final Queue<Renew> renewals = new ArrayDeque<>();
    private long millis;
    private long suspendedMillis;
    private long sequence;
    private boolean isWaitersPending;
    private @Nullable Signals signalled;
    private @Nullable Inquiry inquiry;
    private long inquiryNanos;
    /** The command about tickets that is in flight. */
    @Nullable
    Request inFlight;

    private Attempt lastTry = new Attempt(Thread.currentThread(), 0, true, false, 0);
    boolean closed;
    /** What was given up last. */
    @Nullable
    Release released;

    LockStateRig(boolean fair) {
        this(fair, 1_000);
    }

    /** Creates one whose clock begins at a time. */
    LockStateRig(boolean fair, long begunMillis) {
        millis = begunMillis;
        suspensions = Settings.suspensions(this::now, this::wallClock, LEASE_MILLIS);
        settings = new Settings(
                LEASE_MILLIS,
                0,
                false,
                false,
                false,
                OUTAGE_NANOS,
                SILENCE_MILLIS,
                0,
                "",
                "x",
                new Listeners(),
                this::now,
                suspensions);
        view = new LockView(fair, new KeepPolicy(SLICE_NANOS, false, 0, false), SILENCE_MILLIS, now());
        pace = new Pace(1, now());
        state = new LockState("name", view, settings, pace, now());
    }

    // ---- time

    long now() {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    void pass(long passedMillis) {
        millis += passedMillis;
    }

    private Instant wallClock() {
        return Instant.ofEpochMilli(millis + suspendedMillis);
    }

    /** The machine is suspended, which is noticed. */
    void suspend() {
        suspendUnnoticed();
        suspensions.look();
        pass(1);
    }

    void suspendUnnoticed() {
        pass(1);
        suspendedMillis += 9_000;
    }

    // ---- events

    static Thread thread(String name) {
        return new Thread(() -> {}, name);
    }

    static long step(long number) {
        return number * Session.SEQUENCE_STEP;
    }

    <R extends @Nullable Object> R event(Supplier<R> event) {
        LockTenure before = view.tenure;
        try {
            return event.get();
        } finally {
            LockTenure begun = view.tenure;
            if (begun != null && begun != before) {
                effects.add("begin " + number(begun.sequence));
            }
            carryOut();
            state.settle(now());
            carryOut();
        }
    }

    void event(Runnable event) {
        event(() -> {
            event.run();
            return true;
        });
    }

    Advance advance(Thread thread) {
        return advance(thread, RemoteLock.RENEWED, false, false);
    }

    Advance read(Thread thread) {
        return advance(thread, RemoteLock.RENEWED, false, true);
    }

    Advance tryOnce(Thread thread, boolean isFirst) {
        Attempt attempt = isFirst ? new Attempt(thread, RemoteLock.RENEWED, true, false, now()) : lastTry;
        lastTry = attempt;
        return event(() -> state.advance(attempt, isFirst, now()));
    }

    Advance advance(Thread thread, long lease, boolean asks, boolean reads) {
        Attempt attempt = new Attempt(thread, lease, false, reads, now());
        return event(() -> state.advance(attempt, asks, now()));
    }

    /** The command in flight is answered. */
    void answer(AcquireReply reply) {
        Request request = Objects.requireNonNull(inFlight);
        inFlight = null;
        answer(request, reply, true);
    }

    void answer(Request request, AcquireReply reply, boolean isLatest) {
        event(() -> {
            ended();
            state.answered(request, reply, isLatest, now());
            state.tickets.requestEnded();
        });
    }

    private void ended() {
        if (inFlight == null) {
            state.tickets.commandEnded();
        }
    }

    /** The command in flight has an answer that tells nothing. */
    void forget() {
        inFlight = null;
        ended();
    }

    /** A waiter's thread is about to queue for the local half. Returns the waiter that is to do so before. */
    Optional<Waiter> lineUp(Waiter waiter) {
        return event(() -> state.conditions().lineUp(waiter));
    }

    /** The name is granted. */
    LockTenure tenure(AcquireReply reply) {
        ask();
        answer(reply);
        return tenure();
    }

    void fail() {
        inFlight = null;
        event(() -> {
            ended();
            state.tickets.asksAgain = true;
            state.tickets.requestEnded();
        });
    }

    void refuse(Throwable cause) {
        inFlight = null;
        event(() -> {
            ended();
            state.requestRefused(cause);
            state.tickets.requestEnded();
        });
    }

    /** The name is released, and that is confirmed at once. */
    void giveUp() {
        released(release());
    }

    /** The release is sent. Returns what is released. */
    @CanIgnoreReturnValue
    LockTenure release() {
        LockTenure ended = tenure();
        event(() -> {
            state.effects.add(new GiveUp(state.ownership.giveUp(ended, now())));
            state.ownership.releasing(ended, now());
            state.tickets.askForUnsent(true, now());
        });
        return ended;
    }

    /** The tenure goes on for reading only; that is sent. */
    void downgrade(LockTenure current) {
        event(() -> state.effects.add(new GiveUp(state.ownership.downgrade(current, now()))));
    }

    /** It is confirmed. */
    void released(LockTenure ended) {
        event(() -> state.ownership.released(ended.sequence, now()));
    }

    /** The last release with operations was confirmed. */
    void confirm(Released what) {
        Release release = Objects.requireNonNull(released);
        event(() -> state.conditions().released(release.operations().registered(), what, now()));
    }

    boolean grant(Mail.Grant mail) {
        return event(() -> state.ownership.granted(mail, false, now()));
    }

    void withdraw() {
        event(() -> state.ownership.withdraw(Objects.requireNonNull(view.ticket), now()));
    }

    Waiter enlist(Thread thread, String condition) {
        return event(() -> state.conditions().enlist(thread, tenure(), condition, nextSequence(), now()));
    }

    /** Counts the threads that wait for a condition without asking Redis. */
    SignalReply count(String condition) {
        return Objects.requireNonNull(state.conditions().count(tenure(), condition));
    }

    void signal(String condition, boolean all) {
        event(() -> state.conditions().signal(tenure(), condition, all, now()));
    }

    /** What was sent ahead is answered. */
    boolean answerSignals(@Nullable SignalReply reply) {
        Signals sent = Objects.requireNonNull(signalled);
        signalled = null;
        return event(() -> state.conditions().signalled(tenure(), sent, reply, now()));
    }

    void admit(long waiter, long ticket) {
        event(() -> state.conditions().admitted(waiter, ticket, now()));
    }

    /** The command about waiters is answered. */
    void answerWaiters(WaiterReply... replies) {
        Inquiry said = Objects.requireNonNull(inquiry);
        inquiry = null;
        event(() -> state.conditions().answered(said, inquiryNanos, List.of(replies), now()));
        if (isWaitersPending && inquiry == null) {
            askForWaiters();
        }
    }

    /** The command about waiters is refused for good. */
    void refuseWaiters() {
        inquiry = null;
        event(() -> state.conditions().refused(new IllegalStateException("WRONGTYPE"), now()));
    }

    LockTenure tenure() {
        return Objects.requireNonNull(view.tenure);
    }

    // ---- threads that own the lock, and wait for its conditions

    /** A thread owns the lock. */
    void own(Thread thread) {
        advance(thread);
        Request request = Objects.requireNonNull(inFlight);
        answer(LockReplies.granted(request.sequences().get(0), state.ownership.floor() + 9));
        Verify.verify(advance(thread) == Advance.ENTERED);
        effects();
    }

    /** A thread waits, and Redis has confirmed that. */
    Waiter waiting(Thread thread, String condition) {
        own(thread);
        Waiter waiter = enlist(thread, condition);
        giveUp();
        confirm(Released.TENURE);
        effects();
        return waiter;
    }

    void leave(Waiter waiter) {
        event(() -> state.conditions().leave(waiter, now()));
    }

    boolean abandon(Waiter waiter) {
        return event(() -> state.conditions().abandon(waiter));
    }

    void arrive(Waiter waiter, boolean isLost) {
        event(() -> state.conditions().arrived(waiter, isLost));
    }

    /** The tenure is renewed at once, if that may be. */
    void renew() {
        event(() -> tenure().renewNow(now(), state.effects));
    }

    /** The first renewal that was sent is answered. */
    void answerRenewal(boolean isOwned) {
        List<Object> reply = isOwned ? List.of(1L, LEASE_MILLIS, 0L, 0L) : List.of(0L, 0L, 0L, 0L);
        event(() -> state.renewed(renewals.remove(), LockScripts.renewal(reply), null, now()));
    }

    // ---- effects

    /** Returns the effects since the last call. */
    List<String> effects() {
        List<String> taken = List.copyOf(effects);
        effects.clear();
        return taken;
    }

    private static String number(long number) {
        long rest = number % Session.SEQUENCE_STEP;
        return number / Session.SEQUENCE_STEP + (rest == 0 ? "" : "+" + rest);
    }

    private static String numbers(List<Ticket> tickets) {
        return tickets.stream().map(ticket -> " " + number(ticket.sequence)).collect(Collectors.joining());
    }

    private long nextSequence() {
        sequence += Session.SEQUENCE_STEP;
        return sequence;
    }

    private void carryOut() {
        for (LockEffect next = state.effects.poll(); next != null; next = state.effects.poll()) {
            if (next instanceof Plain plain) {
                carryOut(plain);
            } else if (next instanceof GiveUp what) {
                giveUp(what.release());
            } else if (next instanceof GiveBack what) {
                effects.add("give back " + number(what.sequence()) + (what.isSignalLost() ? ", signal lost" : ""));
            } else if (next instanceof Signal signal) {
                signalled = signal.signals();
                effects.add("signal " + signal.signals().operations().text());
            } else if (next instanceof Renew renew) {
                renewals.add(renew);
                effects.add("renew");
            } else if (next instanceof Unanswered unanswered) {
                effects.add("unanswered after " + TimeUnit.NANOSECONDS.toMillis(unanswered.waitedNanos()));
            } else if (next instanceof LookAt look) {
                effects.add("look in " + TimeUnit.NANOSECONDS.toMillis(look.nanos() - now()));
            } else if (next instanceof LockEffect.Lost) {
                effects.add("lost");
            } else if (next instanceof WakeWaiter woken) {
                woken.waiter().wake();
            } else if (!(next instanceof Report)) {
                throw new AssertionError(next);
            }
        }
    }

    private void carryOut(Plain effect) {
        switch (effect) {
            case ASK, ASK_TOGETHER -> ask();
            case ASK_FOR_WAITERS -> askForWaiters();
            case BEAT_FOR_WAITERS -> {
                if (inquiry == null) {
                    askForWaiters();
                }
            }
            case PIN -> {
                effects.add("pin");
                if (closed) {
                    event(() -> state.ownership.missed(now()));
                }
            }
            case WAKE -> effects.add("changed");
            case CONFIRM -> {}
            case STOP_LISTENING -> effects.add("don't listen");
            default -> effects.add(plain(effect));
        }
    }

    private static String plain(Plain effect) {
        return effect.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** A command about tickets is sent. */
    void ask() {
        long first = sequence + Session.SEQUENCE_STEP;
        Request request = state.request(first, now() + TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS), now());
        if (request != null) {
            inFlight = request;
            sequence = Math.max(sequence, Collections.max(request.sequences().asList()));
            String earlier = request.earlier() > 0 ? " from " + number(request.earlier()) : "";
            String used = request.used().isEmpty() ? "" : " used" + numbers(request.used());
            effects.add("ask" + numbers(request.tickets()) + earlier + used);
        }
    }

    private void askForWaiters() {
        isWaitersPending = inquiry != null;
        Inquiry next = inquiry == null ? state.conditions().inquiry(now()) : null;
        if (next != null) {
            inquiry = next;
            inquiryNanos = now();
            effects.add("ask for " + next.asked().size() + " waiters, "
                    + next.leaving().size() + " leave, " + next.gone().size() + " gone"
                    + (next.isSignalLost() ? ", signal lost" : ""));
        }
    }

    private void giveUp(Release release) {
        released = release;
        String used = release.used().isEmpty() ? "" : " used" + numbers(release.used());
        String operations = release.operations().text();
        effects.add(
                "release " + number(release.ticket().sequence) + used + (operations.isEmpty() ? "" : " " + operations));
    }

    /** A time has come that the state looks at. */
    void due() {
        event(() -> state.due(now()));
    }

    /** The pulse beats. */
    void pulse() {
        event(() -> state.pulse(now()));
    }

    /** The session is closed. */
    void close() {
        closed = true;
        event(() -> {
            for (Inquiry last : state.conditions().close(now())) {
                effects.add("tell " + last.gone().size() + " gone" + (last.isSignalLost() ? ", signal lost" : ""));
            }
            state.ownership.close(now()).forEach(release -> state.effects.add(new GiveUp(release)));
        });
    }
}
