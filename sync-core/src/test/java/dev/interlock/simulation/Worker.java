package dev.interlock.simulation;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import java.util.List;
import java.util.function.Supplier;

/** A thread of a simulated JVM that uses synchronizers, call by call; if it ends too soon, another one goes on. */
final class Worker {
    private static final long REST_NANOS = 5_000_000;

    private final Simulation simulation;
    private final Supplier<SimulatedSession> session;
    private final List<Op> program;
    private Actor actor;
    private int done;
    private boolean dependsOnOthers;
    private long calledNanos;

    Worker(Simulation simulation, Jvm jvm, String name, Supplier<SimulatedSession> session, List<Op> program) {
        this.simulation = simulation;
        this.session = session;
        this.program = program;
        this.actor = new Actor(jvm, name, this::run);
    }

    Actor actor() {
        return actor;
    }

    boolean isDone() {
        return actor.isFinished();
    }

    /** Says whether it waits without end for calls of others. */
    void dependsOnOthers(boolean depends) {
        dependsOnOthers = depends;
    }

    boolean dependsOnOthers() {
        return dependsOnOthers;
    }

    /** Returns the number of the name whose method it calls. */
    int subject() {
        return program.get(done).subject();
    }

    /** Returns when it has called that. */
    long calledNanos() {
        return calledNanos;
    }

    /** Returns the id of the session that it uses. */
    String sessionId() {
        return session.get().id();
    }

    boolean isCalling() {
        return !isDone() && done < program.size() && !actor.jvm().isDead();
    }

    /** Returns whether it may wait for what another thread of its JVM does, which doesn't wait itself. */
    boolean isBehind(Worker other) {
        return other.actor.jvm() == actor.jvm() && other.subject() == subject() && !other.actor.isParked();
    }

    int callsDone() {
        return done;
    }

    String state() {
        return actor.name() + " " + actor.state() + ", after " + done + " of " + program.size() + " calls"
                + (done < program.size() ? ", in " + program.get(done) : "");
    }

    private void run() {
        while (done < program.size()) {
            Op op = program.get(done);
            actor.sleep(op.thinkNanos());
            call(op);
            done++;
            simulation.gotOn();
            if (op.endsThread()) {
                actor = new Actor(actor.jvm(), actor.name(), this::run);
                actor.start();
                return;
            }
        }
    }

    /** A message comes to the mailbox of the session. */
    void deliver(String mail) {
        Link link = session.get().links().get(0);
        actor.jvm().after(actor.jvm().wakeUpNanos(), () -> link.deliver(mail));
    }

    private void call(Op op) {
        SimulatedSession current = session.get();
        Subject subject = current.subject(op.subject());
        Trace trace = simulation.trace();
        calledNanos = actor.jvm().scheduler().nanos();
        trace.add(actor.jvm(), "calls %s of %s", op.call(), SimulatedSession.name(op.subject()));
        try {
            subject.call(op, this);
            trace.add(actor.jvm(), "is done");
        } catch (Exception e) { // whatever it is, it is expected or a violation
            trace.add(actor.jvm(), "fails by %s", e);
            if (!isExpected(op, e, current) && !subject.mayFail(op, e)) {
                throw e instanceof Violation violation
                        ? violation
                        : new Violation(op.call() + " has failed by " + e, e);
            }
            if (current.isClosing()) {
                actor.sleep(REST_NANOS);
            }
        } finally {
            dependsOnOthers = false;
            simulation.witness(op.subject()).ended(actor);
        }
    }

    private boolean isExpected(Op op, Exception failure, SimulatedSession current) {
        if (failure instanceof InterruptedException) {
            return simulation.interrupts();
        }
        if (failure instanceof LeaseLostException) {
            return simulation.mayLose(op, actor.jvm());
        } else if (failure instanceof RedisUnavailableException) {
            return simulation.mayBeUnavailable(op);
        }
        return failure instanceof IllegalStateException && (current.isClosing() || simulation.refusesForGood());
    }
}
