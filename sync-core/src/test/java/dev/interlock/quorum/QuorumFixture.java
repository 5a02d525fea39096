package dev.interlock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.QuorumInterlock;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

/**
 * Nodes of a test's own, which it may kill, and sessions over them; at the end nothing may be left at those that are
 * alive.
 */
// In a thread of its own, since an interrupt wouldn't end a lock() that hangs.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class QuorumFixture {
    static final String NAME = "stock";
    static final Duration PATIENCE = Duration.ofSeconds(15);

    /** What a thread, a process and a garbage collector may add to a bound that a test asserts. */
    static final Duration SLACK = Duration.ofMillis(1_500);

    private final List<QuorumInterlock> sessions = new ArrayList<>();
    private final List<RedissonClient> clients = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    Nodes nodes;

    /** How many nodes there are. */
    abstract int size();

    @BeforeEach
    final void launch() {
        nodes = Nodes.launch(size());
    }

    @AfterEach
    final void leaveNothing() {
        IntStream.range(0, nodes.size()).forEach(i -> nodes.proxy(i).heal());
        actors.forEach(Actor::close);
        sessions.forEach(QuorumInterlock::close);
        IntStream.range(0, nodes.size())
                .filter(i -> !dead.contains(i))
                .forEach(i -> await("nothing left at node " + i)
                        .untilAsserted(() -> assertThat(nodes.leftovers(i)).isEmpty()));
        clients.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        nodes.close();
    }

    private final List<Integer> dead = new ArrayList<>();

    final void kill(int... indices) {
        for (int index : indices) {
            nodes.node(index).kill();
            dead.add(index);
        }
    }

    /** Starts it again, with what it has on disk: nothing, unless the test has had it saved. */
    final void restart(int index) {
        nodes.node(index).restart();
        dead.remove((Integer) index);
    }

    final QuorumInterlock session() {
        return session(builder -> builder);
    }

    /** A session through the proxies, warmed up. */
    final QuorumInterlock session(UnaryOperator<InterlockBuilder> settings) {
        List<RedissonClient> own = Nodes.clients(nodes.proxied());
        clients.addAll(own);
        QuorumInterlock session =
                settings.apply(Interlock.builder().redisTimeout(PATIENCE)).openQuorum(own);
        sessions.add(session);
        DistributedReentrantLock warm = session.lock("warm");
        warm.lock();
        warm.unlock();
        return session;
    }

    final Actor actor(String name) {
        Actor actor = new Actor(name);
        actors.add(actor);
        return actor;
    }

    static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
    }

    /** All live nodes have said that nobody owns the name. */
    final void awaitFree(int... indices) {
        for (int index : indices) {
            await("node " + index + " free")
                    .until(() -> nodes.owner(index, NAME).isEmpty());
        }
    }

    static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }
}
