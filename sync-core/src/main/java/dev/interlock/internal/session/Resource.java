package dev.interlock.internal.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of one name in one session, and the only mutex with which it changes.
 *
 * <p>Each change is an <em>event</em>, handled by the thread that brings it: a thread that wants the name or is done
 * with it, the reply to a command, a message in the mailbox, a beat of the pulse or of the lease renewer, the time that
 * was {@linkplain #lookAt asked for}. At its end the owner of the state carries out the effects. Nothing blocks under
 * the mutex, which comes after any lock of users' threads and before any of the session.
 *
 * <p>What could keep others waiting for the mutex is done {@linkplain #later once it is free}, in the order in which
 * events have asked for it, by one thread at a time: commands are sent, threads woken, listeners told. So a thread that
 * takes a reply doesn't wait for another one's write to a socket, and yet no command overtakes an earlier one.
 *
 * @param <S> the state
 */
public final class Resource<S> {
    /** An event that has an answer. */
    @FunctionalInterface
    @NullUnmarked // whether the answer may be null is up to each event
    public interface Query<S, R> {
        /** Happens, with the mutex held. */
        R on(S state, long nowNanos);
    }

    /** An event. */
    @FunctionalInterface
    public interface Event<S> {
        /** Happens, with the mutex held. */
        void on(S state, long nowNanos);
    }

    /** Carries out the effects of events. Called with the mutex held; must not block. */
    public interface Owner<S> {
        /** The end of each event. */
        void carryOut(S state, long nowNanos);

        /** It is the time that was asked for by {@link #lookAt}, or later. */
        default void due(S state, long nowNanos) {}
    }

    private static final Logger log = LoggerFactory.getLogger(Resource.class);
    private static final RareLog REFUSED = new RareLog();

    /** A thread runs so many tasks at a time; then one of the session's threads goes on. */
    private static final int MOST_AT_A_TIME = 100;

    private final Session session;
    private final String key;
    private final Owner<S> owner;
    private final ReentrantLock mutex = new ReentrantLock();

    @GuardedBy("mutex")
    private final S state;

    /** Tasks to run without the mutex, in this order. They are added with the mutex held. */
    private final Queue<Runnable> later = new ConcurrentLinkedQueue<>();

    /** Whether a thread runs them. It also runs those that are added meanwhile. */
    private final AtomicBoolean isWorking = new AtomicBoolean();

    /** The timer of the next look, if there is one. */
    @GuardedBy("mutex")
    private @Nullable Scheduled timer;

    /** If there is a timer: when it is over. */
    @GuardedBy("mutex")
    private long lookAtNanos;

    /**
     * Creates one in which nothing has happened yet.
     *
     * @param key what the log calls the name
     */
    public Resource(Session session, String key, S state, Owner<S> owner) {
        this.session = session;
        this.key = key;
        this.state = state;
        this.owner = owner;
    }

    /** Returns one without a state: for commands about a name, each of which stands by itself. */
    public static Resource<?> ofCommands(Session session, String key) {
        return new Resource<>(session, key, key, (state, now) -> {});
    }

    /** An event happens. Returns its answer, when its effects have been carried out. */
    public <R extends @Nullable Object> R call(Query<? super S, R> event) {
        mutex.lock();
        try {
            long now = session.now();
            try {
                return event.on(state, now);
            } finally {
                // An event within an event is a part of that.
                if (mutex.getHoldCount() == 1) {
                    owner.carryOut(state, now);
                }
            }
        } finally {
            mutex.unlock();
            if (!later.isEmpty() && !mutex.isHeldByCurrentThread()) {
                work();
            }
        }
    }

    /** As {@link #call}, of an event without an answer. */
    public void run(Event<? super S> event) {
        this.<@Nullable Void>call((known, now) -> {
            event.on(known, now);
            return null;
        });
    }

    /** Runs the tasks, unless another thread does. */
    private void work() {
        int done = 0;
        while (!later.isEmpty() && isWorking.compareAndSet(false, true)) {
            for (Runnable task = later.poll(); task != null; task = later.poll()) {
                Session.guarded(task).run();
                done++;
                if (done >= MOST_AT_A_TIME && !session.isClosed()) {
                    break;
                }
            }
            isWorking.set(false);
            if (done >= MOST_AT_A_TIME && !session.isClosed()) {
                session.execute(this::work);
                return;
            }
        }
    }

    /** Returns whether the current thread is in an event. */
    public boolean isHeld() {
        return mutex.isHeldByCurrentThread();
    }

    void assertHeld() {
        assert isHeld();
    }

    // ---- what events ask for

    /** Runs a task as soon as the mutex is free, after those added before. It must not block. */
    public void later(Runnable task) {
        assertHeld();
        later.add(task);
    }

    /** Sends a command as soon as the mutex is free. */
    public <R> CompletableFuture<R> send(Supplier<CompletableFuture<R>> command) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        later(() -> command.get().whenComplete((reply, failure) -> {
            if (failure == null) {
                answer.complete(reply);
            } else {
                answer.completeExceptionally(failure);
            }
        }));
        return answer;
    }

    /**
     * Calls {@link Owner#due} at that time, or earlier if an earlier time was given before. There is one timer at most,
     * however often this is called.
     */
    @SuppressWarnings("GuardedBy") // asserted
    public void lookAt(long nanos) {
        assertHeld();
        if (timer != null && lookAtNanos - nanos <= 0) {
            return;
        }
        cancelLook();
        lookAtNanos = nanos;
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos - session.now() + 999_999);
        timer = session.schedule(this::look, Math.max(0, millis));
    }

    private void look() {
        run((known, now) -> {
            looked();
            owner.due(known, now);
        });
    }

    @SuppressWarnings("GuardedBy") // asserted
    private void looked() {
        assertHeld();
        timer = null;
    }

    /** Nothing is to be looked at any more. */
    @SuppressWarnings("GuardedBy") // asserted
    public void cancelLook() {
        assertHeld();
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** Redis has refused a command by what no repeat will mend, and no thread hears of that: so the log does. */
    public void refused(Throwable cause) {
        String why = Failures.brief(cause);
        // For each reason, since it may concern all names.
        REFUSED.say(why, often -> log.warn("Redis refuses commands about {}: {}{}", Names.quoted(key), why, often));
    }
}
