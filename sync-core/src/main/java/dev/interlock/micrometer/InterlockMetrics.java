package dev.interlock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.QuorumInterlock;
import dev.interlock.SyncListener;
import dev.interlock.election.Term;
import dev.interlock.ratelimit.OutagePolicy;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Meters of a session for Micrometer: how long threads wait for locks and hold them, what is lost, whether Redis
 * answers, and what rate limiters decide.
 *
 * <pre>{@code
 * InterlockMetrics metrics = new InterlockMetrics(interlock);
 * metrics.bindTo(registry);
 * }</pre>
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>meter</th><th>type</th><th>tags</th><th>meaning</th></tr>
 * <tr><td>{@code interlock.lock.wait}</td><td>timer</td><td>{@code name}, {@code kind}, {@code outcome}
 *     ({@code acquired}, {@code timeout}, {@code interrupted}, {@code failed}), {@code source} ({@code local},
 *     {@code redis})</td><td>waits of threads for locks that they didn't get at once</td></tr>
 * <tr><td>{@code interlock.lock.hold}</td><td>function timer</td><td>{@code name}</td><td>number and total time of
 *     holds, re-entries and readers apart</td></tr>
 * <tr><td>{@code interlock.lock.waiting}</td><td>gauge</td><td></td><td>threads that wait for a lock now</td></tr>
 * <tr><td>{@code interlock.lock.active}</td><td>gauge</td><td></td><td>locks that threads of this session hold now;
 *     one that readers share counts once</td></tr>
 * <tr><td>{@code interlock.lock.lost}</td><td>counter</td><td>{@code name}</td><td>locks, and permits of semaphores,
 *     that were lost while threads relied on them</td></tr>
 * <tr><td>{@code interlock.election.leader}</td><td>gauge</td><td>{@code name}</td><td>1 while a candidate of this
 *     session leads, 0 after that; there is none before it has led</td></tr>
 * <tr><td>{@code interlock.election.terms}</td><td>counter</td><td>{@code name}, {@code outcome} ({@code lost},
 *     {@code resigned}, {@code returned}, {@code failed}, {@code closed})</td><td>terms of candidates of this session
 *     that have ended</td></tr>
 * <tr><td>{@code interlock.redis.available}</td><td>gauge</td><td></td><td>1 while Redis answers, 0 during an
 *     outage</td></tr>
 * <tr><td>{@code interlock.ratelimit.decisions}</td><td>counter</td><td>{@code name}, {@code outcome} ({@code granted},
 *     {@code refused}; without an answer of Redis {@code admitted_without_redis}, {@code refused_without_redis},
 *     {@code failed_without_redis})</td><td>decisions of rate limiters</td></tr>
 * </table>
 *
 * <p><b>The tag {@code name}</b> is what a function makes of the name of the lock, limiter or election. The first
 * {@value #MOST_NAMES} distinct values get meters of their own; all others share those of {@code other}.
 *
 * <p><b>Cost.</b> Threads hand a lock to each other several million times a second, and meters cost that next to
 * nothing: no reading of the clock, no adder. That's why an acquisition without a wait isn't recorded as one, and why
 * holds have a count and a total but no histogram: short ones are told together, a millisecond late at most while the
 * lock is used or kept. A flight recording shows long ones one by one.
 *
 * <p>Safe for use by any number of threads.
 */
public final class InterlockMetrics implements MeterBinder, SyncListener, AutoCloseable {
    /** How many values the tag {@code name} has, beside {@code other}. */
    public static final int MOST_NAMES = 100;

    private final Consumer<SyncListener> attach;
    private final Consumer<SyncListener> detach;
    private final IntSupplier heldLocks;
    private final Function<String, String> nameTag;
    private final Iterable<Tag> tags;

    /** How many threads wait. Each is counted to its end, though this may be bound anew meanwhile. */
    private final LongAdder waiting = new LongAdder();

    /** Those of the registry that this is bound to. */
    private volatile @Nullable Meters meters;

    /**
     * Creates the meters of a session, with its names as they are and no further tags.
     *
     * @param session the session
     */
    public InterlockMetrics(Interlock session) {
        this(session, name -> name, List.of());
    }

    /**
     * Creates the meters of a session.
     *
     * @param session the session
     * @param nameTag what the tag {@code name} is for the name of a lock, limiter or election; threads that lock call
     *     it, so it has to be fast. The result isn't null
     * @param tags further tags of all meters, which tell sessions apart that share a registry
     */
    public InterlockMetrics(Interlock session, Function<String, String> nameTag, Iterable<Tag> tags) {
        this(
                requireNonNull(session, "session")::addListener,
                session::removeListener,
                session::heldLocks,
                nameTag,
                tags);
    }

    /**
     * Creates the meters of a session with several servers.
     *
     * @param session the session
     * @param nameTag as for a session with one
     * @param tags as for a session with one
     */
    public InterlockMetrics(QuorumInterlock session, Function<String, String> nameTag, Iterable<Tag> tags) {
        this(
                requireNonNull(session, "session")::addListener,
                session::removeListener,
                session::heldLocks,
                nameTag,
                tags);
    }

    private InterlockMetrics(
            Consumer<SyncListener> attach,
            Consumer<SyncListener> detach,
            IntSupplier heldLocks,
            Function<String, String> nameTag,
            Iterable<Tag> tags) {
        this.attach = attach;
        this.detach = detach;
        this.heldLocks = heldLocks;
        this.nameTag = requireNonNull(nameTag, "nameTag");
        this.tags = requireNonNull(tags, "tags");
    }

    /**
     * Adds the meters to a registry, and begins to listen to the session.
     *
     * @param registry where to
     * @throws IllegalStateException if this is bound already; for several registries, bind it to a composite one
     */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        if (meters != null) {
            throw new IllegalStateException("these metrics are bound to a registry already; close() them first");
        }
        meters = new Meters(requireNonNull(registry, "registry"), nameTag, tags, waiting::sum, heldLocks);
        attach.accept(this);
    }

    /** Ends to listen, and takes the meters out of the registry. Does nothing if this isn't bound. */
    @Override
    public synchronized void close() {
        Meters bound = meters;
        if (bound != null) {
            detach.accept(this);
            meters = null;
            bound.close();
        }
    }

    private void tell(Consumer<Meters> event) {
        Meters bound = meters;
        if (bound != null) {
            event.accept(bound);
        }
    }

    @Override
    public boolean hearsEachAcquisition() {
        return false;
    }

    @Override
    public void waiting(String name, String kind) {
        waiting.increment();
    }

    @Override
    public void waited(String name, String kind, Outcome outcome, boolean local, long waitedNanos) {
        waiting.decrement();
        tell(bound -> bound.waited(name, kind, outcome, local, waitedNanos));
    }

    @Override
    public void held(String name, long holds, long heldNanos) {
        tell(bound -> bound.held(name, holds, heldNanos));
    }

    @Override
    public void lost(LeaseLostException loss) {
        tell(bound -> bound.lost(loss.lockName(), Math.max(1, loss.permits())));
    }

    @Override
    public void lostUnnoticed(LeaseLostException loss) {
        lost(loss);
    }

    @Override
    public void decided(String name, long permits, boolean granted) {
        tell(bound -> bound.decided(name, granted ? "granted" : "refused"));
    }

    @Override
    public void decidedWithoutRedis(String name, long permits, OutagePolicy policy) {
        String outcome = switch (policy) {
            case ADMIT -> "admitted_without_redis";
            case REFUSE -> "refused_without_redis";
            case FAIL -> "failed_without_redis";
        };
        tell(bound -> bound.decided(name, outcome));
    }

    @Override
    public void elected(String election, long token) {
        tell(bound -> bound.elected(election, token));
    }

    @Override
    public void deposed(String election, long token, Term.End why) {
        tell(bound -> bound.deposed(election, token, why));
    }

    @Override
    public void redisUnreachable(Throwable cause) {
        tell(bound -> bound.isRedisAvailable = false);
    }

    @Override
    public void redisReachable(long outageNanos) {
        tell(bound -> bound.isRedisAvailable = true);
    }
}
