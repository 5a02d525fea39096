package dev.interlock.internal.session;

import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Synchronizes the state of one name between a session and Redis. A command describes the whole state of the session,
 * its answer that in Redis. So a command that was lost, or whose answer was, need not be repeated as it was: the next
 * one says it all.
 *
 * <p>The state is that of a {@link Resource}, the commands are those of a {@link CommandLoop}. Each carries a
 * <em>version</em> that only grows, by which its script refuses one that was delayed on its way. What no repeat will
 * mend isn't repeated, unless it is something that Redis {@linkplain #insist has to hear of}: that is said until the
 * lease is over. While threads wait for anything the pulse asks as well, so that a lost message costs a second.
 *
 * <p>What is protected and has a state as a parameter is called in an event, and so are {@link #tell},
 * {@link #tellAndHear}, {@link #insist}, {@link #askIn} and {@link #keepAlive}.
 *
 * @param <S> the state
 */
public abstract class StateSync<S> implements Participant, Resource.Owner<S> {
    private static final Script PROLONG = Script.load("session/prolong");

    /** By default, Redis writes its log to disk once a second. */
    private static final long SAID_AGAIN_MILLIS = 2_000;

    protected final RedisSession session;

    /** The key that messages about this name carry. */
    protected final String key;

    protected final Resource<S> resource;

    /** Completes with the answer to a command of at least that version. */
    private record Confirmation(long version, CompletableFuture<Void> answered) {}

    /** What Redis has answered to the command of a version. */
    private record Reply(long version, List<Object> fields) {}

    /** Until when Redis can't have taken this session to be dead. */
    private final Lease lease;

    // The rest is used in events only.

    private final CommandLoop<Reply> loop;
    private final List<Confirmation> confirmations = new ArrayList<>();

    /** Version of the last command. */
    private long version;

    /** Version of the latest command that was answered. */
    private long answeredVersion;

    /** The command of this version, or a later one, has to get through even if Redis refuses it. */
    private long owedVersion;

    /** If Redis has refused the latest command that it has answered: since when it does. */
    private long refusedNanos;

    private boolean refused;

    private boolean isToBeSaidAgain;

    /**
     * Begins with nothing said.
     *
     * @param lease one that Redis has {@linkplain #newLease yet to begin}
     */
    protected StateSync(RedisSession session, String key, Lease lease, S state) {
        this.session = session;
        this.key = key;
        this.lease = lease;
        this.resource = new Resource<>(session, key, state, this);
        this.loop = new CommandLoop<>(session, resource, new Statements(state));
    }

    /** Returns a lease that Redis has yet to begin. */
    protected static Lease newLease(RedisSession session) {
        long now = session.now();
        return new Lease(session.settings().suspensions(), now, now);
    }

    // ---- what a synchronizer says of its state, in events

    /** Returns the command that says how things stand. */
    protected abstract Call command(S state, long version);

    /** Takes the answer to the latest command that has been answered. The lease is as it was known before. */
    protected abstract void answered(S state, List<Object> reply);

    /** Takes what no repetition will mend. Returns whether that has ended a wait, whose thread throws it. */
    protected abstract boolean refused(S state, Throwable failure);

    /** Takes a message from the mailbox. */
    protected abstract void mailed(S state, Mail mail);

    /** Gives everything up because the session is closed. The result completes when Redis has confirmed. */
    protected abstract CompletableFuture<?> closed(S state);

    /** Returns what {@link #toString} says. */
    protected abstract String description(S state);

    /** Returns whether threads wait for something that Redis may have to say. */
    protected abstract boolean isWaiting(S state);

    /** Returns whether Redis has to hear of this session within its lease, lest it takes it to be dead. */
    protected abstract boolean isLeased(S state);

    /** Returns whether there is nothing that Redis ever has to hear any more. */
    protected boolean isSettled(S state) {
        return false;
    }

    /** Returns whether the session keeps this alive for another reason. */
    protected boolean isHeld(S state) {
        return false;
    }

    /** Returns the key that has the ends of the sessions' leases, null if there are none. */
    protected @Nullable Object leasesKey() {
        return null;
    }

    // ---- what it asks for, in events

    /** Returns the version of the last command: what has come up since then is unknown to any that is under way. */
    protected final long lastVersion() {
        return version;
    }

    /** Returns the version of the latest command that was answered. */
    protected final long answeredVersion() {
        return answeredVersion;
    }

    /** Tells Redis how things stand: now, or when the command under way has been answered. */
    protected final void tell() {
        resource.assertHeld();
        loop.tell();
        session.pin(key, this);
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

    /**
     * As {@link #tellAndHear}; but if Redis refuses it, it is told again until the lease is over. And once more when
     * Redis has confirmed it: a crash may cost it the last second.
     */
    protected final CompletableFuture<Void> insist() {
        owedVersion = version + 1;
        if (!isToBeSaidAgain) {
            isToBeSaidAgain = true;
            session.schedule(() -> resource.run((state, now) -> sayAgain(state)), SAID_AGAIN_MILLIS);
        }
        return tellAndHear();
    }

    private void sayAgain(S state) {
        isToBeSaidAgain = false;
        if (!isSettled(state)) {
            tell();
        }
    }

    /** Moves waiting confirmations to the next command, which repeats what Redis did not accept. */
    protected final void confirmByNext() {
        confirmations.replaceAll(waiting -> new Confirmation(version + 1, waiting.answered));
        owedVersion = version + 1;
    }

    /** Asks at that time, unless it does so earlier, or nobody waits any more by then. */
    protected final void askIn(long millis) {
        resource.lookAt(session.now() + TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** Has the session keep this alive for as long as it is needed. */
    protected final void keepAlive(S state) {
        if (loop.isBusy() || isWaiting(state) || isLeased(state) || isHeld(state)) {
            session.pin(key, this);
        } else {
            session.unpin(key, this);
        }
    }

    @Override
    public void due(S state, long now) {
        beat(state);
    }

    private final class Statements implements CommandLoop.Speaker<Reply> {
        private final S state;

        Statements(S state) {
            this.state = state;
        }

        @Override
        public Supplier<CompletableFuture<Reply>> say(long nowNanos) {
            Call call = newCommand(state);
            long sentVersion = version;
            return () -> session.runner().runDurably(call).thenApply(fields -> new Reply(sentVersion, fields));
        }

        @Override
        public void answered(long sentNanos, Reply reply) {
            if (reply.version > answeredVersion) {
                answeredVersion = reply.version;
                refused = false;
                StateSync.this.answered(state, reply.fields);
                carryOut(state, session.now());
                session.settings().suspensions().look();
                lease.extendTo(sentNanos, Lease.validUntil(sentNanos, leaseMillis()));
                confirm(reply.version);
            }
            keepAlive(state);
        }

        private void confirm(long ofVersion) {
            for (Iterator<Confirmation> all = confirmations.iterator(); all.hasNext(); ) {
                Confirmation waiting = all.next();
                if (waiting.version <= ofVersion) {
                    resource.later(() -> waiting.answered.complete(null));
                    all.remove();
                }
            }
        }

        @Override
        public boolean refused(Throwable cause) {
            boolean isThrown = refuse(state, cause);
            keepAlive(state);
            return isThrown;
        }

        @Override
        public void failed(Throwable cause) {
            if (Failures.isSplit(cause) && isLeased(state) && isRenewalWanted(session.now())) {
                prolong();
            }
        }
    }

    private Call newCommand(S state) {
        version = session.nextSequence();
        return command(state, version);
    }

    private boolean refuse(S state, Throwable cause) {
        long now = session.now();
        if (!refused) {
            refused = true;
            refusedNanos = now;
        }
        // Before the threads are woken that look at what this changes.
        boolean endsWait = refused(state, cause);
        boolean isThrown = endsWait || !confirmations.isEmpty();
        carryOut(state, now);
        confirmations.forEach(waiting -> resource.later(() -> waiting.answered.completeExceptionally(cause)));
        confirmations.clear();
        long leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis());
        if (!loop.isInFlight() && owedVersion > answeredVersion && now - refusedNanos < leaseNanos) {
            loop.tellLater();
        }
        return isThrown;
    }

    /** Asks Redis now if threads wait, unless a command is under way. */
    @Override
    public void pulse() {
        resource.run((state, now) -> beat(state));
    }

    private void beat(S state) {
        loop.beat(isWaiting(state));
        keepAlive(state);
    }

    @Override
    public @Nullable Renewal keep(long now) {
        return resource.<@Nullable Renewal>call(
                (state, at) -> isLeased(state) && isRenewalDue(now) ? renewal(state, now) : null);
    }

    private Renewal renewal(S state, long now) {
        int number = loop.begin(now);
        Call call = newCommand(state);
        long sentVersion = version;
        return new Renewal(call, (fields, failure) -> {
            Reply reply = fields == null ? null : new Reply(sentVersion, fields);
            loop.received(number, now, reply, failure);
        });
    }

    /** Renews the lease alone: what else there is to say can't be said while keys are split between nodes. */
    private void prolong() {
        Object leases = leasesKey();
        if (leases != null) {
            long sentNanos = session.now();
            Call call = PROLONG.on(List.of(leases), session.id(), leaseMillis());
            resource.later(() ->
                    session.runner().run(call).thenAccept(reply -> prolonged(sentNanos, (Long) reply.get(1))));
        }
    }

    private void prolonged(long sentNanos, long ttlMillis) {
        resource.run((state, now) -> {
            // Whether it is over, or there was none, the next command tells.
            if (ttlMillis > 0) {
                session.settings().suspensions().look();
                lease.extendTo(sentNanos, Lease.validUntil(sentNanos, ttlMillis));
            }
        });
    }

    private boolean isRenewalWanted(long now) {
        return lease.isInDoubt()
                || now - lease.sentNanos() >= session.settings().renewalNanos();
    }

    private boolean isRenewalDue(long now) {
        long periodNanos = session.settings().renewalNanos();
        boolean isDoubtNew = session.settings().suspensions().putInDoubt(loop.sentNanos());
        return !loop.isInFlight() && isRenewalWanted(now) && (isDoubtNew || now - loop.sentNanos() >= periodNanos / 3);
    }

    private long leaseMillis() {
        return session.settings().leaseMillis();
    }

    @Override
    public final void receive(Mail mail) {
        resource.run((state, now) -> {
            mailed(state, mail);
            carryOut(state, now);
            keepAlive(state);
        });
    }

    @Override
    public final CompletableFuture<?> close() {
        return resource.<CompletableFuture<?>>call((state, now) -> closed(state));
    }

    @Override
    public final String toString() {
        return resource.call((state, now) -> description(state));
    }
}
