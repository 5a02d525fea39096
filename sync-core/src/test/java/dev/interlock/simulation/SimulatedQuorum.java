package dev.interlock.simulation;

import dev.interlock.internal.quorum.QuorumSession;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A session of a simulated JVM over several servers: the library's own, on a simulated network. */
final class SimulatedQuorum {
    private final QuorumSession session;
    private final List<Link> links = new ArrayList<>();

    /**
     * Creates a session that isn't open yet.
     *
     * @param faultsUntil what goes wrong between the JVM and each node, and until when
     */
    SimulatedQuorum(
            Jvm jvm,
            String id,
            boolean isPreempted,
            Settings settings,
            List<SimulatedServer> servers,
            Trace trace,
            List<Map<Fault.Kind, Long>> faultsUntil,
            Refusals refusals) {
        SimulatedEnvironment environment = new SimulatedEnvironment(jvm, id, isPreempted, 100);
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis());
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < servers.size(); i++) {
            Outage outage =
                    new Outage("Node " + (i + 1), environment.id(), settings.unheard(), environment.listeners());
            Link link = new Link(jvm, servers.get(i), trace, id, timeoutNanos, outage, faultsUntil.get(i), refusals);
            links.add(link);
            nodes.add(new Node(link, link, outage));
        }
        Outage outage = new Outage("A majority of the nodes", environment.id(), settings, environment.listeners());
        this.session = new QuorumSession(settings, environment, outage, nodes);
    }

    QuorumSession session() {
        return session;
    }

    List<Link> links() {
        return links;
    }
}
