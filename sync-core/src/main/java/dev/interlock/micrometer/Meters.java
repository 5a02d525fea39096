package dev.interlock.micrometer;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.election.Term;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The meters of a session in one registry. They are made when the first event needs them. */
final class Meters {
    private static final String OTHER = "other";

    /** How many names are remembered. What the tag of others is has to be asked each time. */
    private static final int MOST_REMEMBERED = 10_000;

    private final Function<String, String> nameTag;
    private final Tags tags;
    private final ConcurrentMap<String, Named> byName = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Named> byTag = new ConcurrentHashMap<>();

    volatile boolean isRedisAvailable = true;

    @GuardedBy("this")
    private MeterRegistry registry;

    @GuardedBy("this")
    private final List<Meter> registered = new ArrayList<>();

    Meters(
            MeterRegistry registry,
            Function<String, String> nameTag,
            Iterable<Tag> tags,
            LongSupplier waiting,
            IntSupplier heldLocks) {
        this.registry = registry;
        this.nameTag = nameTag;
        this.tags = Tags.of(tags);
        register(to -> Gauge.builder("interlock.lock.waiting", waiting::getAsLong)
                .description("Threads that wait for a lock")
                .tags(this.tags)
                .register(to));
        register(to -> Gauge.builder("interlock.lock.active", heldLocks::getAsInt)
                .description("Locks that threads hold")
                .tags(this.tags)
                .register(to));
        register(to -> Gauge.builder("interlock.redis.available", () -> isRedisAvailable ? 1 : 0)
                .description("1 while Redis answers, 0 during an outage")
                .tags(this.tags)
                .register(to));
    }

    private synchronized <M extends Meter> M register(Function<MeterRegistry, M> meter) {
        M made = meter.apply(registry);
        registered.add(made);
        return made;
    }

    /** Takes all meters out of the registry. Those of late events go nowhere. */
    synchronized void close() {
        registered.forEach(registry::remove);
        registered.clear();
        registry = new SimpleMeterRegistry();
    }

    void waited(String name, String kind, Outcome outcome, boolean local, long waitedNanos) {
        named(name).wait(new Wait(kind, outcome, local)).record(waitedNanos, TimeUnit.NANOSECONDS);
    }

    void held(String name, long holds, long heldNanos) {
        named(name).held(holds, heldNanos);
    }

    void lost(String name, long many) {
        named(name).count("interlock.lock.lost", null, many);
    }

    void decided(String name, String outcome) {
        named(name).count("interlock.ratelimit.decisions", outcome, 1);
    }

    void elected(String election, long token) {
        named(election).elected(new Led(election, token));
    }

    void deposed(String election, long token, Term.End why) {
        named(election).deposed(new Led(election, token), why);
    }

    private Named named(String name) {
        Named known = byName.get(name);
        return known != null ? known : tagged(name);
    }

    private Named tagged(String name) {
        String tag = requireNonNull(nameTag.apply(name), "the tag of a name must not be null");
        Named named = byTag.get(tag);
        if (named == null) {
            named = admitted(tag);
        }
        if (byName.size() < MOST_REMEMBERED) {
            byName.put(name, named);
        }
        return named;
    }

    private synchronized Named admitted(String tag) {
        boolean isKnown = byTag.containsKey(tag);
        boolean isFull = byTag.size() - (byTag.containsKey(OTHER) ? 1 : 0) >= InterlockMetrics.MOST_NAMES;
        return byTag.computeIfAbsent(!isKnown && isFull ? OTHER : tag, Named::new);
    }

    /** What is waited for, and what becomes of it. */
    private record Wait(String kind, Outcome outcome, boolean local) {}

    /** A counter of a name, and the tag {@code outcome} if it has one. */
    private record Count(String meter, @Nullable String outcome) {}

    /** A term that goes on. A listener that is added just when one begins may be told of it twice. */
    private record Led(String election, long token) {}

    /** The meters of one value of the tag {@code name}. */
    private final class Named {
        private final Tags named;
        private final ConcurrentMap<Wait, Timer> waits = new ConcurrentHashMap<>();
        private final ConcurrentMap<Count, Counter> counters = new ConcurrentHashMap<>();
        private final Set<Led> terms = ConcurrentHashMap.newKeySet();
        private final LongAdder holds = new LongAdder();
        private final LongAdder totalNanos = new LongAdder();

        private boolean showsTerms;

        /** Written once, when the timer of the holds is registered. */
        private volatile boolean timesHolds;

        Named(String tag) {
            named = tags.and("name", tag);
        }

        Timer wait(Wait wait) {
            Timer known = waits.get(wait);
            return known != null ? known : waits.computeIfAbsent(wait, this::newTimer);
        }

        private Timer newTimer(Wait wait) {
            return register(to -> Timer.builder("interlock.lock.wait")
                    .description("Waits of threads for locks that they didn't get at once")
                    .tags(named)
                    .tag("kind", wait.kind)
                    .tag("outcome", wait.outcome.name().toLowerCase(Locale.ROOT))
                    .tag("source", wait.local ? "local" : "redis")
                    .register(to));
        }

        void held(long ended, long heldNanos) {
            if (!timesHolds) {
                timeHolds();
            }
            totalNanos.add(heldNanos);
            holds.add(ended);
        }

        private void timeHolds() {
            synchronized (Meters.this) {
                if (!timesHolds) {
                    register(to -> FunctionTimer.builder(
                                    "interlock.lock.hold",
                                    this,
                                    of -> of.holds.sum(),
                                    of -> of.totalNanos.sum(),
                                    TimeUnit.NANOSECONDS)
                            .description("Holds of locks, re-entries and readers apart")
                            .tags(named)
                            .register(to));
                    timesHolds = true;
                }
            }
        }

        void elected(Led term) {
            synchronized (Meters.this) {
                terms.add(term);
                if (!showsTerms) {
                    showsTerms = true;
                    register(to -> Gauge.builder("interlock.election.leader", terms, Set::size)
                            .description("1 while a candidate of this session leads")
                            .tags(named)
                            .register(to));
                }
            }
        }

        void deposed(Led term, Term.End why) {
            terms.remove(term);
            count("interlock.election.terms", why.name().toLowerCase(Locale.ROOT), 1);
        }

        void count(String meter, @Nullable String outcome, long many) {
            counters.computeIfAbsent(new Count(meter, outcome), this::newCounter)
                    .increment((double) many);
        }

        private Counter newCounter(Count count) {
            Tags all = count.outcome == null ? named : named.and("outcome", count.outcome);
            return register(to -> Counter.builder(count.meter).tags(all).register(to));
        }
    }
}
