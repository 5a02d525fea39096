package dev.interlock.internal.lock.script;

import com.google.common.base.Verify;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.ConditionLog.Signals;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.Inquiry;
import dev.interlock.internal.lock.script.LockScripts.Request;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.LockState.Advance;
import dev.interlock.internal.lock.script.LockState.Attempt;
import dev.interlock.internal.lock.script.ReliableRelease.Release;
import dev.interlock.internal.lock.script.ReliableRelease.Released;
import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.LeaseRenewer;
import dev.interlock.internal.session.Pace;
import dev.interlock.internal.session.Session;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The owner of a lock's state that a test is: brings the events, and writes down the effects. Sequences are told in the
 * session's steps: {@code 2} is its second one, {@code 2+1} the first that a script has derived from that.
 */
final class LockStateRig implements LockEffects, LockTenure.Owner {
    static final long LEASE_MILLIS = 30_000;
    static final long FIXED_MILLIS = 20_000;
    static final long SILENCE_MILLIS = 1_000;
    private static final long OUTAGE_NANOS = TimeUnit.SECONDS.toNanos(30);

    final LockView view;
    final LockState state;
    final Pace pace;
    private final LeaseRenewer renewer;
    private final List<String> effects = new ArrayList<>();
    private final List<CompletableFuture<SignalReply>> signals = new ArrayList<>();
    private final Suspensions suspensions;
    private final Queue<CompletableFuture<List<Object>>> renewals = new ArrayDeque<>();
    private long millis;
    private long suspendedMillis;
    private long sequence;
    private long asked;
    private boolean isPinned;
    private boolean isListening;
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
        Settings settings = new Settings(
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
        renewer = new LeaseRenewer(settings, (task, delay) -> () -> {}, this::sendRenewals, Runnable::run);
        view = new LockView(fair, SILENCE_MILLIS, now());
        pace = new Pace(1, now());
        state = new LockState("name", view, settings, pace, this, now());
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
        R result = event.get();
        state.settle(now());
        return result;
    }

    void event(Runnable event) {
        event.run();
        state.settle(now());
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
            state.answered(request, reply, isLatest, now());
            state.tickets.requestEnded();
        });
    }

    /** The name is granted. */
    LockTenure tenure(AcquireReply reply) {
        event(() -> ask(now()));
        answer(reply);
        return tenure();
    }

    void fail() {
        inFlight = null;
        event(() -> {
            state.tickets.asksAgain = true;
            state.tickets.requestEnded();
        });
    }

    void refuse(Throwable cause) {
        inFlight = null;
        event(() -> {
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
            release(state.ownership.giveUp(ended, now()));
            state.ownership.releasing(ended, now());
            state.tickets.askForUnsent(true, now());
        });
        return ended;
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
        event(() -> state.withdraw(Objects.requireNonNull(view.ticket), now()));
    }

    Waiter enlist(Thread thread, String condition) {
        return event(() -> state.conditions().enlist(thread, tenure(), condition, now()));
    }

    void signal(String condition, boolean all) {
        event(() -> state.conditions().signal(tenure(), condition, all, now()));
    }

    /** What was sent ahead is answered. */
    boolean answerSignals(@Nullable SignalReply reply) {
        Signals sent = Objects.requireNonNull(signalled);
        signalled = null;
        return event(() -> state.conditions().signalled(sent, reply, now()));
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

    private List<CompletableFuture<List<Object>>> sendRenewals(List<Script.Call> calls) {
        List<CompletableFuture<List<Object>>> replies = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            effects.add("renew");
            replies.add(new CompletableFuture<>());
        }
        renewals.addAll(replies);
        return replies;
    }

    /** The first renewal that was sent is answered. */
    void answerRenewal(boolean isOwned) {
        List<Object> reply = isOwned ? List.of(1L, LEASE_MILLIS, 0L, 0L) : List.of(0L, 0L, 0L, 0L);
        event(() -> renewals.remove().complete(reply));
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

    @Override
    public long nextSequence() {
        sequence += Session.SEQUENCE_STEP;
        return sequence;
    }

    @Override
    public boolean pin() {
        if (!isPinned) {
            isPinned = true;
            effects.add("pin");
        }
        return !closed;
    }

    @Override
    public void unpin() {
        if (isPinned) {
            isPinned = false;
            effects.add("unpin");
        }
    }

    @Override
    public void listen(boolean isForeign) {
        if (isListening != isForeign) {
            isListening = isForeign;
            effects.add(isForeign ? "listen" : "don't listen");
        }
    }

    @Override
    public boolean isAsking() {
        return inFlight != null;
    }

    @Override
    public long repeatAtNanos() {
        return asked + TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS);
    }

    @Override
    public void ask(long now) {
        Request request = state.request(now);
        if (request != null) {
            inFlight = request;
            asked = now;
            String earlier = request.earlier() > 0 ? " from " + number(request.earlier()) : "";
            String used = request.used().isEmpty() ? "" : " used" + numbers(request.used());
            effects.add("ask" + numbers(request.tickets()) + earlier + used);
        }
    }

    @Override
    public void askLater() {
        effects.add("ask later");
    }

    @Override
    public void askForWaiters() {
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

    @Override
    public void beatForWaiters() {
        if (inquiry == null) {
            askForWaiters();
        }
    }

    @Override
    public LockTenure begin(Ticket ticket, long token, long now, long sentNanos, long validUntilNanos) {
        effects.add("begin " + number(ticket.sequence));
        return new LockTenure(renewer, this, ticket, token, now, sentNanos, validUntilNanos);
    }

    @Override
    public void release(Release release) {
        released = release;
        String used = release.used().isEmpty() ? "" : " used" + numbers(release.used());
        String operations = release.operations().text();
        effects.add(
                "release " + number(release.ticket().sequence) + used + (operations.isEmpty() ? "" : " " + operations));
    }

    @Override
    public void giveBack(long unwanted, long waiter, boolean isSignalLost) {
        effects.add("give back " + number(unwanted) + (isSignalLost ? ", signal lost" : ""));
    }

    @Override
    public CompletableFuture<SignalReply> signal(Signals sent) {
        signalled = sent;
        effects.add("signal " + sent.operations().text());
        CompletableFuture<SignalReply> reply = new CompletableFuture<>();
        signals.add(reply);
        return reply;
    }

    // ---- the lock

    @Override
    public String name() {
        return "name";
    }

    @Override
    public void changed() {
        effects.add("changed");
    }

    @Override
    public void demanded() {
        effects.add("demanded");
    }

    @Override
    public void unanswered(long waitedNanos) {
        effects.add("unanswered after " + TimeUnit.NANOSECONDS.toMillis(waitedNanos));
    }

    @Override
    public boolean isRelied() {
        return false;
    }

    @Override
    public void lost(LeaseLostException loss) {
        effects.add("lost");
    }

    @Override
    public Script.Call renewal(long renewed, long renewedMillis) {
        return Script.load("lock/renew")
                .on(Collections.nCopies(4, "name"), "session", renewed, renewedMillis, "", "publish");
    }

    @Override
    public CompletableFuture<List<Object>> prolong(long renewed, long renewedMillis) {
        throw new UnsupportedOperationException("no key is split");
    }

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        return null;
    }

    @Override
    public void pulse() {
        event(() -> state.beat(now()));
    }

    @Override
    public CompletableFuture<?> close() {
        closed = true;
        event(() -> {
            for (Inquiry last : state.conditions().close(now())) {
                effects.add("tell " + last.gone().size() + " gone" + (last.isSignalLost() ? ", signal lost" : ""));
            }
            state.close(now()).forEach(this::release);
        });
        return CompletableFuture.completedFuture(null);
    }
}
