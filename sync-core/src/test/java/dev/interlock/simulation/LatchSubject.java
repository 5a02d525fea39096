package dev.interlock.simulation;

import dev.interlock.internal.latch.LatchSync;
import dev.interlock.internal.latch.ScriptLatch;
import dev.interlock.internal.session.RedisSession;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Latches as the library makes them, but for the JDK superclass of their local halves. A latch opens once, so threads
 * use one after the other: which one, the {@link LatchWitness} says.
 */
final class LatchSubject implements Subject {
    private static final long RETENTION_MILLIS = TimeUnit.DAYS.toMillis(1);

    /** A latch, and how threads wait for it. */
    private record Latch(ScriptLatch remote, LatchSync sync) {
        @Override
        public String toString() {
            return remote.toString();
        }
    }

    private final int number;
    private final int count;
    private final RedisSession session;
    private final Jvm jvm;
    private final LatchWitness witness;
    private final Map<Integer, Latch> latches = new HashMap<>();

    LatchSubject(int number, int count, RedisSession session, Jvm jvm, LatchWitness witness) {
        this.number = number;
        this.count = count;
        this.session = session;
        this.jvm = jvm;
        this.witness = witness;
    }

    private Latch joined(int round) {
        while (true) {
            Latch latch = latches.computeIfAbsent(round, this::create);
            if (latch.sync.join(count)) {
                return latch;
            }
            latches.remove(round, latch);
        }
    }

    private Latch create(int round) {
        LocalLatchModel local = new LocalLatchModel(jvm);
        String name = SimulatedSession.name(number) + "-" + round;
        ScriptLatch remote = new ScriptLatch(session, name, count, RETENTION_MILLIS, local);
        return new Latch(remote, new LatchSync(session, local, remote));
    }

    @Override
    public boolean mayFail(Op op, Exception failure) {
        return witness.mayBeLost() && failure instanceof IllegalStateException;
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        int round = op.call() == Call.COUNT_DOWN_OF ? (int) op.waitNanos() : witness.round(op);
        Latch latch = joined(round);
        switch (op.call()) {
            case COUNT_DOWN, COUNT_DOWN_OF -> {
                witness.countsDown(round);
                latch.remote.countDown();
                witness.hasCountedDown(round);
            }
            case AWAIT -> {
                worker.dependsOnOthers(true);
                witness.waits(round, worker.actor());
                latch.sync.await(LatchSync.FOREVER);
                witness.passed(round);
            }
            case AWAIT_TIMED -> {
                long before = witness.counted(round);
                if (latch.sync.await(op.waitNanos())) {
                    witness.passed(round);
                } else {
                    witness.turnedAway(round, before);
                }
            }
            case GET_COUNT -> {
                long before = witness.counted(round);
                witness.checkCount(round, latch.sync.count(), before);
            }
            case GET_LAST_COUNT -> witness.checkLastCount(round, latch.sync.count());
            default -> throw new IllegalArgumentException("no call of a latch: " + op);
        }
    }

    @Override
    public String toString() {
        return "latches " + latches;
    }
}
