package dev.interlock.simulation;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.script.ScriptLock;
import dev.interlock.internal.quorum.QuorumSession;
import dev.interlock.internal.ratelimit.RequestQueues;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.NoChannels;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A session of a simulated JVM: the library's own, on a simulated network, with what its threads use. Beside it, one
 * over several servers, if there are any.
 */
final class SimulatedSession {
    private static final long REDIS_TIMEOUT_MILLIS = 10_000;
    private static final int PREEMPTION = 32;

    /** What names of subjects begin with. */
    static final String NAME = "name-";

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
            "quorum.QuorumLock",
            "semaphore.SemaphoreSync");

    private static final SyncListener NOTHING_LOST = new SyncListener() {
        @Override
        public void lostUnnoticed(LeaseLostException loss) {
            throw new Violation("Redis forgets nothing, but a release finds out: " + loss.getMessage());
        }
    };

    private final Jvm jvm;
    private final Outage outage;
    private final RedisSession session;
    private final RequestQueues limits;
    private final List<Map<Fault.Kind, Long>> faultsUntil;
    private final List<Link> links = new ArrayList<>();
    private final @Nullable QuorumSession quorum;

    /** That of the holds, if there are any. */
    private final @Nullable RedisSession holds;

    private final List<Subject> subjects = new ArrayList<>();

    /** Whether the first one is open, or was. */
    private boolean isOpened;

    /**
     * Creates a session that isn't open yet.
     *
     * @param faultsUntil what goes wrong between the JVM and each server, and until when
     */
    SimulatedSession(
            Jvm jvm,
            int number,
            Plan plan,
            Servers servers,
            Trace trace,
            List<Map<Fault.Kind, Long>> faultsUntil,
            List<Witness> witnesses,
            Refusals refusals) {
        this.jvm = jvm;
        this.faultsUntil = faultsUntil;
        String id = "interlock-" + jvm.name() + "-" + number;
        SimulatedEnvironment environment = new SimulatedEnvironment(jvm, id, plan.preemptsTasks(), plan.namesASecond());
        Settings settings = settings(plan, this::now);
        this.outage = new Outage(environment.id(), settings, environment.listeners());
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(plan.commandTimeoutMillis());
        Link link = new Link(jvm, servers.main(), trace, id, timeoutNanos, outage, faultsUntil.get(0), refusals);
        links.add(link);
        this.session =
                new RedisSession(settings, environment, new Node(link, link, outage), new NoChannels(), () -> {});
        this.limits = new RequestQueues(session);
        session.onUnclaimed(mail -> ScriptLock.receiveUnclaimed(session, mail));
        this.quorum = servers.nodes().isEmpty() ? null : newQuorum(id + "-q", plan, servers, trace, refusals);
        this.holds = plan.subjects().stream().anyMatch(Kind::isOfHolds)
                ? newHolds(id + "-h", plan, servers, trace, refusals)
                : null;
        for (Kind kind : plan.subjects()) {
            int subject = subjects.size();
            subjects.add(newSubject(kind, subject, jvm, plan, witnesses.get(subject)));
        }
    }

    /** Returns a sequence that the session won't use, though others near it. */
    long sequence() {
        return session.nextSequence();
    }

    private Settings settings(Plan plan, LongSupplier ticker) {
        long leaseMillis = plan.leasesMillis().get(jvm.number());
        return new Settings(
                leaseMillis,
                plan.sliceNanos(),
                plan.retainsAdaptively(),
                plan.confirmsUnlocks(),
                false,
                TimeUnit.MILLISECONDS.toNanos(REDIS_TIMEOUT_MILLIS),
                plan.commandTimeoutMillis(),
                0,
                "",
                "test",
                new Listeners(plan.noticesLosses() ? NOTHING_LOST : SyncListener.NONE),
                ticker,
                Settings.suspensions(ticker, jvm::wallClock, leaseMillis));
    }

    private QuorumSession newQuorum(String id, Plan plan, Servers servers, Trace trace, Refusals refusals) {
        SimulatedQuorum made = new SimulatedQuorum(
                jvm,
                id,
                plan.preemptsTasks(),
                settings(plan, this::now),
                servers.nodes(),
                trace,
                faultsUntil.subList(1, faultsUntil.size()),
                refusals);
        links.addAll(made.links());
        return made.session();
    }

    private RedisSession newHolds(String holdsId, Plan plan, Servers servers, Trace trace, Refusals refusals) {
        SimulatedEnvironment environment =
                new SimulatedEnvironment(jvm, holdsId, plan.preemptsTasks(), plan.namesASecond());
        Settings settings = settings(plan, this::now);
        Outage ownOutage = new Outage(holdsId, settings, environment.listeners());
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(plan.commandTimeoutMillis());
        Link link =
                new Link(jvm, servers.main(), trace, holdsId, timeoutNanos, ownOutage, faultsUntil.get(0), refusals);
        links.add(link);
        RedisSession made =
                new RedisSession(settings, environment, new Node(link, link, ownOutage), new NoChannels(), () -> {});
        made.onUnclaimed(mail -> ScriptLock.receiveUnclaimed(made, mail));
        return made;
    }

    // Whenever a thread reads the clock, others may get on first: but not if they might wait for a mutex of its.
    private long now() {
        Actor actor = jvm.scheduler().current();
        if (actor != null && jvm.random().nextInt(PREEMPTION) == 0 && isAlone()) {
            actor.preempt(1);
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
                new SemaphoreSubject(number, kind, plan, session, jvm, (SemaphoreWitness) witness);
            case LATCH -> new LatchSubject(number, plan.size(number), session, jvm, (LatchWitness) witness);
            case BARRIER ->
                new BarrierSubject(number, plan.parties(number), plan.acts(), session, jvm, (BarrierWitness) witness);
            case READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK ->
                new ReadWriteSubject(name(number), kind.isFair(), session, jvm, (LockWitness) witness);
            case RATE_LIMITER -> new RateSubject(name(number), limits, (RateWitness) witness);
            case HELD_PERMITS ->
                new HeldPermitsSubject(
                        number,
                        plan,
                        new SemaphoreSubject(number, Kind.SEMAPHORE, plan, session, jvm, (SemaphoreWitness) witness),
                        Objects.requireNonNull(holds),
                        jvm,
                        (SemaphoreWitness) witness);
            case HOLD ->
                new HoldSubject(
                        name(number),
                        LockSubject.of(name(number), Kind.PLAIN_LOCK, session, jvm, (LockWitness) witness),
                        Objects.requireNonNull(holds),
                        jvm,
                        (LockWitness) witness);
            case ELECTION ->
                new ElectionSubject(name(number), Objects.requireNonNull(holds), jvm, (LockWitness) witness);
            case QUORUM_LOCK ->
                LockSubject.of(name(number), Objects.requireNonNull(quorum), jvm, (LockWitness) witness);
            default -> LockSubject.of(name(number), kind, session, jvm, (LockWitness) witness);
        };
    }

    void open() {
        if (!isOpened) {
            session.open();
            isOpened = true;
        }
        if (holds != null) {
            holds.open();
        }
        if (quorum != null) {
            quorum.open();
        }
    }

    void close() {
        subjects.forEach(Subject::close);
        if (holds != null) {
            holds.close();
        }
        session.close();
        if (quorum != null) {
            quorum.close();
        }
    }

    /** Returns whether nothing of it is open any more. */
    boolean isOver() {
        return session.isClosed() && (quorum == null || quorum.isClosed()) && (holds == null || holds.isClosed());
    }

    /** Its threads use nothing any more. */
    void drop() {
        subjects.forEach(Subject::drop);
    }

    boolean isClosed() {
        return session.isClosed();
    }

    /** Returns whether its threads get nothing more. */
    boolean isClosing() {
        return session.isClosing() || (holds != null && holds.isClosing());
    }

    /** Returns whether it owns nothing and waits for nothing. */
    boolean isIdle() {
        return session.participants().stream().allMatch(participant -> participant == limits)
                && (quorum == null || quorum.participants().isEmpty())
                && (holds == null || holds.participants().isEmpty());
    }

    /** Returns whether it waits for no reply. */
    boolean isAnswered() {
        return links.stream().noneMatch(Link::isUnanswered);
    }

    String id() {
        return session.id();
    }

    /** Returns its connections, the first one that of its threads to the main server. */
    List<Link> links() {
        return links;
    }

    /** Returns its connections to a server: to the main one, also that of the holds. */
    List<Link> links(int server) {
        return server == 0 && holds != null
                ? List.of(links.get(0), links.get(links.size() - 1))
                : List.of(links.get(server));
    }

    /** Returns what goes wrong on one of them, and until when. */
    Map<Fault.Kind, Long> faultsUntil(int link) {
        return faultsUntil.get(link);
    }

    Subject subject(int number) {
        return subjects.get(number);
    }

    /** Returns the name of a subject. */
    static String name(int subject) {
        return NAME + subject;
    }

    @Override
    public String toString() {
        return session.id() + ": " + subjects;
    }
}
