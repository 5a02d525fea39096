package dev.interlock.internal.session;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.Settings;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a session and Redis have to tell each other about one name. Whatever the session has to say it says as a whole,
 * by one command that describes how things stand with it; the answer describes how they stand in Redis. So a command
 * that was lost, or whose answer was, need not be repeated as it was: the next one says it all.
 *
 * <p>There is one command at a time, and what comes up meanwhile goes with the next. A command carries a
 * <em>version</em> that only grows, by which its script refuses one that was delayed on its way. One that is not
 * answered is followed by another: the first time after a second, for its connection may have gone mute, and then after
 * as long as anybody waits for an answer; one that has failed, by another a moment later. What no repetition will mend
 * isn't repeated, unless something has been done that Redis {@linkplain #insist has to hear of}: that is said until the
 * lease is over. While threads wait for anything the pulse asks as well, so that a lost message costs a second.
 *
 * <p>Whatever changes the state is an event, handled under {@link #mutex} by whichever thread brings it. Nothing blocks
 * under the mutex.
 */
public abstract class StateSync implements Participant {
    private static final Logger log = LoggerFactory.getLogger(StateSync.class);
    private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long RETRY_MILLIS = 200;

    protected final Session session;

    /** The key that messages about this name carry. */
    protected final String key;

    /** Guards the state; comes after any lock of users, before any of the session. */
    protected final ReentrantLock mutex = new ReentrantLock();

    /** Who waits for the answer to a command of at least that version. */
    private record Confirmation(long version, CompletableFuture<Void> answered) {}

    private final List<Confirmation> confirmations = new ArrayList<>();

    /** Whether there is something to say that the command under way doesn't. */
    private boolean pending;

    private boolean inFlight;

    /** Version of the last command. */
    private long version;

    /** Version of the latest command that was answered. */
    private long answeredVersion;

    private long sentNanos;

    /** If a command is under way: when the silence began. */
    private long silentSinceNanos;

    /** If a command is under way: whether the last one was silent. */
    private boolean repeated;

    /** When the latest command was sent that Redis has answered. */
    private long heardNanos;

    private boolean heard;

    /** The command of this version, or a later one, has to get through even if Redis refuses it. */
    private long owedVersion;

    /** If Redis has refused the latest command that it has answered: since when it does. */
    private long refusedNanos;

    private boolean refused;

    protected StateSync(Session session, String key) {
        this.session = session;
        this.key = key;
    }

    /** Returns the command that says how things stand. Called under the mutex. */
    protected abstract Call command(long version);

    /** Takes the answer to the latest command that has been answered. Called under the mutex. */
    protected abstract void answered(List<Object> reply);

    /** Returns the version of the last command: what has come up since then is unknown to any that is under way. */
    protected final long lastVersion() {
        return version;
    }

    /** Returns the version of the latest command that was answered. */
    protected final long answeredVersion() {
        return answeredVersion;
    }

    /** Takes what no repetition will mend. Called under the mutex. */
    protected abstract void refused(Throwable failure);

    /** Returns whether threads wait for something that Redis may have to say. */
    protected abstract boolean isWaiting();

    /** Returns whether Redis has to hear of this session within its lease, lest it takes it to be dead. */
    protected abstract boolean isLeased();

    /** Returns whether the session has to keep this alive. */
    protected boolean isNeeded() {
        return inFlight || pending || isWaiting() || isLeased();
    }

    /** Returns whether where there are replicas one of them has to have what a command did before it is answered. */
    protected boolean isDurable() {
        return true;
    }

    /** Tells Redis how things stand: now, or when the command under way has been answered. The caller has the mutex. */
    protected final void tell() {
        pending = true;
        if (!inFlight) {
            send();
        }
        keepAlive();
    }

    /**
     * As {@link #tell}; the result completes when Redis has answered a command that says what is so by now, and fails
     * by what no repetition will mend.
     */
    protected final CompletableFuture<Void> tellAndHear() {
        var answered = new CompletableFuture<Void>();
        confirmations.add(new Confirmation(version + 1, answered));
        tell();
        return answered;
    }

    /** As {@link #tellAndHear}; but if Redis refuses it, it is told again until the lease is over. */
    protected final CompletableFuture<Void> insist() {
        owedVersion = version + 1;
        return tellAndHear();
    }

    private void send() {
        long now = session.now();
        repeated = isSilent(now);
        if (inFlight && now - silentSinceNanos >= session.settings().silenceNanos()) {
            session.outage().failed(silentSinceNanos, new RedisUnavailableException("no answer", null));
            silentSinceNanos = now;
        } else if (!inFlight) {
            silentSinceNanos = now;
        }
        sent(now);
        long sentVersion = version;
        Call call = command(sentVersion);
        CompletableFuture<List<Object>> reply = isDurable()
                ? session.runner().runDurably(call)
                : session.runner().run(call);
        reply.whenComplete((answer, failure) -> received(sentVersion, now, answer, failure));
    }

    private void sent(long now) {
        version = session.nextSequence();
        inFlight = true;
        pending = false;
        sentNanos = now;
    }

    private void received(long ofVersion, long sentAtNanos, @Nullable List<Object> reply, @Nullable Throwable failure) {
        List<CompletableFuture<Void>> confirmed = List.of();
        mutex.lock();
        try {
            boolean isLatest = ofVersion == version;
            inFlight &= !isLatest;
            if (reply != null && ofVersion > answeredVersion) {
                answeredVersion = ofVersion;
                heardNanos = sentAtNanos;
                heard = true;
                refused = false;
                answered(reply);
                confirmed = confirmedBy(ofVersion);
            } else if (failure != null && !ScriptRunner.isTransient(failure)) {
                refuse(ScriptRunner.cause(failure));
                return;
            } else if (failure != null && isLatest) {
                pending = true;
                session.schedule(this::follow, RETRY_MILLIS);
                keepAlive();
                return;
            }
            if (pending && !inFlight) {
                send();
            }
            keepAlive();
        } finally {
            mutex.unlock();
        }
        confirmed.forEach(waiting -> waiting.complete(null));
    }

    private void refuse(Throwable cause) {
        long now = session.now();
        if (!refused) {
            refused = true;
            refusedNanos = now;
            log.warn("Redis refuses what is said about {}: {}", Keys.quoted(key), ScriptRunner.brief(cause));
        }
        pending = false;
        // Before those are woken who will look at what that has changed.
        refused(cause);
        confirmations.forEach(waiting -> waiting.answered.completeExceptionally(cause));
        confirmations.clear();
        // With the pulse, not at once.
        long leaseNanos = TimeUnit.MILLISECONDS.toNanos(session.settings().leaseMillis());
        pending |= !inFlight && owedVersion > answeredVersion && now - refusedNanos < leaseNanos;
        keepAlive();
    }

    private List<CompletableFuture<Void>> confirmedBy(long ofVersion) {
        List<CompletableFuture<Void>> confirmed = new ArrayList<>();
        for (Iterator<Confirmation> all = confirmations.iterator(); all.hasNext(); ) {
            Confirmation waiting = all.next();
            if (waiting.version <= ofVersion) {
                confirmed.add(waiting.answered);
                all.remove();
            }
        }
        return confirmed;
    }

    /** Sends what is yet to be said, or what was not answered for too long. */
    private void follow() {
        mutex.lock();
        try {
            if ((pending && !inFlight) || isSilent(session.now())) {
                send();
            }
        } finally {
            mutex.unlock();
        }
    }

    private boolean isSilent(long now) {
        long silenceNanos = session.settings().silenceNanos();
        return inFlight && now - sentNanos >= (repeated ? silenceNanos : Math.min(REPEAT_NANOS, silenceNanos));
    }

    /** Asks at that time, unless nobody waits any more by then. */
    protected final void askIn(long millis) {
        session.schedule(this::pulse, millis);
    }

    /** Asks Redis now if threads wait, unless a command is under way. */
    @Override
    public void pulse() {
        mutex.lock();
        try {
            if (isSilent(session.now()) || (!inFlight && (pending || isWaiting()))) {
                send();
            }
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public @Nullable Renewal keep(long now) {
        mutex.lock();
        try {
            long periodNanos = TimeUnit.MILLISECONDS.toNanos(session.settings().leaseMillis()) / 3;
            if (!isLeased() || inFlight || now - heardNanos < periodNanos || now - sentNanos < periodNanos / 3) {
                return null;
            }
            silentSinceNanos = now;
            repeated = false;
            sent(now);
            long sentVersion = version;
            return new Renewal(command(sentVersion), (reply, failure) -> received(sentVersion, now, reply, failure));
        } finally {
            mutex.unlock();
        }
    }

    /** Returns until when Redis can't have taken this session to be dead; the past if it has never answered. */
    protected final long validUntilNanos() {
        long leaseMillis = session.settings().leaseMillis();
        return heard
                ? heardNanos + TimeUnit.MILLISECONDS.toNanos(leaseMillis - Settings.marginMillis(leaseMillis))
                : session.now() - 1;
    }

    /** Has the session keep this alive for as long as it is needed. The caller has the mutex. */
    protected final void keepAlive() {
        if (isNeeded()) {
            session.pin(key, this);
        } else {
            session.unpin(key, this);
        }
    }
}
