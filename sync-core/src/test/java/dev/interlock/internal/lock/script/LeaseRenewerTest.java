package dev.interlock.internal.lock.script;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.script.LockEffect.LookAt;
import dev.interlock.internal.lock.script.LockEffect.Lost;
import dev.interlock.internal.lock.script.LockEffect.Renew;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.LeaseRenewer;
import dev.interlock.internal.session.Pace;
import dev.interlock.internal.session.Participant;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The lease renewer over a Redis that is an object of this JVM, in the interleavings that Lincheck's model checker
 * looks at. Time passes, the renewer comes by, commands and replies are on their way, timers go off: no tenure is ever
 * valid when it is over in Redis, and none that was lost comes back.
 */
@Tag("lincheck")
class LeaseRenewerTest {
    private static final long LEASE_MILLIS = 3_000;
    private static final long STEP_MILLIS = 1_600;

    /** What is wrong whatever the interleaving is found in some scenario; the first one ends the search. */
    private static final int MANY = 200;

    private static final int FEW = 10;

    @Test
    void noTenureIsValidBeyondItsLease() {
        options(10, 60).check(Sound.class);
    }

    @Test
    void findsRedisWhoseLeasesAreShorterThanItSays() {
        assertThatThrownBy(() -> options(MANY, FEW).check(Shortened.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @Test
    void findsClockThatIsTooSlow() {
        assertThatThrownBy(() -> options(MANY, FEW).check(Slow.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @Test
    void findsMachineWhoseSuspensionIsNotNoticed() {
        assertThatThrownBy(() -> options(MANY, FEW).check(Unaware.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @Test
    void noTenureIsValidAfterASuspension() {
        options(10, 60).check(Suspended.class);
    }

    private static ModelCheckingOptions options(int scenarios, int interleavings) {
        return new ModelCheckingOptions()
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(3)
                .actorsAfter(2)
                .iterations(scenarios)
                .minimizeFailedScenario(false)
                .invocationsPerIteration(interleavings)
                .sequentialSpecification(AsItShouldBe.class);
    }

    /** What it is to look like: nothing to be seen of time and messages, and no use that isn't right. */
    public static final class AsItShouldBe {
        /** Nothing to see. */
        public void pass() {}

        /** Nothing to see. */
        public void suspend() {}

        /** Nothing to see. */
        public void keep() {}

        /** Nothing to see. */
        public void serve() {}

        /** Nothing to see. */
        public void hear() {}

        /** Nothing to see. */
        public void ring() {}

        /** Right. */
        public boolean use() {
            return true;
        }
    }

    /** One name in Redis: until when it is this session's. */
    private static final class Name {
        private final long leaseMillis;
        private long endMillis;

        Name(long leaseMillis) {
            this.leaseMillis = leaseMillis;
            this.endMillis = leaseMillis;
        }

        synchronized List<Object> renew(long nowMillis) {
            boolean isOwned = nowMillis < endMillis;
            if (isOwned) {
                endMillis = nowMillis + leaseMillis;
            }
            return List.of(isOwned ? 1L : 0L, LEASE_MILLIS, 0L, 0L);
        }

        synchronized boolean isOwnedAt(long nowMillis) {
            return nowMillis < endMillis;
        }
    }

    /** The time by the wall clock, and by a ticker that stands while the machine is suspended. */
    private record Time(long clockMillis, long tickerMillis) {}

    /** A renewal on its way. */
    private record Letter(Call call, CompletableFuture<List<Object>> reply) {}

    /** A session that owns a name. */
    public abstract static class Kept implements Participant {
        private static final Script RENEW = Script.load("lock/renew");
        private static final Call RENEWAL =
                RENEW.on(Collections.nCopies(4, "name"), "session", 1, LEASE_MILLIS, "", "publish");

        private volatile Time time = new Time(0, 0);
        private final Name name;
        private final Queue<Letter> requests = new ConcurrentLinkedQueue<>();
        private final Queue<Runnable> replies = new ConcurrentLinkedQueue<>();
        private final Queue<Runnable> timers = new ConcurrentLinkedQueue<>();
        private final LeaseRenewer renewer;
        private final LockState state;
        private final LockTenure tenure;
        private volatile boolean lost;

        Kept(long leaseMillis, long slowness) {
            this(leaseMillis, slowness, false);
        }

        Kept(long leaseMillis, long slowness, boolean hasWallClock) {
            name = new Name(leaseMillis);
            LongSupplier ticker = () -> TimeUnit.MILLISECONDS.toNanos(time.tickerMillis() / slowness);
            InstantSource wallClock =
                    hasWallClock ? () -> Instant.ofEpochMilli(clockMillis()) : Settings.wallClockOf(ticker);
            renewer = new LeaseRenewer(
                    new Settings(
                            LEASE_MILLIS,
                            0,
                            false,
                            false,
                            false,
                            TimeUnit.SECONDS.toNanos(30),
                            1_000,
                            0,
                            "",
                            "test",
                            new Listeners(),
                            ticker,
                            Settings.suspensions(ticker, wallClock, LEASE_MILLIS)),
                    (task, millis) -> {
                        timers.add(task);
                        return () -> timers.remove(task);
                    },
                    calls -> calls.stream().map(this::send).toList(),
                    Runnable::run);
            Ticket ticket = new Ticket(LEASE_MILLIS, true, LEASE_MILLIS, false, false, 0);
            ticket.sequence = 1;
            LockView view = new LockView(false, new KeepPolicy(0, false, 0, false), LEASE_MILLIS, 0);
            state = new LockState("memory", view, renewer.settings(), new Pace(1, 0), 0);
            tenure = new LockTenure(renewer.settings(), ticket, 1, 0, 0, Lease.validUntil(0, LEASE_MILLIS));
            view.tenure = tenure;
        }

        private CompletableFuture<List<Object>> send(Call call) {
            var letter = new Letter(call, new CompletableFuture<>());
            requests.add(letter);
            return letter.reply;
        }

        /** Time passes. */
        @Operation
        public void pass() {
            pass(STEP_MILLIS);
        }

        /** Time passes, of which the ticker tells as much. */
        synchronized void pass(long tickerMillis) {
            time = new Time(time.clockMillis + STEP_MILLIS, time.tickerMillis + tickerMillis);
        }

        private long clockMillis() {
            return time.clockMillis();
        }

        /** The lease renewer comes by. */
        @Operation
        public void keep() {
            renewer.keep(List.of(this));
        }

        /** Redis gets a command. */
        @Operation
        public void serve() {
            Letter letter = requests.poll();
            if (letter != null) {
                List<Object> reply = name.renew(clockMillis());
                replies.add(() -> letter.reply.complete(reply));
            }
        }

        /** The session gets a reply. */
        @Operation
        public void hear() {
            Runnable reply = replies.poll();
            if (reply != null) {
                reply.run();
            }
        }

        /** A timer goes off. */
        @Operation
        public void ring() {
            Runnable timer = timers.poll();
            if (timer != null) {
                timer.run();
            }
        }

        /** A thread relies on the tenure, and returns whether that is right. */
        @Operation
        public boolean use() {
            boolean wasLost = lost;
            long nowMillis = clockMillis();
            boolean isUsable = tenure.isUsable(renewer.settings().suspensions().look());
            return !isUsable || (!wasLost && name.isOwnedAt(nowMillis));
        }

        @Override
        public synchronized @Nullable Renewal keep(long nowNanos) {
            Renew due = tenure.keep(nowNanos, state.effects);
            carryOut();
            return due == null ? null : renewal(due);
        }

        private Renewal renewal(Renew sent) {
            return new Renewal(RENEWAL, (reply, failure) -> renewed(sent, requireNonNull(reply)));
        }

        private void renewed(Renew sent, List<Object> reply) {
            long now = renewer.settings().suspensions().look();
            synchronized (this) {
                state.renewed(sent, LockScripts.renewal(reply), null, now);
                carryOut();
            }
        }

        private synchronized void due() {
            state.due(renewer.now());
            carryOut();
        }

        private synchronized void carryOut() {
            for (LockEffect next = state.effects.poll(); next != null; next = state.effects.poll()) {
                if (next instanceof LookAt) {
                    timers.add(this::due);
                } else if (next instanceof Lost) {
                    lost = true;
                }
            }
        }

        @Override
        public void pulse() {}

        @Override
        public CompletableFuture<?> close() {
            return CompletableFuture.completedFuture(null);
        }
    }

    /** A machine that is suspended: its ticker stands still, but for a moment before. */
    public static class Suspended extends Kept {
        /** Creates it. */
        public Suspended() {
            this(true);
        }

        Suspended(boolean hasWallClock) {
            super(LEASE_MILLIS, 1, hasWallClock);
        }

        /** Time passes while the machine is suspended. */
        @Operation
        public void suspend() {
            pass(1);
        }
    }

    /** The same, whose wall clock stands still as well. */
    public static final class Unaware extends Suspended {
        /** Creates it. */
        public Unaware() {
            super(false);
        }
    }

    /** As it should be. */
    public static final class Sound extends Kept {
        /** Creates it. */
        public Sound() {
            super(LEASE_MILLIS, 1);
        }
    }

    /** A Redis that ends leases before it said. */
    public static final class Shortened extends Kept {
        /** Creates it. */
        public Shortened() {
            super(LEASE_MILLIS / 2, 1);
        }
    }

    /** A clock at half the speed of that of Redis. */
    public static final class Slow extends Kept {
        /** Creates it. */
        public Slow() {
            super(LEASE_MILLIS, 2);
        }
    }
}
