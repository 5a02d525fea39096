package dev.interlock.internal.quorum;

import static java.util.Objects.requireNonNull;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.quorum.QuorumEffect.Lost;
import dev.interlock.internal.quorum.QuorumScripts.Kept;
import dev.interlock.internal.quorum.QuorumScripts.Status;
import dev.interlock.internal.quorum.QuorumScripts.Vote;
import dev.interlock.internal.quorum.QuorumTenure.Renewal;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.EffectsProbe;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** The state of a quorum lock, driven by events alone: no session, no Redis, no threads. Its clock will overflow. */
abstract class QuorumStateFixture {
    static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    static final long LEASE = 30_000;
    final Throwable silence = new RedisTimeoutException("no answer");
    final Throwable lasting = new RedisException("WRONGTYPE another type");

    final long begun = Long.MAX_VALUE - 5_000 * MILLI;
    private long nowNanos = begun;
    private long suspendedNanos;
    private final Suspensions suspensions = Settings.suspensions(
            () -> nowNanos, () -> Instant.ofEpochSecond(0, nowNanos).plusNanos(suspendedNanos), LEASE);
    final Settings settings = new Settings(
            LEASE,
            0,
            false,
            false,
            false,
            30_000 * MILLI,
            500,
            1,
            "",
            "test",
            new Listeners(),
            () -> nowNanos,
            suspensions);
    private final List<LeaseLostException> losses = new ArrayList<>();
    final QuorumState state = new QuorumState("name", settings, 3, 2);
    long sequences;

    long at(long millis) {
        return begun + millis * MILLI;
    }

    /** The machine is suspended then, which is noticed. */
    void suspend(long millis) {
        nowNanos = at(millis);
        suspendedNanos += 9_000 * MILLI;
        suspensions.look();
    }

    VoteRound ask(long millis) {
        sequences += 1_000;
        return state.ask(sequences, LEASE, true, true, at(millis));
    }

    static Vote voted(long token) {
        return new Vote(Status.VOTED, LEASE, token, "me");
    }

    static Vote refused(String owner, long ttlMillis) {
        return new Vote(Status.REFUSED, ttlMillis, 0, owner);
    }

    /** Returns the effects since the last call. */
    List<QuorumEffect> effects() {
        List<QuorumEffect> all = EffectsProbe.poll(state.effects);
        for (QuorumEffect effect : all) {
            if (effect instanceof Lost lost) {
                losses.add(lost.loss());
            }
        }
        return all;
    }

    /** Returns the losses that the lock has heard of. */
    List<LeaseLostException> losses() {
        effects();
        return losses;
    }

    QuorumRelease release(long millis) {
        return new QuorumRelease(requireNonNull(state.release()), 3, 2, at(millis));
    }

    void vote(VoteRound round, long first, long... others) {
        state.answered(round, 0, voted(first), null);
        for (int i = 0; i < others.length; i++) {
            state.answered(round, i + 1, voted(others[i]), null);
        }
    }

    /** Returns a tenure that all nodes have voted for, and that began at once. */
    QuorumTenure tenure() {
        VoteRound round = ask(0);
        vote(round, 7, 7, 7);
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        effects();
        return tenure;
    }

    Renewal renewal(QuorumTenure tenure, long millis) {
        return requireNonNull(tenure.keep(at(millis)), "a renewal is due");
    }

    static Kept kept(long token) {
        return new Kept(true, LEASE, token);
    }

    static Kept gone() {
        return new Kept(false, 0, 0);
    }
}
