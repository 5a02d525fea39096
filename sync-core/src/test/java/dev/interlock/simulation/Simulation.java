package dev.interlock.simulation;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Keys;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BinaryOperator;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A fleet of JVMs, their Redis and the network between them, in virtual time. The same plan has the same outcome. */
final class Simulation {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    /** When all faults are over, everybody gets on and ends within that time. */
    private static final long PATIENCE_NANOS = 150 * SECOND;

    /** All that Redis has been told is forgotten by then: an unused latch lives for a week. */
    private static final long FORGOTTEN_NANOS = 8 * 24 * 3_600 * SECOND;

    /** What was sent late, or twice, has come by then. */
    private static final long LATE_NANOS = 5 * SECOND;

    /** A thread gets in that soon when another one of its JVM has lost the lock, and nothing else goes wrong. */
    private static final long SOON_NANOS = 3 * SECOND;

    /** Any thread gets in that long after a lease at the latest. */
    private static final long LATE_GRACE_NANOS = 20 * SECOND;

    /** For so long Redis refuses some things for good, before somebody mends that. */
    private static final long REFUSED_NANOS = 60 * SECOND;

    /** While it lasts, a session that has lost the vote of one node gets that of another. */
    private static final long LONG_LEASE_MILLIS = 10_000;

    private static final long STRANGERS_PAUSE_NANOS = 2 * MILLI;

    /** Sessions ask again and again while they wait, but not as often as that until one of their calls ends. */
    private static final int MOST_SCRIPTS = 20_000;

    /** A machine's clock is that much faster or slower than Redis' at the most. */
    private static final double CLOCK_DEVIATION = 0.012;

    /**
     * What came of it.
     *
     * @param violation what is wrong, or null
     * @param draws who has drawn random numbers, in their order, as a hash code: two runs that differ in anything
     *     differ in that, or soon will
     */
    record Outcome(
            @Nullable Violation violation,
            Trace trace,
            long scripts,
            long calls,
            long entries,
            long virtualNanos,
            long draws) {}

    /** A JVM with its session and its threads. */
    private final class Host {
        final Jvm jvm;
        /** What goes wrong between it and each server, and until when. */
        final List<Map<Fault.Kind, Long>> faultsUntil =
                Stream.generate(Link::noFaults).limit(servers.count()).toList();

        final List<Worker> workers = new ArrayList<>();
        SimulatedSession session;
        int sessions;
        boolean isRenewing;

        Host(int number, List<List<Op>> programs) {
            double rate = 1 + CLOCK_DEVIATION * (2 * random.nextDouble() - 1);
            this.jvm = new Jvm(scheduler, number, rate, random.split());
            this.session = newSession();
            for (List<Op> program : programs) {
                String name = jvm.name() + "." + workers.size();
                workers.add(new Worker(Simulation.this, jvm, name, () -> session, program));
            }
        }

        SimulatedSession newSession() {
            return new SimulatedSession(jvm, sessions++, plan, servers, trace, faultsUntil, witnesses, refusals);
        }

        void start() {
            new Actor(jvm, jvm.name() + ".main", () -> {
                        open(session);
                        workers.forEach(worker -> worker.actor().start());
                    })
                    .start();
        }

        private void open(SimulatedSession opened) {
            while (true) {
                try {
                    opened.open();
                    return;
                } catch (RedisUnavailableException e) {
                    trace.add(jvm, "can't open its session: %s", e);
                }
            }
        }

        /** Closes the session and opens another one, unless that is under way. */
        void renewSession() {
            if (isRenewing) {
                return;
            }
            isRenewing = true;
            new Actor(jvm, jvm.name() + ".main", () -> {
                        session.close();
                        SimulatedSession next = newSession();
                        open(next);
                        session = next;
                        isRenewing = false;
                    })
                    .start();
        }
    }

    private final Plan plan;
    private final ErrorLog log = new ErrorLog();
    private final Scheduler scheduler = new Scheduler();
    private final Trace trace;
    private final SplittableRandom random;
    private final Servers servers;
    private final Stranger stranger;
    private final Refusals refusals;
    private final List<Host> hosts = new ArrayList<>();
    private final List<Witness> witnesses = new ArrayList<>();
    private final List<Worker> helpers = new ArrayList<>();

    private long scriptsWhenACallEnded;

    /** Whether all sessions are closed. */
    private boolean isOver;

    private Simulation(Plan plan, boolean isTraced, BinaryOperator<String> scriptChange) {
        this.plan = plan;
        this.trace = new Trace(scheduler, isTraced);
        this.random = new SplittableRandom(plan.seed() + 1);
        this.refusals = new Refusals(scheduler);
        this.servers = new Servers(plan, scheduler, trace, random, scriptChange);
        this.stranger = new Stranger(plan, random);
    }

    /** Runs a plan on the library as it is. */
    static Outcome run(Plan plan, boolean isTraced) {
        return run(plan, isTraced, (name, text) -> text);
    }

    /**
     * Runs a plan.
     *
     * @param scriptChange changes the texts of scripts, given their name
     */
    static Outcome run(Plan plan, boolean isTraced, BinaryOperator<String> scriptChange) {
        Simulation simulation = new Simulation(plan, isTraced, scriptChange);
        Violation violation = null;
        try (ErrorLog log = simulation.log) {
            simulation.run();
            log.check();
        } catch (Violation e) {
            violation = e;
            simulation.trace.add("VIOLATION: %s", e);
        } finally {
            simulation.hosts.forEach(host -> host.jvm.die());
        }
        return simulation.outcome(violation);
    }

    private Outcome outcome(@Nullable Violation violation) {
        long calls = hosts.stream()
                .flatMap(host -> host.workers.stream())
                .mapToLong(Worker::callsDone)
                .sum();
        long entries = witnesses.stream().mapToLong(Witness::entries).sum();
        return new Outcome(
                violation, trace, servers.scriptsRun(), calls, entries, scheduler.nanos(), scheduler.draws());
    }

    private void run() {
        for (Kind kind : plan.subjects()) {
            witnesses.add(newWitness(kind, witnesses.size()));
        }
        for (List<List<Op>> programs : plan.programs()) {
            hosts.add(new Host(hosts.size(), programs));
        }
        if (plan.faults().stream().anyMatch(fault -> fault.kind() == Fault.Kind.FAILOVER)) {
            servers.replicate();
        }
        if (plan.tokensIncrease()) {
            servers.watch(new TokenOrder(plan.subjects()));
        }
        hosts.forEach(Host::start);
        plan.faults().forEach(fault -> scheduler.after(fault.atNanos(), () -> begin(fault)));
        if (plan.refusesForGood()) {
            scheduler.after(mendedNanos(), servers::mend);
            lookForRefused();
        }
        refill();
        run(mendedNanos() + 3 * plan.holdsNanos() + PATIENCE_NANOS, this::isDone);
        checkLeftovers();
    }

    private Witness newWitness(Kind kind, int number) {
        boolean isExclusive = !plan.losesData();
        return switch (kind) {
            case SEMAPHORE, FAIR_SEMAPHORE, HELD_PERMITS -> newSemaphoreWitness(kind, number);
            case LATCH -> {
                boolean isExact = isExclusive && !has(Fault.Kind.CLOSE) && !has(Fault.Kind.DEATH);
                boolean countsOnce = !has(Fault.Kind.EVICTION) && !has(Fault.Kind.WRONG_TYPE);
                yield new LatchWitness(plan.size(number), hasFaults(), isExact, !isExclusive, countsOnce);
            }
            case RATE_LIMITER -> new RateWitness(scheduler, trace, RateSubject.limit(plan, number), isExclusive);
            case BARRIER ->
                new BarrierWitness(scheduler, trace, plan.parties(number), plan.acts(), hasFaults(), isExclusive);
            default -> {
                EntryOrder order = new EntryOrder(
                        scheduler, plan.keepsOrder() ? kind.mostOvertaken(plan.threads()) : EntryOrder.NONE);
                // Nodes of a quorum may each be owned by another session.
                boolean isPunctual = !hasFaults() && kind != Kind.QUORUM_LOCK;
                boolean hasOwnTokens = plan.tokensIncrease() && kind != Kind.QUORUM_LOCK;
                boolean hasTurns = isPunctual && (kind == Kind.PLAIN_LOCK || kind == Kind.RETAINED_LOCK);
                Turns turns = new Turns(scheduler, hasTurns ? plan.sliceNanos() : Turns.ENDLESS);
                yield new LockWitness(trace, isExclusive, isPunctual, hasOwnTokens, order, turns, this::newStandstill);
            }
        };
    }

    private Witness newSemaphoreWitness(Kind kind, int number) {
        boolean isKept = plan.ownsPermits(number) || !(has(Fault.Kind.CLOSE) || has(Fault.Kind.DEATH));
        // A thread that takes permits past all others may leave them to the next one of its JVM.
        boolean isInTurn = kind.isFair()
                || Stream.of(Call.TRY_ACQUIRE, Call.TRY_ACQUIRE_AT_ONCE, Call.DRAIN)
                        .noneMatch(call -> plan.calls(number, call));
        return new SemaphoreWitness(
                scheduler,
                trace,
                plan.size(number),
                Collections.max(plan.leasesMillis()) * MILLI,
                isKept && !plan.losesData(),
                isInTurn && !hasFaults() && kind != Kind.HELD_PERMITS,
                kind.isFair() ? 0 : plan.sliceNanos());
    }

    private @Nullable Standstill newStandstill(Supplier<@Nullable Jvm> holder) {
        long lateNanos = Collections.max(plan.leasesMillis()) * MILLI + LATE_GRACE_NANOS;
        return plan.traits().contains(Trait.LOST_LOCKS_BLOCK_NOBODY)
                ? new Standstill(scheduler, holder, mendedNanos(), hasFaults() ? lateNanos : SOON_NANOS, lateNanos)
                : null;
    }

    private interface Condition {
        boolean isMet();
    }

    private void run(long untilNanos, Condition condition) {
        while (!condition.isMet()) {
            if (!scheduler.step(untilNanos)) {
                throw new Violation("It doesn't end: " + describe());
            }
            log.check();
            if (servers.scriptsRun() - scriptsWhenACallEnded > MOST_SCRIPTS) {
                throw new Violation("It doesn't get on, however much it asks: " + describe());
            }
        }
    }

    /** A call has ended. */
    void gotOn() {
        scriptsWhenACallEnded = servers.scriptsRun();
    }

    private String describe() {
        return hosts.stream()
                        .filter(host -> !host.jvm.isDead())
                        .flatMap(host -> host.workers.stream())
                        .filter(worker -> !worker.isDone())
                        .map(Worker::state)
                        .collect(Collectors.joining("; "))
                + "; sessions: "
                + hosts.stream().map(host -> host.session.toString()).collect(Collectors.joining("; "));
    }

    private boolean isDone() {
        for (Host host : hosts) {
            for (Worker worker : host.workers) {
                if (!worker.isDone()) {
                    return false;
                }
            }
        }
        return scheduler.nanos() >= mendedNanos();
    }

    /** Returns when nothing goes wrong any more. */
    private long mendedNanos() {
        return plan.faultsEndNanos() + (plan.refusesForGood() ? REFUSED_NANOS : 0);
    }

    /** Adds what those wait for who wait for nothing else, signal by signal. */
    private void refill() {
        scheduler.after(SECOND, () -> {
            if (scheduler.nanos() > mendedNanos() + SECOND) {
                Host living = hosts.stream()
                        .filter(host -> !host.jvm.isDead())
                        .findFirst()
                        .orElse(null);
                boolean isNobodyElseLeft = hosts.stream()
                        .flatMap(host -> host.workers.stream())
                        .allMatch(worker -> worker.isDone() || worker.dependsOnOthers());
                if (living != null && isNobodyElseLeft) {
                    refill(living);
                }
            }
            if (!isOver) {
                refill();
            }
        });
    }

    private void refill(Host host) {
        if (helpers.stream().allMatch(Worker::isDone)) {
            helpers.clear();
            for (int i = 0; i < witnesses.size(); i++) {
                helpers.add(start(host, "help" + i, witnesses.get(i).rescue(i)));
            }
        }
    }

    private void lookForRefused() {
        scheduler.after(SECOND, () -> {
            List<Worker> calling = Stream.concat(workers().stream(), helpers.stream())
                    .filter(Worker::isCalling)
                    .toList();
            calling.stream()
                    .filter(worker -> calling.stream().noneMatch(worker::isBehind))
                    .forEach(worker -> refusals.check(worker, kind(worker.subject())));
            if (!isOver) {
                lookForRefused();
            }
        });
    }

    private Worker start(Host host, String name, List<Op> calls) {
        Worker worker = new Worker(this, host.jvm, host.jvm.name() + "." + name, () -> host.session, calls);
        worker.actor().start();
        return worker;
    }

    private void begin(Fault fault) {
        trace.add("FAULT: %s%s for %.3f ms", fault.kind(), place(fault), fault.forNanos() / 1e6);
        if (fault.kind().isOfRedis()) {
            servers.begin(fault);
        } else if (fault.kind() == Fault.Kind.INTERRUPT) {
            struck(fault).interrupt();
        } else {
            begin(fault, hosts.get(fault.target() % hosts.size()));
        }
    }

    private Actor struck(Fault interrupt) {
        return workers().get(interrupt.target() % workers().size()).actor();
    }

    private String place(Fault fault) {
        if (fault.kind().isOfRedis()) {
            return "";
        }
        return " of "
                + (fault.kind() == Fault.Kind.INTERRUPT ? struck(fault).name() : "J" + fault.target() % hosts.size());
    }

    private void begin(Fault fault, Host host) {
        long nanos = fault.forNanos();
        switch (fault.kind()) {
            case FREEZE -> host.jvm.freeze(nanos);
            case SUSPENSION -> host.jvm.suspend(nanos);
            case DEATH -> host.jvm.die();
            case CLOSE -> {
                if (!host.session.isClosed() && !host.jvm.isDead()) {
                    host.renewSession();
                }
            }
            case STRANGER -> annoy(host, scheduler.nanos() + nanos);
            default -> servers.begin(fault, scheduler.nanos() + nanos, host.session);
        }
    }

    /** Sends a stranger's messages, one after the other. */
    private void annoy(Host host, long untilNanos) {
        if (scheduler.nanos() < untilNanos) {
            List<Link> links = host.session.links();
            Link link = links.get(random.nextInt(links.size()));
            host.jvm.arrive(() -> link.deliver(stranger.mail(host.session.sequence())));
            scheduler.after(random.nextLong(STRANGERS_PAUSE_NANOS), () -> annoy(host, untilNanos));
        }
    }

    private List<Worker> workers() {
        return hosts.stream().flatMap(host -> host.workers.stream()).toList();
    }

    /** Nobody uses a lock any more: soon nothing is left in the sessions, and later nothing in Redis. */
    private void checkLeftovers() {
        hosts.stream().filter(host -> !host.jvm.isDead()).forEach(host -> host.session.drop());
        run(scheduler.nanos() + 60 * SECOND, () -> areAll(SimulatedSession::isIdle));
        // A request without an answer is taken back when the client has given it up.
        run(scheduler.nanos() + 60 * SECOND, () -> areAll(SimulatedSession::isAnswered));
        pass(LATE_NANOS);
        // A release that is refused until the lease is over isn't repeated any more.
        if (!plan.losesData() && !plan.refusesForGood()) {
            checkOwners();
            checkNodes();
        }
        hosts.stream().filter(host -> !host.jvm.isDead()).findFirst().ifPresent(this::runFinale);
        hosts.forEach(host -> new Actor(host.jvm, host.jvm.name() + ".main", () -> host.session.close()).start());
        run(scheduler.nanos() + 60 * SECOND, () -> areAll(SimulatedSession::isOver));
        isOver = true;
        servers.endReplication();
        pass(FORGOTTEN_NANOS);
        if (!has(Fault.Kind.WRONG_TYPE) || plan.traits().contains(Trait.HALVES_ARE_FORGOTTEN)) {
            servers.checkForgotten();
        }
    }

    private void pass(long nanos) {
        boolean[] hasPassed = {false};
        scheduler.after(nanos, () -> hasPassed[0] = true);
        run(Long.MAX_VALUE, () -> hasPassed[0]);
    }

    /** What a session has given up, and Redis has heard of, is neither owned nor queued again, whatever comes late. */
    private void checkOwners() {
        for (int i = 0; i < plan.subjects().size(); i++) {
            String name = SimulatedSession.name(i);
            checkOwners(servers.main(), List.of(name, Keys.of("queue", name)), ":");
            checkOwners(servers.main(), List.of(name, Keys.of("queue", name)), "-h:");
        }
    }

    private void checkNodes() {
        if (!servers.nodes().isEmpty()) {
            // A node that has answered nothing isn't asked again before some commands have timed out.
            pass(2 * Link.PATIENCE * plan.commandTimeoutMillis() * MILLI);
        }
        for (int i = 0; i < plan.subjects().size(); i++) {
            String key = Kind.QUORUM_LOCK.key(SimulatedSession.name(i));
            servers.nodes().forEach(node -> checkOwners(node, List.of(key, key + "-waiters"), "-q"));
        }
    }

    private void checkOwners(SimulatedServer server, List<String> keys, String behindId) {
        hosts.stream()
                .filter(host -> !host.jvm.isDead())
                .forEach(host -> server.checkForgotten(keys, host.session.id() + behindId));
    }

    private void runFinale(Host host) {
        for (int i = 0; i < witnesses.size(); i++) {
            Worker worker = start(host, "last", witnesses.get(i).finale(i));
            run(scheduler.nanos() + PATIENCE_NANOS, worker::isDone);
        }
        run(scheduler.nanos() + 60 * SECOND, () -> areAll(SimulatedSession::isIdle));
    }

    private boolean areAll(Predicate<SimulatedSession> state) {
        return hosts.stream().allMatch(host -> host.jvm.isDead() || state.test(host.session));
    }

    // ---- what workers ask

    Witness witness(int lock) {
        return witnesses.get(lock);
    }

    Kind kind(int lock) {
        return plan.subjects().get(lock);
    }

    Trace trace() {
        return trace;
    }

    boolean hasFaults() {
        return !plan.faults().isEmpty();
    }

    /** Returns whether Redis may seem to be away, or a majority of the nodes. */
    boolean mayBeUnavailable(Op op) {
        return hasDelays() && !findsMajority(op);
    }

    /** Returns whether leases may be lost. */
    boolean mayLose(Op op, Jvm jvm) {
        boolean isLong = plan.leasesMillis().get(jvm.number()) >= LONG_LEASE_MILLIS;
        return plan.evicts(op.subject()) || (hasDelays() && !(findsMajority(op) && isLong));
    }

    private boolean hasDelays() {
        return plan.faults().stream().anyMatch(fault -> fault.kind().delays());
    }

    private boolean findsMajority(Op op) {
        return plan.subjects().get(op.subject()) == Kind.QUORUM_LOCK && plan.sparesMajority();
    }

    private boolean has(Fault.Kind kind) {
        return plan.faults().stream().anyMatch(fault -> fault.kind() == kind);
    }

    boolean refusesForGood() {
        return plan.refusesForGood();
    }

    boolean interrupts() {
        return has(Fault.Kind.INTERRUPT);
    }
}
