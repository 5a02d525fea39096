package dev.interlock.benchmarks.play;

import static java.util.Objects.requireNonNull;

import dev.interlock.benchmarks.contestants.Contestant;
import dev.interlock.benchmarks.contestants.Contestant.Opened;
import dev.interlock.benchmarks.contestants.Contestant.Work;
import dev.interlock.benchmarks.contestants.CounterFile;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** The threads of this JVM. */
final class Crew implements Site {

    private static final long PATIENCE_SECONDS = 30;

    private final Addresses addresses;
    private final ByteBuffer page;
    private final Function<String, Contestant> contestants;
    private final Map<String, Opened> opened = new LinkedHashMap<>();

    Crew(Addresses addresses, ByteBuffer page, Function<String, Contestant> contestants) {
        this.addresses = addresses;
        this.page = page;
        this.contestants = contestants;
    }

    @Override
    public void open(String contestant) {
        opened.put(
                contestant,
                RedisServer.connect(() -> contestants.apply(contestant).open(addresses)));
    }

    @Override
    public Tally play(Round round) {
        Work work = requireNonNull(opened.get(round.contestant())).work(round.name());
        var shift = new Shift(page, round);
        var hands = new ArrayList<Hand>();
        for (int i = 0; i < round.threads(); i++) {
            int hand = i;
            hands.add(new Hand("hand-" + i, new FutureTask<>(() -> shift.toil(work, hand))));
        }
        hands.forEach(Thread::start);
        parkUntil(round.endNanos());
        shift.end();
        return Tally.sum(tallies(hands, round));
    }

    private static List<Tally> tallies(List<Hand> hands, Round round) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        var tallies = new ArrayList<Tally>();
        var failure = new IllegalStateException(round.contestant() + " failed at " + round.name());
        for (Hand hand : hands) {
            try {
                tallies.add(hand.task.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS));
            } catch (ExecutionException e) {
                failure.addSuppressed(requireNonNull(e.getCause()));
            } catch (TimeoutException e) {
                failure.addSuppressed(hand.stuck());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted in a round", e);
            }
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
        return tallies;
    }

    @Override
    public long sum() {
        return Ledger.total(page);
    }

    @Override
    public void close() {
        opened.values().forEach(Opened::close);
        opened.clear();
    }

    private static void parkUntil(long nanos) {
        for (long left = nanos - Monotonic.nanos(); left > 0; left = nanos - Monotonic.nanos()) {
            LockSupport.parkNanos(left);
        }
    }

    /** A round as its threads see it. */
    private static final class Shift {

        private final ByteBuffer page;
        private final Round round;
        private volatile boolean over;

        Shift(ByteBuffer page, Round round) {
            this.page = page;
            this.round = round;
        }

        void end() {
            over = true;
        }

        Tally toil(Work work, int hand) {
            if (round.counter() == null) {
                return toil(work, hand, Ledger.staying(round.stayNanos()));
            }
            try (var counter = new CounterFile(round.counter())) {
                return toil(work, hand, counter::increment);
            }
        }

        // Counts the last operation in full and the time until it ended, so that a round shorter than one stall of the
        // machine still has a rate.
        private Tally toil(Work work, int hand, Runnable stay) {
            var ledger = new Ledger(
                            page,
                            round.timing(),
                            stay,
                            round.writePercent(),
                            (long) round.seed() * round.threads() + hand)
                    .until(round.endNanos());
            parkUntil(round.startNanos());
            long operations = 0;
            try {
                do {
                    if (ledger.once(work)) {
                        operations++;
                        ledger.rest(() -> over);
                        think();
                    }
                } while (!over && !ledger.isOver());
            } finally {
                work.end();
            }
            return Tally.of(operations, (Monotonic.nanos() - round.startNanos()) / 1e9, ledger);
        }

        private void think() {
            if (round.thinkNanos() > 0) {
                LockSupport.parkNanos(round.thinkNanos());
            }
        }
    }

    private static final class Hand extends Thread {

        private final FutureTask<Tally> task;

        Hand(String name, FutureTask<Tally> task) {
            super(task, name);
            this.task = task;
            setDaemon(true);
        }

        /** Shows where the thread is. */
        IllegalStateException stuck() {
            var stuck =
                    new IllegalStateException(getName() + " is still here " + PATIENCE_SECONDS + " s after the end");
            stuck.setStackTrace(getStackTrace());
            return stuck;
        }
    }
}
