package dev.interlock.internal.redis;

import dev.interlock.SyncListener;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.events.FlightEvents;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.events.RedisOutage;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows since when Redis has not answered this session. One outage for all names and threads, so that those who queue
 * behind each other fail together and not one after the other.
 */
public final class Outage {
    private static final Logger log = LoggerFactory.getLogger(Outage.class);

    /** How often a long outage is spoken of. */
    private static final long REMINDER_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** How long a failure of Redis says something about now. */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final String who;
    private final String session;
    private final LongSupplier ticker;
    private final long silenceNanos;
    private final long patienceNanos;
    private final Executor executor;
    private final Listeners listeners;

    private volatile boolean active;

    /** Whether it is the replicas that don't answer: then it isn't over when the master does. */
    private volatile boolean unacknowledged;

    /** Whether the last answer was that Redis doesn't know a script, and since when all answers are. */
    private volatile boolean isForgetful;

    private volatile long forgetfulNanos;

    private volatile long heardNanos;
    private volatile long acknowledgedNanos;
    private long sinceNanos;
    private long lastFailureNanos;
    private long lastWarningNanos;

    /** For outages that come one after the other. */
    private final RareLog warnings = new RareLog();

    /** Whether the outage is one that the log has been told of. */
    private volatile boolean isSaid;

    private @Nullable Throwable cause;
    private @Nullable RedisOutage event;

    /** Creates the record of outages of the one Redis. */
    public Outage(String session, Settings settings, Executor executor) {
        this("Redis", session, settings, executor);
    }

    /**
     * Creates the record of somebody's outages.
     *
     * @param who whose, for people
     * @param session the id of the session that meets them
     */
    public Outage(String who, String session, Settings settings, Executor executor) {
        this.who = who;
        this.session = session;
        this.ticker = settings.ticker();
        this.heardNanos = ticker.getAsLong();
        this.acknowledgedNanos = heardNanos;
        this.silenceNanos = settings.silenceNanos();
        this.patienceNanos = settings.redisTimeoutNanos();
        this.listeners = settings.listeners();
        this.executor = executor;
    }

    /** Adds a listener to those of the session. It hears of an outage that it has come too late for. */
    public synchronized void addListener(SyncListener added) {
        Throwable failure = cause;
        if (listeners.add(added) && active && failure != null) {
            SyncListener told = Listeners.asOne(List.of(added));
            executor.execute(() -> told.redisUnreachable(failure));
        }
    }

    /** A command that was sent then has failed, or has been silent for too long. */
    public synchronized void failed(long sentNanos, Throwable failure) {
        boolean isUnacknowledged = failure instanceof Replicas.UnacknowledgedException;
        if (sentNanos - (isUnacknowledged ? acknowledgedNanos : heardNanos) < 0) {
            // One command got lost, or its connection has gone mute: Redis has answered another one since.
            return;
        }
        unacknowledged |= isUnacknowledged;
        lastFailureNanos = ticker.getAsLong();
        cause = failure;
        if (active) {
            remind();
            return;
        }
        sinceNanos = sentNanos;
        lastWarningNanos = lastFailureNanos;
        active = true;
        event = FlightEvents.outage(who, session, Failures.brief(failure));
        SyncListener told = listeners.current();
        executor.execute(() -> {
            isSaid = warnings.say(
                    who, often -> log.warn("{} doesn't answer: {}{}", who, Failures.brief(failure), often));
            told.redisUnreachable(failure);
        });
    }

    private synchronized void remind() {
        Throwable latest = cause;
        if (latest != null && lastFailureNanos - lastWarningNanos >= REMINDER_NANOS) {
            lastWarningNanos = lastFailureNanos;
            long seconds = TimeUnit.NANOSECONDS.toSeconds(lastFailureNanos - sinceNanos);
            executor.execute(() -> log.warn("{} has not answered for {} s: {}", who, seconds, Failures.brief(latest)));
        }
    }

    /**
     * Redis doesn't know the script that was sent then, and is told it. One that has learned none after a while counts
     * as one that doesn't answer.
     */
    void forgot(long sentNanos, Throwable failure) {
        if (!isForgetful) {
            forgetfulNanos = sentNanos;
            isForgetful = true;
        } else if (sentNanos - forgetfulNanos >= silenceNanos) {
            failed(sentNanos, failure);
        }
    }

    /** Redis has answered. */
    public void heard() {
        isForgetful = false;
        heardNanos = ticker.getAsLong();
        if (active && !unacknowledged) {
            end();
        }
    }

    /** Redis has answered, and as many replicas as have to have acknowledged that. */
    void acknowledged() {
        acknowledgedNanos = ticker.getAsLong();
        heardNanos = acknowledgedNanos;
        isForgetful = false;
        if (active) {
            end();
        }
    }

    private synchronized void end() {
        if (active) {
            active = false;
            unacknowledged = false;
            cause = null;
            long nanos = ticker.getAsLong() - sinceNanos;
            if (event != null) {
                event.ended(nanos);
                event = null;
            }
            SyncListener told = listeners.current();
            executor.execute(() -> {
                if (isSaid) {
                    log.info("{} answers again, after {} ms", who, nanos / 1_000_000);
                }
                told.redisReachable(nanos);
            });
        }
    }

    /** Returns whether the last that was heard of Redis is a failure. */
    public boolean isActive() {
        return active;
    }

    /** As {@link #isActive}, for those who don't wait for replicas. */
    public boolean isOfTheMaster() {
        return active && !unacknowledged;
    }

    /**
     * Returns whether a thread that would wait for ever has waited out the outage for as long as it should, going by a
     * failure that is recent: what failed long ago deserves another try.
     */
    public synchronized boolean isTooLong() {
        long now = ticker.getAsLong();
        return active && now - sinceNanos >= patienceNanos && now - lastFailureNanos < RECENT_NANOS;
    }

    /** Returns what the outage was last noticed by, or null if there is none. */
    public synchronized @Nullable Throwable cause() {
        return cause;
    }
}
