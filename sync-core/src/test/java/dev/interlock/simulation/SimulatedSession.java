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
    private static final int PREEMPTION = 12;

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
            subjects.add(subject(kind, jvm, witnesses.get(subjects.size())));
        }
    }

    // Whenever a thread reads the clock, others may get on first.
    private long now() {
        Actor actor = jvm.scheduler().current();
        boolean isOpen = !subjects.isEmpty();
        if (isOpen
                && actor != null
                && !Thread.holdsLock(outage)
                && subjects.stream().noneMatch(Subject::isGuarded)) {
            actor.preempt(PREEMPTION);
        }
        return jvm.clock();
    }

    private Subject subject(Kind kind, Jvm jvm, Witness witness) {
        String name = name(subjects.size());
        return switch (kind) {
            case PLAIN_LOCK, FAIR_LOCK, RETAINED_LOCK ->
                LockSubject.of(name, kind, session, jvm, (LockWitness) witness);
            case READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK ->
                new ReadWriteSubject(name, kind.isFair(), session, jvm, (LockWitness) witness);
        };
    }

    void open() {
        session.open();
    }

    void close() {
        session.close();
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
