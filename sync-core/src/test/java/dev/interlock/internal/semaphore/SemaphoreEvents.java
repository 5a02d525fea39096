package dev.interlock.internal.semaphore;

import dev.interlock.internal.Suspensions;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreEffect.Failure;
import dev.interlock.internal.semaphore.SemaphoreEffect.Insist;
import dev.interlock.internal.semaphore.SemaphoreEffect.Result;
import dev.interlock.internal.semaphore.SemaphoreEffect.Tell;
import dev.interlock.internal.semaphore.SemaphoreState.Statement;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import dev.interlock.internal.session.EffectsProbe;
import dev.interlock.internal.session.Lease;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A semaphore's state in the hands of a test, which brings all events: there is no thread, clock, session or Redis. */
final class SemaphoreEvents {
    static final int PERMITS = 5;
    static final long SLICE = TimeUnit.MILLISECONDS.toNanos(10);
    static final long LEASE = TimeUnit.SECONDS.toNanos(30);
    private static final long BORN = 1_700_000_000_000_000L;

    /** The superclass: its permits, and the threads that are parked, which only stand for themselves. */
    static final class Stock implements PermitStock {
        final List<Object> parked = new ArrayList<>();
        int permits;

        /** What a thread does that a release wakes, before the one that releases gets on. */
        Runnable onRelease = () -> {};

        @Override
        public boolean tryAcquire(int wanted) {
            if (permits < wanted) {
                return false;
            }
            permits -= wanted;
            return true;
        }

        @Override
        public void release(int more) {
            permits = Math.addExact(permits, more);
            onRelease.run();
        }

        @Override
        public int availablePermits() {
            return permits;
        }

        @Override
        public int drainPermits() {
            int all = permits;
            permits = 0;
            return all;
        }

        @Override
        public Collection<?> queued() {
            return parked;
        }
    }

    /** A reply of Redis, in the order of its fields. */
    record Reply(
            long status,
            long granted,
            long available,
            long permits,
            long others,
            long leaseEnd,
            long operation,
            long result,
            long returned,
            long contributed,
            long born) {

        /** The account is open, and was granted so many in all. */
        static Reply open(long granted) {
            return new Reply(1, granted, PERMITS - granted, PERMITS, 0, -1, 0, 0, 0, 0, BORN);
        }

        /** The account is closed, after all that the session has said. */
        static Reply closed(Statement last) {
            return new Reply(0, 0, PERMITS, PERMITS, 0, -1, 0, 0, last.returned(), last.contributed(), BORN);
        }

        /** The account was closed long ago. */
        static Reply unknown() {
            return new Reply(-1, 0, PERMITS, PERMITS, 0, -1, 0, 0, 0, 0, BORN);
        }

        /** Redis has lost the semaphore, and has made it anew. */
        static Reply lost() {
            return new Reply(-1, 0, PERMITS, PERMITS, 0, -1, 0, 0, 0, 0, BORN + 1);
        }

        /** The same, and its permits belong to sessions if they didn't, or the other way round. */
        static Reply disagreed() {
            return new Reply(2, 0, PERMITS, PERMITS, 0, -1, 0, 0, 0, 0, BORN + 1);
        }

        Reply available(long pool) {
            return with(2, pool);
        }

        Reply granted(long sum) {
            return with(1, sum);
        }

        Reply status(long code) {
            return with(0, code);
        }

        Reply permits(long all) {
            return with(3, all);
        }

        Reply contended() {
            return with(4, 1);
        }

        Reply leaseEnd(long millis) {
            return with(5, millis);
        }

        Reply done(Statement said, long outcome) {
            long number = said.operation() == null ? 0 : said.operation().number;
            return with(6, number).with(7, outcome);
        }

        private Reply with(int field, long value) {
            List<Long> changed = new ArrayList<>(fields());
            changed.set(field, value);
            Iterator<Long> next = changed.iterator();
            return new Reply(
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next());
        }

        private List<Long> fields() {
            return List.of(
                    status,
                    granted,
                    available,
                    permits,
                    others,
                    leaseEnd,
                    operation,
                    result,
                    returned,
                    contributed,
                    born);
        }

        private SemaphoreReply parsed() {
            return SemaphoreReply.of(List.copyOf(fields()));
        }
    }

    final Stock stock = new Stock();
    final SemaphoreState state;
    final LocalPermits local;
    long now = 1_000_000;

    /** For how long the machine was suspended: the clock of the semaphore stood still. */
    private long suspendedNanos;

    private final Suspensions suspensions = Settings.suspensions(
            () -> now, () -> Instant.ofEpochSecond(0, now + suspendedNanos), TimeUnit.NANOSECONDS.toMillis(LEASE));
    private final Lease lease = new Lease(suspensions, now, now);

    private long sequence = 1;

    /** Effects that the test has yet to look at. */
    private final List<SemaphoreEffect> due = new ArrayList<>();

    SemaphoreEvents(boolean owned, boolean fair) {
        state = new SemaphoreState("semaphore", PERMITS, owned, fair, SLICE, stock, 1, lease);
        local = state.local();
    }

    static SemaphoreEvents owned() {
        return new SemaphoreEvents(true, false);
    }

    static SemaphoreEvents fair() {
        return new SemaphoreEvents(true, true);
    }

    static SemaphoreEvents unowned() {
        return new SemaphoreEvents(false, false);
    }

    // ---- threads

    /** A thread comes, finds nothing, and parks. */
    Waiter waits(int permits) {
        Waiter waiter = comes(permits);
        stock.parked.add(waiter.who);
        return waiter;
    }

    /** A thread comes, finds nothing, and is about to park. */
    Waiter comes(int permits) {
        Waiter waiter = new Waiter(new Thread(() -> {}), permits, 0);
        if (local.come(waiter, now)) {
            throw new AssertionError("there were permits");
        }
        return waiter;
    }

    /** A thread comes; returns whether it has acquired permits at once. */
    boolean acquiresAtOnce(int permits) {
        return local.come(new Waiter(new Thread(() -> {}), permits, 0), now);
    }

    /** A waiter takes its permits from the superclass. */
    void takes(Waiter waiter) {
        stock.parked.remove(waiter.who);
        if (!stock.tryAcquire(waiter.permits)) {
            throw new AssertionError("it would go on waiting");
        }
    }

    /** A waiter takes its permits from the superclass, and reports that. Returns whether they are its own. */
    boolean comesOut(Waiter waiter) {
        takes(waiter);
        return local.comeOut(waiter, true, now);
    }

    /** A waiter gives up. */
    void leaves(Waiter waiter) {
        stock.parked.remove(waiter.who);
        local.comeOut(waiter, false, now);
    }

    /** Threads acquire permits in the usual way. */
    void acquire(int permits) {
        Waiter waiter = waits(permits);
        Statement said = say();
        answer(Reply.open(said.wanted()));
        if (!comesOut(waiter)) {
            throw new AssertionError("they are its own");
        }
        effects();
    }

    Operation operate(Verb verb, int amount) {
        return local.operate(verb, amount);
    }

    // ---- effects

    /** What the thread of an operation has heard of it. */
    CompletableFuture<Integer> result(Operation operation) {
        carryOut();
        return operation.result;
    }

    /** The effects of the events since the last look, but for what threads of operations have heard. */
    List<SemaphoreEffect> effects() {
        carryOut();
        List<SemaphoreEffect> all = List.copyOf(due);
        due.clear();
        return all;
    }

    private void carryOut() {
        for (SemaphoreEffect next : EffectsProbe.poll(local.effects)) {
            if (next instanceof Result end) {
                end.operation().result.complete(end.result());
            } else if (next instanceof Failure end) {
                end.operation().result.completeExceptionally(end.cause());
            } else {
                due.add(next);
            }
        }
    }

    // ---- Redis

    /** The command that the owner sends as an effect of the events so far. */
    Statement tells() {
        if (!isTold()) {
            throw new AssertionError("Redis isn't told");
        }
        return say();
    }

    /** Whether Redis is told of the events so far. */
    boolean isTold() {
        return effects().stream().anyMatch(effect -> effect instanceof Tell || effect instanceof Insist);
    }

    /** A command, whatever the reason. */
    Statement say() {
        effects();
        return state.statement(++sequence, now);
    }

    /** Redis answers the last command. */
    void answer(Reply reply) {
        answer(sequence, reply);
    }

    /** Redis answers the command of that version. */
    void answer(long version, Reply reply) {
        state.answered(reply.parsed(), version, ++sequence, now);
        lease.extendTo(now, now + LEASE);
    }

    /** The version of the last command. */
    long version() {
        return sequence;
    }

    /** The machine was suspended, which is noticed. */
    void isSuspended(long nanos) {
        suspendedNanos += nanos;
        now++;
        now = suspensions.look() + 1;
    }

    void passes(long nanos) {
        now += nanos;
    }
}
