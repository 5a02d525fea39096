package dev.interlock.internal.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.LeaseRenewer.Scheduled;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Synchronizes the state of one name between a session and Redis. A command describes the whole state of the session,
 * its answer that in Redis. So a command that was lost, or whose answer was, need not be repeated as it was: the next
 * one says it all.
 *
 * <p>The commands are those of a {@link CommandLoop}. Each carries a <em>version</em> that only grows, by which its
 * script refuses one that was delayed on its way. What no repeat will mend isn't repeated, unless it is something that
 * Redis {@linkplain #insist has to hear of}: that is said until the lease is over. While threads wait for anything the
 * pulse asks as well, so that a lost message costs a second.
 *
 * <p>Each change of the state is an event, handled under {@link #mutex} by the thread that brings it. Nothing blocks
 * under the mutex.
 */
public abstract class StateSync implements Participant {
    private static final Logger log = LoggerFactory.getLogger(StateSync.class);
    private static final RareLog REFUSED = new RareLog();
    private static final Script PROLONG = Script.load("session/prolong");

    /** By default, Redis writes its log to disk once a second. */
    private static final long SAID_AGAIN_MILLIS = 2_000;

    protected final RedisSession session;

    /** The key that messages about this name carry. */
    protected final String key;

    /** Comes after any lock of users, before any of the session. */
    protected final ReentrantLock mutex = new ReentrantLock();

    /** Completes with the answer to a command of at least that version. */
    private record Confirmation(long version, CompletableFuture<Void> answered) {}

    /** What Redis has answered to the command of a version. */
    private record Reply(long version, List<Object> fields) {}

    @GuardedBy("mutex")
    private final CommandLoop<Reply> loop;

    @GuardedBy("mutex")
    private final List<Confirmation> confirmations = new ArrayList<>();

    /** Version of the last command. */
    @GuardedBy("mutex")
    private long version;

    /** Version of the latest command that was answered. */
    @GuardedBy("mutex")
    private long answeredVersion;

    /** Until when Redis can't have taken this session to be dead. */
    protected final Lease lease;

    /** The command of this version, or a later one, has to get through even if Redis refuses it. */
    @GuardedBy("mutex")
    private long owedVersion;

    /** If Redis has refused the latest command that it has answered: since when it does. */
    @GuardedBy("mutex")
    private long refusedNanos;

    @GuardedBy("mutex")
    private boolean refused;

    /** The timer that asks next, if there is one, and when it does. */
    @GuardedBy("mutex")
    private @Nullable Scheduled asking;

    @GuardedBy("mutex")
    private long askNanos;

    @GuardedBy("mutex")
    private boolean isToBeSaidAgain;

    protected StateSync(RedisSession session, String key) {
        this.session = session;
        this.key = key;
        this.loop = new CommandLoop<>(session, mutex, new Statements());
        // Redis has never answered.
        long now = session.now();
        this.lease = new Lease(session.settings().suspensions(), now, now);
    }

    /** Returns the command that says how things stand. */
    @GuardedBy("mutex")
    protected abstract Call command(long version);

    /** Takes the answer to the latest command that has been answered. The lease is as it was known before. */
    @GuardedBy("mutex")
    protected abstract void answered(List<Object> reply);

    /** Returns the version of the last command: what has come up since then is unknown to any that is under way. */
    @GuardedBy("mutex")
    protected final long lastVersion() {
        return version;
    }

    /** Returns the version of the latest command that was answered. */
    @GuardedBy("mutex")
    protected final long answeredVersion() {
        return answeredVersion;
    }

    /** Takes what no repetition will mend. */
    @GuardedBy("mutex")
    protected abstract void refused(Throwable failure);

    /** Takes a message from the mailbox. */
    @GuardedBy("mutex")
    protected abstract void mailed(Mail mail);

    /** Gives everything up because the session is closed. The result completes when Redis has confirmed. */
    @GuardedBy("mutex")
    protected abstract CompletableFuture<?> closed();

    /** Returns what {@link #toString} says. */
    @GuardedBy("mutex")
    protected abstract String description();

    /** Returns whether threads wait for something that Redis may have to say. */
    @GuardedBy("mutex")
    protected abstract boolean isWaiting();

    /** Returns whether Redis has to hear of this session within its lease, lest it takes it to be dead. */
    @GuardedBy("mutex")
    protected abstract boolean isLeased();

    /** Returns whether there is nothing that Redis ever has to hear any more. */
    @GuardedBy("mutex")
    protected boolean isSettled() {
        return false;
    }

    /** Returns whether the session keeps this alive for another reason. */
    @GuardedBy("mutex")
    protected boolean isHeld() {
        return false;
    }

    /** Returns whether where there are replicas one of them has to have what a command did before it is answered. */
    protected boolean isDurable() {
        return true;
    }

    /** Tells Redis how things stand: now, or when the command under way has been answered. */
    @GuardedBy("mutex")
    protected final void tell() {
        loop.tell();
        keepAlive();
    }

    /**
     * As {@link #tell}; the result completes when Redis has answered a command that says what is so by now, and fails
     * by what no repetition will mend.
     */
    @GuardedBy("mutex")
    protected final CompletableFuture<Void> tellAndHear() {
        var answered = new CompletableFuture<Void>();
        confirmations.add(new Confirmation(version + 1, answered));
        tell();
        return answered;
    }

    /**
     * As {@link #tellAndHear}; but if Redis refuses it, it is told again until the lease is over. And once more when
     * Redis has confirmed it: a crash may cost it the last second.
     */
    @GuardedBy("mutex")
    protected final CompletableFuture<Void> insist() {
        owedVersion = version + 1;
        if (!isToBeSaidAgain) {
            isToBeSaidAgain = true;
            session.schedule(this::sayAgain, SAID_AGAIN_MILLIS);
        }
        return tellAndHear();
    }

    /** Moves waiting confirmations to the next command, which repeats what Redis did not accept. */
    @GuardedBy("mutex")
    protected final void confirmByNext() {
        confirmations.replaceAll(waiting -> new Confirmation(version + 1, waiting.answered));
        owedVersion = version + 1;
    }

    private void sayAgain() {
        mutex.lock();
        try {
            isToBeSaidAgain = false;
            if (!isSettled()) {
                tell();
            }
        } finally {
            mutex.unlock();
        }
    }

    private final class Statements implements CommandLoop.Speaker<Reply> {
        /** To be completed without the mutex. */
        private final Queue<CompletableFuture<Void>> confirmed = new ConcurrentLinkedQueue<>();

        @Override
        @GuardedBy("mutex")
        public CompletableFuture<Reply> say(long nowNanos) {
            Call call = newCommand();
            long sentVersion = version;
            CompletableFuture<List<Object>> reply = isDurable()
                    ? session.runner().runDurably(call)
                    : session.runner().run(call);
            return reply.thenApply(fields -> new Reply(sentVersion, fields));
        }

        @Override
        @GuardedBy("mutex")
        public void answered(long sentNanos, Reply reply) {
            if (reply.version > answeredVersion) {
                answeredVersion = reply.version;
                refused = false;
                StateSync.this.answered(reply.fields);
                session.settings().suspensions().look();
                lease.extendTo(sentNanos, Lease.validUntil(sentNanos, leaseMillis()));
                moveConfirmed(reply.version);
            }
        }

        @GuardedBy("mutex")
        private void moveConfirmed(long ofVersion) {
            for (Iterator<Confirmation> all = confirmations.iterator(); all.hasNext(); ) {
                Confirmation waiting = all.next();
                if (waiting.version <= ofVersion) {
                    confirmed.add(waiting.answered);
                    all.remove();
                }
            }
        }

        @Override
        @GuardedBy("mutex")
        public void refused(Throwable cause) {
            refuse(cause);
        }

        @Override
        @GuardedBy("mutex")
        public void failed(Throwable cause) {
            if (Failures.isSplit(cause) && isLeased() && isRenewalWanted(session.now())) {
                prolong();
            }
        }

        @Override
        @GuardedBy("mutex")
        public void settled() {
            keepAlive();
        }

        @Override
        public void changed() {
            for (CompletableFuture<Void> next = confirmed.poll(); next != null; next = confirmed.poll()) {
                next.complete(null);
            }
        }
    }

    @GuardedBy("mutex")
    private Call newCommand() {
        version = session.nextSequence();
        return command(version);
    }

    @GuardedBy("mutex")
    private void refuse(Throwable cause) {
        long now = session.now();
        if (!refused) {
            refused = true;
            refusedNanos = now;
            REFUSED.say(
                    key,
                    often -> log.warn(
                            "Redis refuses commands about {}: {}{}", Names.quoted(key), Failures.brief(cause), often));
        }
        // Before the threads are woken that look at what this changes.
        refused(cause);
        confirmations.forEach(waiting -> waiting.answered.completeExceptionally(cause));
        confirmations.clear();
        long leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis());
        if (!loop.isInFlight() && owedVersion > answeredVersion && now - refusedNanos < leaseNanos) {
            loop.tellLater();
        }
    }

    /** Asks at that time, unless it does so earlier, or nobody waits any more by then. */
    @GuardedBy("mutex")
    protected final void askIn(long millis) {
        long at = session.now() + TimeUnit.MILLISECONDS.toNanos(millis);
        if (asking != null && askNanos - at > 0) {
            asking.cancel();
            asking = null;
        }
        if (asking == null) {
            askNanos = at;
            asking = session.schedule(this::askNow, millis);
        }
    }

    private void askNow() {
        mutex.lock();
        try {
            asking = null;
        } finally {
            mutex.unlock();
        }
        pulse();
    }

    /** Asks Redis now if threads wait, unless a command is under way. */
    @Override
    public void pulse() {
        mutex.lock();
        try {
            loop.beat(isWaiting());
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public @Nullable Renewal keep(long now) {
        mutex.lock();
        try {
            if (!isLeased() || !isRenewalDue(now)) {
                return null;
            }
            CommandLoop<Reply> commands = loop;
            int number = commands.begin(now);
            Call call = newCommand();
            long sentVersion = version;
            return new Renewal(call, (fields, failure) -> {
                Reply reply = fields == null ? null : new Reply(sentVersion, fields);
                commands.received(number, now, reply, failure);
            });
        } finally {
            mutex.unlock();
        }
    }

    /** Returns the key that has the ends of the sessions' leases, null if there are none. */
    protected @Nullable Object leasesKey() {
        return null;
    }

    /** Renews the lease alone: what else there is to say can't be said while keys are split between nodes. */
    @GuardedBy("mutex")
    private void prolong() {
        Object leases = leasesKey();
        if (leases != null) {
            long sentNanos = session.now();
            session.runner()
                    .run(PROLONG.on(List.of(leases), session.id(), leaseMillis()))
                    .thenAccept(reply -> prolonged(sentNanos, (Long) reply.get(1)));
        }
    }

    private void prolonged(long sentNanos, long ttlMillis) {
        mutex.lock();
        try {
            // Whether it is over, or there was none, the next command tells.
            if (ttlMillis > 0) {
                session.settings().suspensions().look();
                lease.extendTo(sentNanos, Lease.validUntil(sentNanos, ttlMillis));
            }
        } finally {
            mutex.unlock();
        }
    }

    private boolean isRenewalWanted(long now) {
        return lease.isInDoubt()
                || now - lease.sentNanos() >= session.settings().renewalNanos();
    }

    @GuardedBy("mutex")
    private boolean isRenewalDue(long now) {
        long periodNanos = session.settings().renewalNanos();
        boolean isDoubtNew = session.settings().suspensions().putInDoubt(loop.sentNanos());
        return !loop.isInFlight() && isRenewalWanted(now) && (isDoubtNew || now - loop.sentNanos() >= periodNanos / 3);
    }

    private long leaseMillis() {
        return session.settings().leaseMillis();
    }

    /** Has the session keep this alive for as long as it is needed. */
    @GuardedBy("mutex")
    protected final void keepAlive() {
        if (loop.isBusy() || isWaiting() || isLeased() || isHeld()) {
            session.pin(key, this);
        } else {
            session.unpin(key, this);
        }
    }

    @Override
    public final void receive(Mail mail) {
        mutex.lock();
        try {
            mailed(mail);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public final CompletableFuture<?> close() {
        mutex.lock();
        try {
            return closed();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public final String toString() {
        mutex.lock();
        try {
            return description();
        } finally {
            mutex.unlock();
        }
    }
}
