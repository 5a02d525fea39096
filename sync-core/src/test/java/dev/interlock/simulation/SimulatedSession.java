package dev.interlock.simulation;

import dev.interlock.SyncListener;
import dev.interlock.internal.lock.script.ScriptLock;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.NoChannels;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A session of a simulated JVM: the library's own, on a simulated network, with the locks that its threads use. */
final class SimulatedSession {
    private static final long REDIS_TIMEOUT_MILLIS = 10_000;
    private final RedisSession session;
    private final Link link;
    private final List<Subject> subjects = new ArrayList<>();

    /** Creates a session that isn't open yet. */
    SimulatedSession(
            Jvm jvm,
            int number,
            Plan plan,
            SimulatedServer server,
            Trace trace,
            Map<Fault.Kind, Long> faultsUntil,
            List<Witness> witnesses) {
        SimulatedEnvironment environment = new SimulatedEnvironment(jvm, "interlock-" + jvm.name() + "-" + number);
        Settings settings = new Settings(
                plan.leaseMillis(),
                plan.sliceNanos(),
                TimeUnit.MILLISECONDS.toNanos(REDIS_TIMEOUT_MILLIS),
                plan.commandTimeoutMillis(),
                0,
                "",
                SyncListener.NONE,
                jvm::clock);
        Outage outage = new Outage(settings, environment.listeners());
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(plan.commandTimeoutMillis());
        this.link = new Link(jvm, server, trace, environment.id(), timeoutNanos, outage, faultsUntil);
        this.session =
                new RedisSession(settings, environment, new Node(link, link, outage), new NoChannels(), () -> {});
        session.onUnclaimed(mail -> ScriptLock.giveBack(session, mail));
        for (Kind kind : plan.subjects()) {
            int subject = subjects.size();
            subjects.add(newSubject(kind, subject, jvm, plan, witnesses.get(subject)));
        }
    }

    private Subject newSubject(Kind kind, int number, Jvm jvm, Plan plan, Witness witness) {
        return switch (kind) {
            case SEMAPHORE, FAIR_SEMAPHORE ->
                new SemaphoreSubject(number, kind, plan.size(number), session, jvm, (SemaphoreWitness) witness);
            case LATCH -> new LatchSubject(number, plan.size(number), session, jvm, (LatchWitness) witness);
            case BARRIER ->
                new BarrierSubject(number, plan.parties(number), plan.acts(), session, jvm, (BarrierWitness) witness);
            default -> new LockSubject(number, kind, session, jvm, (LockWitness) witness);
        };
    }

    void open() {
        session.open();
    }

    void close() {
        session.close();
    }

    /** Its threads use nothing any more. */
    void drop() {
        subjects.forEach(Subject::drop);
    }

    boolean isClosed() {
        return session.isClosed();
    }

    /** Returns what the session owns or waits for. */
    boolean isIdle() {
        return session.participants().isEmpty();
    }

    Link link() {
        return link;
    }

    Subject subject(int number) {
        return subjects.get(number);
    }

    /** Returns the name of a subject. */
    static String name(int subject) {
        return "name-" + subject;
    }

    @Override
    public String toString() {
        return session.id() + ": " + subjects;
    }
}
