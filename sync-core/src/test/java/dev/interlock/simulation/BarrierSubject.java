package dev.interlock.simulation;

import dev.interlock.internal.barrier.ScriptBarrier;
import dev.interlock.internal.session.RedisSession;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A barrier as the library makes it. */
final class BarrierSubject implements Subject {
    private final String name;
    private final int parties;
    private final RedisSession session;
    private final BarrierWitness witness;
    private final @Nullable Runnable action;
    private @Nullable ScriptBarrier attached;

    BarrierSubject(int number, int parties, boolean acts, RedisSession session, Jvm jvm, BarrierWitness witness) {
        this.name = SimulatedSession.name(number);
        this.parties = parties;
        this.session = session;
        this.witness = witness;
        this.action = acts ? () -> act(jvm) : null;
    }

    private void act(Jvm jvm) {
        Actor actor = jvm.thread("run the action");
        witness.acts(actor);
        actor.preempt();
    }

    private ScriptBarrier joined() {
        ScriptBarrier barrier = attached;
        if (barrier == null || barrier.hasLeft()) {
            barrier = new ScriptBarrier(session, name, parties, left -> {});
            barrier.attach();
            attached = barrier;
        }
        barrier.join();
        return barrier;
    }

    @Override
    public void drop() {
        ScriptBarrier barrier = attached;
        if (barrier != null) {
            attached = null;
            barrier.detach();
        }
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        ScriptBarrier barrier = joined();
        switch (op.call()) {
            case MEET -> {
                worker.dependsOnOthers(true);
                meet(barrier, op, false, worker);
            }
            case MEET_TIMED -> meet(barrier, op, true, worker);
            case RESET -> reset(barrier);
            case COUNT_ARRIVED -> {
                int arrived = barrier.arrived();
                if (arrived < 0 || arrived >= Math.max(2, parties + (action == null ? 0 : 1))) {
                    throw new Violation(arrived + " of " + parties + " have arrived");
                }
            }
            default -> throw new IllegalArgumentException("no call of a barrier: " + op);
        }
    }

    private void meet(ScriptBarrier barrier, Op op, boolean timed, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        witness.comes(actor, !timed);
        try {
            witness.passed(actor, barrier.await(action, timed, op.waitNanos()));
        } catch (TimeoutException e) {
            witness.breaks(actor);
        } catch (BrokenBarrierException e) {
            witness.isBroken(actor);
            worker.dependsOnOthers(false);
            if (op.holdNanos() % 2 == 0) {
                reset(barrier);
            }
        }
    }

    private void reset(ScriptBarrier barrier) {
        witness.resets();
        barrier.reset();
    }

    @Override
    public String toString() {
        return "barrier [" + attached + "]";
    }
}
