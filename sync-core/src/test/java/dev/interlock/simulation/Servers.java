package dev.interlock.simulation;

import dev.interlock.simulation.Fault.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BinaryOperator;

/** The Redis that most synchronizers use, and beside it the nodes of quorum locks, if there are any. */
final class Servers {
    private static final int NODES = 3;

    /** How far the wall clocks of nodes may be apart. */
    private static final long APART_NANOS = 12L * 3_600 * 1_000_000_000;

    private final Plan plan;
    private final SimulatedServer main;
    private final List<SimulatedServer> nodes = new ArrayList<>();
    private final List<SimulatedServer> all = new ArrayList<>();

    Servers(Plan plan, Scheduler scheduler, Trace trace, SplittableRandom random, BinaryOperator<String> scriptChange) {
        this.plan = plan;
        this.main = new SimulatedServer(scheduler, trace, random.split(), 0, scriptChange);
        all.add(main);
        if (plan.subjects().contains(dev.interlock.simulation.Kind.QUORUM_LOCK)) {
            for (int i = 0; i < NODES; i++) {
                nodes.add(new SimulatedServer(scheduler, trace, random.split(), APART_NANOS, scriptChange));
            }
        }
        all.addAll(nodes);
    }

    /** Has tokens looked at. */
    void watch(TokenOrder tokens) {
        main.watch(tokens);
    }

    /** Returns the Redis that most synchronizers use. */
    SimulatedServer main() {
        return main;
    }

    /** Returns the nodes of quorum locks. */
    List<SimulatedServer> nodes() {
        return nodes;
    }

    /** Returns how many servers there are. */
    int count() {
        return all.size();
    }

    long scriptsRun() {
        long count = 0;
        for (SimulatedServer server : all) {
            count += server.data().scriptsRun();
        }
        return count;
    }

    void replicate() {
        all.forEach(SimulatedServer::replicate);
    }

    /** Ends what is refused for good. */
    void mend() {
        all.forEach(SimulatedServer::mend);
    }

    void endReplication() {
        all.forEach(SimulatedServer::endReplication);
    }

    /** Something goes wrong with Redis: of the nodes, with one. */
    void begin(Fault fault) {
        begin(fault, main);
        if (!nodes.isEmpty()) {
            begin(fault, nodes.get(plan.node(fault, NODES)));
        }
    }

    private static void begin(Fault fault, SimulatedServer server) {
        long nanos = fault.forNanos();
        switch (fault.kind()) {
            case DOWN, RESTART -> server.goDown(nanos);
            case REFUSAL -> server.refuse(nanos);
            case CLOCK_STEP -> server.step(nanos);
            case DATA_LOSS -> server.loseAll(nanos);
            case FAILOVER -> server.failOver(nanos);
            case STALE_COPY -> server.fallBack(nanos);
            case NO_PERMISSION -> server.forbidOne();
            case WRONG_TYPE -> server.spoilOne();
            case EVICTION -> server.evictOne();
            default -> throw new IllegalArgumentException("no fault of Redis: " + fault);
        }
    }

    /** Something goes wrong between a session and Redis, until then: of the nodes, with one, or with all. */
    void begin(Fault fault, long untilNanos, SimulatedSession session) {
        boolean strikesAll = plan.strikesAllNodes(fault);
        int struck = 1 + plan.node(fault, NODES);
        for (int i = 0; i < all.size(); i++) {
            if (i == 0 || i == struck || strikesAll) {
                session.faultsUntil(i).put(fault.kind(), untilNanos);
                if (fault.kind() == Kind.CUT) {
                    session.links(i).forEach(link -> link.cut(fault.forNanos()));
                }
            }
        }
    }

    /** Nobody uses them any more, and for long: throws if something is left. */
    void checkForgotten() {
        for (SimulatedServer server : all) {
            if (!server.data().keys().isEmpty()) {
                throw new Violation("Redis never forgets " + server.data().keys());
            }
        }
    }
}
