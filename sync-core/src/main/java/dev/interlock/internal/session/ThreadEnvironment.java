package dev.interlock.internal.session;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.SessionId;
import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Real time and the threads of this JVM: one for the timer, some for users' listeners and for continuations. */
public final class ThreadEnvironment implements Environment {
    private static final Logger log = LoggerFactory.getLogger(ThreadEnvironment.class);
    private static final RareLog DROPPED = new RareLog();

    /** So many reports wait at most for a listener that takes its time. */
    private static final int MOST_REPORTS = 1_000;

    /** How many continuations may block without stalling others. One that joins a future stalls none. */
    private static final int CONTINUATIONS = 16;

    /** So many listeners may stand still before they delay others. */
    private static final int MOST_SLEEPING = 32;

    private final String id;
    private final ScheduledThreadPoolExecutor timer;
    private volatile @Nullable Thread timerThread;
    private final ThreadPoolExecutor listeners;
    private final ForkJoinPool continuations;
    private final ThreadPoolExecutor ownListeners;

    /** By the real time, however slowly the ticker goes. */
    private final AnswerSpinner spinner = new AnswerSpinner(System::nanoTime);

    /** Creates it for a session whose id ends in a suffix. */
    public ThreadEnvironment(String suffix) {
        this.id = SessionId.fresh(suffix);
        ThreadFactory timers = threads("timer");
        this.timer = new ScheduledThreadPoolExecutor(1, task -> timerThread = timers.newThread(task));
        this.timer.setRemoveOnCancelPolicy(true);
        this.listeners = pool(1, "listeners");
        this.ownListeners = pool(MOST_SLEEPING, "listener");
        this.continuations = new ForkJoinPool(CONTINUATIONS, this::continuationThread, null, true);
    }

    private ThreadPoolExecutor pool(int most, String role) {
        var pool = new ThreadPoolExecutor(most, most, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads(role));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private ForkJoinWorkerThread continuationThread(ForkJoinPool pool) {
        ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
        // The factory's is the system's, which doesn't see an application that a launcher has loaded, with this
        // library.
        thread.setContextClassLoader(ThreadEnvironment.class.getClassLoader());
        thread.setName("interlock-continuations-" + SessionId.brief(id));
        return thread;
    }

    private ThreadFactory threads(String role) {
        return new ThreadFactoryBuilder()
                .setDaemon(true)
                .setNameFormat("interlock-" + role + "-" + SessionId.brief(id))
                .build();
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public Scheduled schedule(Runnable task, long millis) {
        try {
            Future<?> scheduled = timer.schedule(Session.guarded(task), millis, TimeUnit.MILLISECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException e) {
            log.debug("A task was dropped since the session is closed", e);
            return () -> {};
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public boolean isTimerThread() {
        return Thread.currentThread() == timerThread;
    }

    @Override
    public Executor listeners() {
        return unlessClosed(listeners);
    }

    @Override
    public Executor listenerOfItsOwn() {
        return unlessClosed(MoreExecutors.newSequentialExecutor(ownListeners));
    }

    @Override
    public Executor threadOfItsOwn(String role, CompletionStage<?> until) {
        var pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads(role));
        // A thread that can't be had fails the caller, now, and no task later.
        pool.prestartCoreThread();
        until.whenComplete((done, failure) -> pool.shutdown());
        return pool;
    }

    private static Executor unlessClosed(Executor executor) {
        return task -> {
            try {
                executor.execute(Session.guarded(task));
            } catch (RejectedExecutionException e) {
                log.debug("A listener was not told since the session is closed", e);
            }
        };
    }

    @Override
    public Executor reports() {
        return task -> {
            if (listeners.getQueue().size() < MOST_REPORTS) {
                listeners().execute(task);
            } else {
                DROPPED.say(
                        id,
                        often -> log.warn(
                                "A listener of session {} keeps {} reports waiting: one of a renewal, or the like, was"
                                        + " dropped{}",
                                id,
                                MOST_REPORTS,
                                often));
            }
        };
    }

    @Override
    public Executor continuations() {
        return task -> {
            try {
                continuations.execute(task);
            } catch (RejectedExecutionException e) {
                log.debug("A continuation runs where its answer has come, since the session is closed", e);
                task.run();
            }
        };
    }

    @Override
    public void park(Object blocker, long nanos) {
        LockSupport.parkNanos(blocker, nanos);
    }

    @Override
    public void unpark(Thread thread) {
        LockSupport.unpark(thread);
    }

    @Override
    public AnswerSpinner spinner() {
        return spinner;
    }

    @Override
    public RandomGenerator random() {
        return ThreadLocalRandom.current();
    }

    @Override
    public void stop() {
        timer.shutdownNow();
        listeners.shutdown();
        continuations.shutdown();
        ownListeners.shutdown();
    }
}
