package dev.interlock.examples.barrier;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A computation in phases, each of which needs what all workers have done in the one before: heat that spreads along a
 * rod. Every JVM has a piece of it, writes down its cells after each phase, and waits at a barrier for the others,
 * whose cells next to its own it needs then.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=barrier.HeatedRod} kills one of three workers on its way. The barrier breaks, so
 * that nobody waits for the dead; another worker takes its place, and all go on from the last phase that was complete.
 * At the end the rod is compared with one that was computed at one go.
 */
public final class HeatedRod {

    private static final int WORKERS = 3;
    private static final int CELLS = 4;
    private static final int PHASES = 60;
    private static final int PHASES_BEFORE_THE_KILL = 20;
    private static final Duration WORK = Duration.ofMillis(5);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String NAME = "rod";
    private static final double HOT = 100;
    private static final double COLD = 0;

    private HeatedRod() {}

    private static Interlock session(RedissonClient redis) {
        return Interlock.builder().client(redis).lease(LEASE).open();
    }

    private static RedissonClient connect(String url) {
        var config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    /** What has been written down: the cells of a piece after a phase. */
    private record Notes(RMap<String, String> pieces) {

        static Notes in(RedissonClient redis) {
            return new Notes(redis.getMap("rod:pieces", StringCodec.INSTANCE));
        }

        void write(int worker, int phase, double[] cells) {
            pieces.fastPut(
                    worker + ":" + phase,
                    Arrays.stream(cells).mapToObj(Double::toString).collect(Collectors.joining(" ")));
        }

        double[] read(int worker, int phase) {
            return Arrays.stream(
                            requireNonNull(pieces.get(worker + ":" + phase)).split(" "))
                    .mapToDouble(Double::parseDouble)
                    .toArray();
        }

        double[] readAll(int phase) {
            double[] all = new double[WORKERS * CELLS];
            for (int worker = 0; worker < WORKERS; worker++) {
                System.arraycopy(read(worker, phase), 0, all, worker * CELLS, CELLS);
            }
            return all;
        }
    }

    /** Returns cells after the next phase. Beyond the left end it is hot, beyond the right end cold. */
    private static double[] spread(double left, double[] cells, double right) {
        double[] next = new double[cells.length];
        for (int i = 0; i < cells.length; i++) {
            double before = i == 0 ? left : cells[i - 1];
            double behind = i == cells.length - 1 ? right : cells[i + 1];
            next[i] = (before + 2 * cells[i] + behind) / 4;
        }
        return next;
    }

    /** One of the JVMs. */
    static final class Worker {

        private final Notes notes;
        private final CyclicBarrier phaseDone;
        private final int self;

        private Worker(Notes notes, CyclicBarrier phaseDone, int self) {
            this.notes = notes;
            this.phaseDone = phaseDone;
            this.self = self;
        }

        public static void main(String[] args) throws InterruptedException {
            RedissonClient redis = connect(args[0]);
            try (Interlock interlock = session(redis)) {
                var worker =
                        new Worker(Notes.in(redis), interlock.cyclicBarrier(NAME, WORKERS), Integer.parseInt(args[1]));
                ChildConsole.say("READY");
                boolean isDone = false;
                while (!isDone) {
                    isDone = worker.workFrom(Integer.parseInt(ChildConsole.readCommand()));
                }
            }
            redis.shutdown();
        }

        /** Goes on from a phase that was complete. Returns whether all are. */
        private boolean workFrom(int complete) throws InterruptedException {
            for (int phase = complete; phase < PHASES; phase++) {
                notes.write(self, phase + 1, next(phase));
                try {
                    phaseDone.await();
                } catch (BrokenBarrierException e) {
                    ChildConsole.say("BROKEN " + phase);
                    return false;
                }
                ChildConsole.say("COMPLETE " + (phase + 1));
            }
            return true;
        }

        private double[] next(int phase) {
            LockSupport.parkNanos(WORK.toNanos());
            double left = self == 0 ? HOT : notes.read(self - 1, phase)[CELLS - 1];
            double right = self == WORKERS - 1 ? COLD : notes.read(self + 1, phase)[0];
            return spread(left, notes.read(self, phase), right);
        }
    }

    private static ChildJvm start(String url, int worker) {
        ChildJvm started = ChildJvm.of(Worker.class).arguments(url, "" + worker).start();
        started.await("READY", PATIENCE);
        return started;
    }

    /** Has the workers do it; the exit code is 0 if the rod is as it should be. */
    public static void main(String[] args) {
        List<ChildJvm> workers = new ArrayList<>();
        boolean isRight;
        int goneBackTo;
        try (RedisServer server = RedisServer.launch()) {
            RedissonClient redis = connect(server.url());
            try (Interlock interlock = session(redis)) {
                Notes notes = Notes.in(redis);
                CyclicBarrier phaseDone = interlock.cyclicBarrier(NAME, WORKERS);
                for (int worker = 0; worker < WORKERS; worker++) {
                    notes.write(worker, 0, new double[CELLS]);
                    workers.add(start(server.url(), worker));
                }
                workers.forEach(worker -> worker.send("0"));
                ChildJvm victim = workers.get(1);
                victim.await("COMPLETE " + PHASES_BEFORE_THE_KILL, PATIENCE);
                victim.kill();
                goneBackTo = brokenAt(workers.get(0));
                boolean isAgreed = goneBackTo == brokenAt(workers.get(2));
                System.out.printf(
                        "one of %d workers was killed; the others stopped after phase %d%n", WORKERS, goneBackTo);
                victim.close();
                workers.set(1, start(server.url(), 1));
                phaseDone.reset();
                workers.forEach(worker -> worker.send("" + goneBackTo));
                workers.forEach(worker -> worker.await("COMPLETE " + PHASES, PATIENCE));
                isRight = isAgreed && Arrays.equals(notes.readAll(PHASES), atOneGo());
            }
            redis.shutdown();
        } finally {
            workers.forEach(ChildJvm::close);
        }
        System.out.printf(
                "ROD %s: %d phases by %d workers, gone on from phase %d; the heat is %s%n",
                isRight ? "OK" : "FAILED", PHASES, WORKERS, goneBackTo, isRight ? "where it should be" : "elsewhere");
        System.exit(isRight ? 0 : 1);
    }

    private static int brokenAt(ChildJvm worker) {
        return Integer.parseInt(worker.await("BROKEN ", PATIENCE).substring("BROKEN ".length()));
    }

    private static double[] atOneGo() {
        double[] rod = new double[WORKERS * CELLS];
        for (int phase = 0; phase < PHASES; phase++) {
            rod = spread(HOT, rod, COLD);
        }
        return rod;
    }
}
