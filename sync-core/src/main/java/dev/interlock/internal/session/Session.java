package dev.interlock.internal.session;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.events.FlightEvents;
import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * One owner of names, as Redis sees it. Has one mailbox at each Redis that it uses, one pulse and one lease renewer,
 * however many names it uses:
 *
 * <ul>
 *   <li>The <em>mailbox</em> is the channel on which grants and demands arrive.
 *   <li>The <em>pulse</em>, once a second, asks anew about every name that threads wait for. So a lost message costs a
 *       second, and Redis knows that the waiters are alive.
 *   <li>The <em>lease renewer</em> renews what the session owns, every third of the lease, and notices leases that are
 *       over.
 * </ul>
 *
 * <p>Sequences belong to the session and only grow, so that no two requests for a name share one even if the lock
 * object was dropped in between.
 */
public abstract class Session {
    /**
     * How far apart the sequences are that a session gives itself. Scripts count on no more waiters than that at a
     * time.
     */
    public static final long SEQUENCE_STEP = 1 << 20;

    /**
     * Sequences begin at a random one, so that strangers can't tell which tickets a session has. That is one of the
     * first sixteenth of those up to 2^53, above which scripts can't tell neighbours from each other.
     */
    private static final long MOST_BEGINNINGS = 1 << 29;

    private static final Logger log = LoggerFactory.getLogger(Session.class);
    private static final RareLog FAILED = new RareLog();
    private static final RareLog FORGED = new RareLog();
    private static final RareLog LOST = new RareLog();
    private static final RareLog UNNOTICED = new RareLog();
    private static final long PULSE_MILLIS = 1_000;
    private static final long WATCH_MILLIS = 100;
    private static final int MOST_OUTSTANDING = 1_000;

    /** A lease that begins with a short one leaves time for some attempts to renew it. */
    private static final long KEEP_MILLIS = 250;

    /** A first connection may take longer than a command: Redisson opens its pool, and retries. */
    private static final long OPEN_MILLIS = 10_000;

    private final Settings settings;
    private final LongSupplier ticker;
    private final Environment environment;
    private final Outage outage;
    private final LeaseRenewer renewer;
    private final Pace pace;
    private final AtomicLong sequences;
    private final ConcurrentMap<Object, Participant> participants = new ConcurrentHashMap<>();

    /** Commands that have yet to be confirmed, though no participant speaks of them any more. */
    private final ConcurrentMap<Object, CompletableFuture<?>> outstanding = new ConcurrentHashMap<>();

    /** Those of them that are to be repeated. One timer serves them all, since there may be thousands a second. */
    private final ConcurrentMap<Long, ReliableCommand<?>> watched = new ConcurrentSkipListMap<>();

    private final AtomicLong commands = new AtomicLong();

    private final AtomicBoolean watching = new AtomicBoolean();

    /** Whether threads get nothing more than they have. */
    private volatile boolean closing;

    private volatile boolean closed;

    /** Whether what was not confirmed when the session was closed has been given up. */
    private volatile boolean isSwept;

    /**
     * Creates a session that doesn't beat yet.
     *
     * @param renewals sends renewals
     */
    protected Session(Settings settings, Environment environment, Outage outage, LeaseRenewer.Sender renewals) {
        this.settings = settings;
        this.environment = environment;
        this.outage = outage;
        this.renewer = new LeaseRenewer(settings, environment, renewals, environment.reports());
        this.ticker = settings.ticker();
        this.pace = new Pace(environment.namesASecond(), ticker.getAsLong());
        this.sequences = new AtomicLong(environment.random().nextLong(MOST_BEGINNINGS) * SEQUENCE_STEP);
    }

    /** Returns the mailboxes of this session. */
    protected abstract List<Mailbox> mailboxes();

    /** Sends at once what is still to be repeated, because the session is being closed. */
    protected abstract void flush();

    /** Lets go of what the session has been using. */
    protected abstract void release();

    /** Takes a message for a name in which no participant is interested any more. */
    protected abstract void receiveUnclaimed(Mail mail);

    /** Returns for how long opening waits for Redis at most. */
    protected final long openMillis() {
        return Math.max(OPEN_MILLIS, settings.commandTimeoutMillis());
    }

    /** Begins to beat, and to renew. */
    protected final void start() {
        repeat(this::beat, PULSE_MILLIS);
        repeat(() -> renewer.keep(participants.values()), keepMillis());
    }

    private long keepMillis() {
        return Math.max(5, Math.min(KEEP_MILLIS, settings.leaseMillis() / 10));
    }

    private void repeat(Runnable task, long millis) {
        schedule(
                () -> {
                    guarded(task).run();
                    repeat(task, millis);
                },
                millis);
    }

    // What one task meets must not end the beats of a session.
    static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                FAILED.say(
                        e.getClass().getName(),
                        often -> log.error(
                                "A task of the session failed; please report this as a defect of Interlock{}",
                                often,
                                e));
            }
        };
    }

    /** Returns the id: a fresh one, since two sessions may share one client. */
    public final String id() {
        return environment.id();
    }

    @Override
    public final String toString() {
        return settings.sessionName() + " (" + id() + ")";
    }

    /** Throws {@link IllegalStateException} if the session is closed. */
    public final void ensureOpen() {
        if (closed) {
            throw closure();
        }
    }

    /** Throws {@link IllegalStateException} if the session is closed, or about to be. */
    public final void ensureAcquiring() {
        if (closing) {
            throw closure();
        }
    }

    /** Returns what threads get that ask a closed session for something. */
    public final IllegalStateException closure() {
        return new IllegalStateException("the Interlock session is closed");
    }

    /** Returns whether threads get nothing more than they have: this session is closed, or about to be. */
    public final boolean isClosing() {
        return closing;
    }

    /** Returns whether this session has given everything back, or is about to. */
    public final boolean isClosed() {
        return closed;
    }

    /** Returns the key for a name: the name, within the session's namespace. */
    public final String key(String name) {
        return settings.namespace().isEmpty() ? name : settings.namespace() + ":" + name;
    }

    /** Returns what this session was configured with. */
    public final Settings settings() {
        return settings;
    }

    /** Returns what knows of outages. */
    public final Outage outage() {
        return outage;
    }

    /** Returns what renews leases. */
    public final LeaseRenewer renewer() {
        return renewer;
    }

    /** Returns how often this session asks about the names for whose locks it waits. */
    public final Pace pace() {
        return pace;
    }

    /** Returns what spins for replies that are due. */
    public final AnswerSpinner spinner() {
        return environment.spinner();
    }

    /** Returns a source of random numbers. */
    public final RandomGenerator random() {
        return environment.random();
    }

    /** Returns the ticker's reading. */
    public final long now() {
        return ticker.getAsLong();
    }

    /**
     * Returns a sequence that this session has not used yet, greater than all before: a multiple of
     * {@link #SEQUENCE_STEP}. Those between are for scripts to give to waiters of conditions.
     */
    public final long nextSequence() {
        return nextSequences(1);
    }

    /** Returns the first of so many sequences, each greater than all before. */
    public final long nextSequences(int count) {
        return sequences.getAndAdd(count * SEQUENCE_STEP) + SEQUENCE_STEP;
    }

    // ---- participants

    /** Keeps an object alive, and in the beat of pulse and lease renewer, until {@link #unpin}. */
    public final void pin(Object key, Participant participant) {
        participants.put(key, participant);
    }

    /** Ends what {@link #pin} began. What is still to be confirmed has to be {@linkplain #expect expected} before. */
    public final void unpin(Object key, Participant participant) {
        participants.remove(key, participant);
    }

    /** Returns what is pinned: what owns a name, or waits for it. */
    public final Collection<Participant> participants() {
        return Collections.unmodifiableCollection(participants.values());
    }

    /** Returns how many locks threads have now. */
    public final int heldLocks() {
        return (int)
                participants.values().stream().filter(Participant::isInside).count();
    }

    /** Has {@link #close} wait for a command's confirmation, until that is there or was cancelled. */
    public final void expect(Object command, CompletableFuture<?> confirmation) {
        outstanding.put(command, confirmation);
        if (isSwept) {
            confirmation.completeExceptionally(closure());
        }
        confirmation.whenComplete((done, failure) -> outstanding.remove(command));
    }

    /** Returns whether too many commands are unconfirmed for threads to add one without waiting for it. */
    public final boolean isBacklogged() {
        return outstanding.size() > MOST_OUTSTANDING;
    }

    /** Returns whether such a command is still to be confirmed. */
    public final boolean isExpected(Predicate<Object> command) {
        return outstanding.keySet().stream().anyMatch(command);
    }

    /** Returns what completes when such commands are confirmed, or can't be. */
    public final CompletableFuture<?> confirmations(Predicate<Object> command) {
        return CompletableFuture.allOf(outstanding.entrySet().stream()
                .filter(entry -> command.test(entry.getKey()))
                .map(Map.Entry::getValue)
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Returns a number for the next command: they are looked at in the order in which they were made. */
    final long nextCommand() {
        return commands.incrementAndGet();
    }

    /** Has {@link ReliableCommand#look} called now and then, until {@link #unwatch}. */
    final void watch(ReliableCommand<?> command) {
        watched.put(command.number(), command);
        if (watching.compareAndSet(false, true)) {
            schedule(this::lookAfterCommands, WATCH_MILLIS);
        }
    }

    final void unwatch(ReliableCommand<?> command) {
        watched.remove(command.number());
    }

    private void lookAfterCommands() {
        watched.values().forEach(command -> guarded(command::look).run());
        if (!watched.isEmpty()) {
            schedule(this::lookAfterCommands, WATCH_MILLIS);
            return;
        }
        watching.set(false);
        watched.values().stream().findAny().ifPresent(this::watch);
    }

    private void beat() {
        pace.beat((int)
                participants.values().stream().filter(Participant::isQueued).count());
        pulse();
    }

    /** Messages may have been lost. */
    final void messagesLost() {
        pace.messagesLost(now());
        execute(this::pulse);
    }

    /** Asks anew about every name. */
    protected final void pulse() {
        participants.values().forEach(participant -> guarded(participant::pulse).run());
    }

    // What is granted in vain is given back, which rules out all sequences up to it. A stranger's number that is yet to
    // come would rule out those of the future.
    private boolean isOfTheFuture(Mail mail) {
        Long ticket = mail.greatestTicket();
        return ticket != null && ticket >= sequences.get() + SEQUENCE_STEP;
    }

    /** Takes a message from a mailbox. */
    protected final void receive(Mail mail) {
        if (isOfTheFuture(mail)) {
            FORGED.say(
                    id(),
                    often -> log.warn(
                            "A message tells of a ticket that this session has never had; it is ignored{}", often));
            return;
        }
        Participant participant = participants.get(mail.key());
        if (participant != null) {
            participant.receive(mail);
        } else if (!closed) {
            receiveUnclaimed(mail);
        }
    }

    // ---- threads

    /** Runs a task that doesn't block, soon. */
    public final void execute(Runnable task) {
        schedule(task, 0);
    }

    /** Runs a task that doesn't block, unless the session is closed before. */
    @CanIgnoreReturnValue
    public final Scheduled schedule(Runnable task, long millis) {
        return environment.schedule(task, millis);
    }

    /** Wakes a thread that waits by a {@link RemoteWait}. */
    public final void wake(Thread thread) {
        environment.unpark(thread);
    }

    final long nanoTime() {
        return environment.nanoTime();
    }

    final void park(Object blocker, long nanos) {
        environment.park(blocker, nanos);
    }

    /**
     * Waits for an answer, one command time-out at most; null if there was none, or it was a failure. Interrupts are
     * kept for later.
     */
    public final <T> @Nullable T await(CompletableFuture<T> answer) {
        return RemoteWait.forAnswer(this, answer, TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis()));
    }

    /**
     * Returns the answer to a question about how things stand, for which it waits one command time-out at most.
     *
     * @param what what it is about, as {@code for lock 'orders'}
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if this session is closed, or for a reason that lasts
     */
    public final <T> T answer(CompletableFuture<T> asked, String what) {
        T answer = await(asked);
        if (answer != null) {
            return answer;
        }
        ensureOpen();
        if (!asked.isDone()) {
            throw new RedisUnavailableException(
                    "Redis has not answered " + what + " within " + settings.commandTimeoutMillis() + " ms",
                    outage.cause());
        }
        Throwable cause = Failures.of(asked);
        throw Failures.isTransient(cause)
                ? new RedisUnavailableException("Redis doesn't answer " + what + ": " + Failures.brief(cause), cause)
                : Failures.refusal("to answer " + what, cause);
    }

    // ---- listeners

    /** Runs users' listeners, which may take their time, one after the other. */
    public final Executor listeners() {
        return environment.listeners();
    }

    /** As {@link #listeners}, for what is dropped if a listener keeps too much waiting. */
    public final Executor reports() {
        return environment.reports();
    }

    /** Runs tasks, which may take any time, in a thread that does nothing else, until a stage completes. */
    public final Executor threadOfItsOwn(String role, CompletionStage<?> until) {
        return environment.threadOfItsOwn(role, until);
    }

    /** Runs what users have depend on answers for which they don't wait. */
    public final Executor continuations() {
        return environment.continuations();
    }

    /** Runs a listener on the current thread, which locks or unlocks, unless that is the one that serves all names. */
    public final void tell(Runnable listener) {
        if (environment.isTimerThread()) {
            reports().execute(listener);
            return;
        }
        // What a listener throws must not cost the thread its lock.
        try {
            listener.run();
        } catch (RuntimeException | Error e) {
            log.warn("A listener failed; what it has thrown is ignored", e);
        }
    }

    /**
     * Returns a listener of losses as one that may be called by any thread, and neither delays nor fails others. Calls
     * come one after the other.
     */
    public final Consumer<LeaseLostException> aside(Consumer<? super LeaseLostException> listener) {
        Executor executor = environment.listenerOfItsOwn();
        return loss -> executor.execute(() -> {
            try {
                listener.accept(loss);
            } catch (RuntimeException | Error e) {
                log.warn(
                        "Listener {} failed; what it has thrown is ignored",
                        listener.getClass().getName(),
                        e);
            }
        });
    }

    /** Tells the session's listener and those of the lock, which are {@link #aside}. */
    public final void reportLoss(LeaseLostException loss, List<Consumer<LeaseLostException>> local) {
        LOST.say(
                id() + loss.lockName(),
                often -> log.atLevel(closed ? Level.DEBUG : Level.WARN).log("{}{}", loss.getMessage(), often));
        FlightEvents.lost(id(), loss, true);
        listeners().execute(() -> settings.listener().lost(loss));
        local.forEach(listener -> listener.accept(loss));
    }

    /** Tells the session's listener of a loss of which the thread that relied on the lock has not heard. */
    public final void reportUnnoticed(LeaseLostException loss) {
        UNNOTICED.say(
                id() + loss.lockName(),
                often -> log.warn(
                        "A thread has given up what was lost already, and has not heard of that. {}{}",
                        loss.getMessage(),
                        often));
        FlightEvents.lost(id(), loss, false);
        listeners().execute(() -> settings.listener().lostUnnoticed(loss));
    }

    // ---- the end

    /** Waits so long at most until no thread has anything, and refuses nothing. Returns whether it is so. */
    public final boolean awaitHolders(long waitNanos) {
        return HolderWait.await(this, waitNanos, Participant::held).isEmpty();
    }

    /** Refuses new acquisitions, and gives back what nobody has, since the session is about to be closed. */
    public final void refuse() {
        closing = true;
        if (!closed) {
            HolderWait.await(this, 0, Participant::retire);
        }
    }

    /** Gives everything back. */
    public final void close() {
        close(0);
    }

    /** Refuses new acquisitions, waits so long at most for threads that have something, and gives everything back. */
    public final void close(long waitNanos) {
        closing = true;
        String held = HolderWait.await(this, waitNanos, Participant::retire);
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (!held.isEmpty()) {
            log.warn("Session {} is closed while its threads have {}, which they have lost", this, held);
        }
        long deadline = now() + TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis());
        try {
            List<CompletableFuture<?>> confirmations = new ArrayList<>();
            participants
                    .values()
                    .forEach(participant -> guarded(() -> confirmations.add(participant.close()))
                            .run());
            // Afterwards: a participant that was let go in this moment has left a command.
            confirmations.addAll(outstanding.values());
            flush();
            await(CompletableFuture.allOf(confirmations.toArray(CompletableFuture<?>[]::new)));
            // What isn't confirmed by now nobody repeats.
            isSwept = true;
            List.copyOf(outstanding.values()).forEach(command -> command.completeExceptionally(closure()));
            mailboxes().forEach(mailbox -> close(mailbox, deadline));
        } finally {
            stop();
            log.info("Session {} is closed", this);
        }
    }

    private void close(Mailbox mailbox, long deadline) {
        CompletableFuture<?> closing = mailbox.close();
        RemoteWait.forAnswer(this, closing, Math.max(TimeUnit.MILLISECONDS.toNanos(1), deadline - now()));
        if (!closing.isDone() || closing.isCompletedExceptionally()) {
            log.debug("The mailbox could not be closed in an orderly way");
        }
    }

    /** Ends the session without giving anything back. */
    protected final void stop() {
        closing = true;
        closed = true;
        environment.stop();
        release();
    }
}
