package dev.interlock.quorum;

import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.lock.fleet.section.SectionWork;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Task;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;

/** Sections under a quorum lock, of which each lasts across a context switch. */
final class QuorumWork extends SectionWork {

    private static final Duration LEASE = Duration.ofSeconds(10);

    private final QuorumInterlock quorum;
    private final List<RedissonClient> clients;

    /** Takes the addresses of the nodes, with commas in between. */
    QuorumWork(Task task) {
        this(task, RedisServer.connect(() -> Nodes.clients(List.of(task.url().split(",", -1)))));
    }

    private QuorumWork(Task task, List<RedissonClient> clients) {
        this(
                task,
                clients,
                RedisServer.connect(() -> Interlock.builder().lease(LEASE).openQuorum(clients)));
    }

    private QuorumWork(Task task, List<RedissonClient> clients, QuorumInterlock quorum) {
        super(quorum.lock(task.name()), 1);
        this.clients = clients;
        this.quorum = quorum;
    }

    @Override
    public void close() {
        quorum.close();
        clients.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
    }
}
