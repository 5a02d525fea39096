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
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A session of a simulated JVM: the library's own, on a simulated network, with the locks that its threads use. */
final class SimulatedSession {
    private static final long REDIS_TIMEOUT_MILLIS = 10_000;
    private static final int PREEMPTION = 4;
    private static final String INTERNAL = "dev.interlock.internal.";

    /** The library's classes whose methods have no mutex but those of the subjects. */
    private static final Set<String> WITHOUT_MUTEX = Set.of(
            "session.Session",
            "session.RemoteWait",
            "lock.AbstractRemoteLock",
            "lock.DistributedCondition",
            "lock.LockSync",
            "lock.ReadSync",
            "lock.script.ScriptConditions",
            "lock.script.ScriptLock",
            "lock.script.ScriptReadWriteLock",
            "semaphore.SemaphoreSync");

    private final Jvm jvm;
    private final Outage outage;
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
        this.jvm = jvm;
        SimulatedEnvironment environment = new SimulatedEnvironment(jvm, "interlock-" + jvm.name() + "-" + number);
        Settings settings = new Settings(
                plan.leasesMillis().get(jvm.number()),
                plan.sliceNanos(),
                TimeUnit.MILLISECONDS.toNanos(REDIS_TIMEOUT_MILLIS),
                plan.commandTimeoutMillis(),
                0,
                "",
                SyncListener.NONE,
                this::now);
        this.outage = new Outage(settings, environment.listeners());
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

    // Whenever a thread reads the clock, others may get on first: but not if they might wait for a mutex of its.
    private long now() {
        Actor actor = jvm.scheduler().current();
        if (actor != null && jvm.random().nextInt(PREEMPTION) == 0 && isAlone()) {
            actor.preempt();
        }
        return jvm.clock();
    }

    private boolean isAlone() {
        return !subjects.isEmpty()
                && subjects.stream().noneMatch(Subject::isGuarded)
                && StackWalker.getInstance()
                        .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                                .filter(name -> name.startsWith(INTERNAL))
                                .allMatch(name -> WITHOUT_MUTEX.contains(name.substring(INTERNAL.length()))));
    }

    private Subject newSubject(Kind kind, int number, Jvm jvm, Plan plan, Witness witness) {
        return switch (kind) {
            case SEMAPHORE, FAIR_SEMAPHORE ->
                new SemaphoreSubject(number, kind, plan.size(number), session, jvm, (SemaphoreWitness) witness);
            case LATCH -> new LatchSubject(number, plan.size(number), session, jvm, (LatchWitness) witness);
            case BARRIER ->
                new BarrierSubject(number, plan.parties(number), plan.acts(), session, jvm, (BarrierWitness) witness);
            case READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK ->
                new ReadWriteSubject(name(number), kind.isFair(), session, jvm, (LockWitness) witness);
            default -> LockSubject.of(name(number), kind, session, jvm, (LockWitness) witness);
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

    String id() {
        return session.id();
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
