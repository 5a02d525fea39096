package dev.interlock.lock;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.QuorumInterlock;
import dev.interlock.quorum.Nodes;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.OtherVersion;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.TwoSessions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Runs the contract on the lock over our own scripts, and on locks adapted from Redisson's; a second session contends
 * with each.
 */
@DisplayName("DistributedReentrantLock")
class DistributedReentrantLockTest {

    /** What all differ in. */
    private static Set<Deviation> commonDeviations() {
        return EnumSet.of(Deviation.NOT_SERIALIZABLE, Deviation.TO_STRING_DIFFERS, Deviation.REMOTE_WAITER_NOT_QUEUED);
    }

    private abstract static class OwnScripts extends ConditionContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        final RedisServer redis = sessions.redis();
        final Interlock mine = sessions.mine();
        final Interlock other = sessions.other();

        @Override
        protected ReentrantLock newLock() {
            String name = TwoSessions.nextName();
            return sessions.rivals(lock(mine, name), lock(other, name));
        }

        abstract DistributedReentrantLock lock(Interlock session, String name);

        @Override
        protected Set<Deviation> deviations() {
            return and(commonDeviations(), Deviation.SIGNAL_TRAVELS_WITH_RELEASE);
        }

        @ParameterizedTest
        @ValueSource(strings = {"not empty", "#0", "a:b;{c} d%"})
        @DisplayName("conditions of one name are one condition, through every object; "
                + "others, and those without a name, aren't")
        void namesTellConditionsApart(String name) {
            var lock = (DistributedReentrantLock) newLock();
            DistributedReentrantLock rival = lock(other, lock.getName());
            var here = new End(lock, lock.newCondition(name));
            List<End> same = List.of(new End(lock, lock.newCondition(name)), new End(rival, rival.newCondition(name)));
            List<End> others = List.of(
                    new End(lock, lock.newCondition()),
                    new End(rival, rival.newCondition(name + ":")),
                    new End(rival, rival.newCondition(name.substring(1))));
            for (End signaller : same) {
                Running<Boolean> waiter = startWaiting("waiter", here, Form.PLAIN);
                for (End end : others) {
                    end.assertWaiters(0);
                    end.signalAll();
                }
                assertNotYet(waiter);
                signaller.assertWaiters(1);
                signaller.signal();
                waiter.result();
                here.assertWaiters(0);
            }
        }

        /** A lock's key is its name. */
        private boolean isHeldLock(String key) {
            return !key.startsWith("interlock:")
                    && (lock(mine, key).isLocked() || lock(other, key).isLocked());
        }

        /** What a test that failed has left behind isn't the fault of the next. */
        @BeforeEach
        void lookAround() {
            sessions.lookAround();
        }

        @AfterEach
        void nothingIsLeftButMarks() {
            sessions.assertOnlyMarksAreNew(":(token|signals|mark:.*)$", this::isHeldLock);
        }
    }

    @Nested
    class Plain extends OwnScripts {
        @Override
        DistributedReentrantLock lock(Interlock session, String name) {
            return session.lock(name);
        }
    }

    @Nested
    class Fair extends OwnScripts {
        @Override
        DistributedReentrantLock lock(Interlock session, String name) {
            return session.fairLock(name);
        }

        @Override
        protected boolean fair() {
            return true;
        }

        @Override
        protected Set<Deviation> deviations() {
            return and(super.deviations(), Deviation.TRYLOCK_MAY_NOT_BARGE);
        }

        /** Besides, it has its place in Redis then, as all who came before it have. */
        @Override
        protected void awaitWaiting(ReentrantLock lock, Thread waiter) {
            super.awaitWaiting(lock, waiter);
            String name = ((DistributedReentrantLock) lock).getName();
            String session = (lock == mine.fairLock(name) ? mine : other).id();
            await(waiter.getName() + " has its ticket")
                    .untilAsserted(() -> assertThat(tickets(name))
                            .filteredOn(ticket -> ticket.startsWith(session))
                            .hasSizeGreaterThanOrEqualTo(waiting(lock)));
        }

        private List<String> tickets(String name) {
            return ((List<?>) requireNonNull(redis.command("ZRANGE", "interlock:{" + name + "}:queue", "0", "-1")))
                    .stream().map(String::valueOf).toList();
        }

        // Who waits for another session isn't in the queue, but has the lock that those queue for.
        private static int waiting(ReentrantLock lock) {
            return lock.getQueueLength() + (lock.isLocked() ? 0 : 1);
        }
    }

    @Nested
    @Tag("proof")
    class Retaining extends OwnScripts {
        @Override
        DistributedReentrantLock lock(Interlock session, String name) {
            return session.lock(name, LockOptions.retain(Duration.ofMillis(200)));
        }

        @Override
        protected Set<Deviation> deviations() {
            return and(super.deviations(), Deviation.RELEASE_LINGERS);
        }
    }

    /** A session of the last release contends. */
    @Nested
    @Tag("proof")
    class BesideTheLastRelease extends ConditionContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        private final OtherVersion other =
                OtherVersion.released(sessions.redis().url());

        @Override
        protected ReentrantLock newLock() {
            String name = TwoSessions.nextName();
            return sessions.rivals(sessions.mine().lock(name), other.lock(name));
        }

        @Override
        protected Set<Deviation> deviations() {
            return and(commonDeviations(), Deviation.SIGNAL_TRAVELS_WITH_RELEASE);
        }

        @AfterAll
        void close() {
            other.close();
        }
    }

    /** Redisson's own objects decide between sessions here, each session with a client of its own. */
    private abstract static class Adapted extends LockContract {
        private final TwoSessions sessions = underTest(TwoSessions.connected());
        private final RedissonClient myClient = sessions.newClient();
        private final RedissonClient otherClient = sessions.newClient();
        private final BiFunction<RedissonClient, String, RLock> adaptee;

        Adapted(BiFunction<RedissonClient, String, RLock> adaptee) {
            this.adaptee = adaptee;
        }

        @Override
        protected ReentrantLock newLock() {
            String name = TwoSessions.nextName();
            return sessions.rivals(
                    sessions.mine().adapt(adaptee.apply(myClient, name)),
                    sessions.other().adapt(adaptee.apply(otherClient, name)));
        }

        @Override
        protected Set<Deviation> deviations() {
            return and(commonDeviations(), Deviation.NO_CONDITIONS);
        }
    }

    @Nested
    class AdaptedRLock extends Adapted {
        AdaptedRLock() {
            super(RedissonClient::getLock);
        }
    }

    @Nested
    class AdaptedFairRLock extends Adapted {
        AdaptedFairRLock() {
            super(RedissonClient::getFairLock);
        }

        @Override
        protected Set<Deviation> deviations() {
            return and(super.deviations(), Deviation.RELEASE_LINGERS, Deviation.STUCK_AFTER_STORM);
        }

        /**
         * Redisson serves every request that was given up before it serves the next; a storm of them takes its time.
         */
        @Override
        protected int crowd() {
            return 80;
        }
    }

    /** Three nodes, of which a majority decides, and two sessions. */
    @Nested
    @Tag("proof")
    class Quorum extends LockContract {
        private final Nodes nodes = Nodes.launch(3);
        private final List<RedissonClient> clients = Nodes.clients(nodes.urls());
        private final QuorumInterlock mine = Interlock.quorum(clients);
        private final QuorumInterlock other = Interlock.quorum(clients);
        private Set<String> before = Set.of();

        /** The first use of a client takes longer than a node may. */
        @BeforeAll
        void warmUp() {
            List.of(mine, other).forEach(session -> {
                DistributedReentrantLock lock = session.lock("warm");
                lock.lock();
                lock.unlock();
            });
        }

        @Override
        protected ReentrantLock newLock() {
            return mine.lock(TwoSessions.nextName());
        }

        @Override
        protected Optional<ReentrantLock> rivalOf(ReentrantLock lock) {
            return Optional.of(other.lock(((DistributedReentrantLock) lock).getName()));
        }

        @Override
        protected Set<Deviation> deviations() {
            return and(commonDeviations(), Deviation.NO_CONDITIONS);
        }

        /** A round trip to three nodes on two cores, and no queue between sessions. */
        @Override
        protected int crowd() {
            return 300;
        }

        private Set<String> leftovers() {
            return IntStream.range(0, nodes.size())
                    .mapToObj(nodes::leftovers)
                    .flatMap(Set::stream)
                    .filter(key -> !isHeldHere(key))
                    .collect(Collectors.toSet());
        }

        // By a thread that has died, as a test has it.
        private boolean isHeldHere(String key) {
            String name = key.replaceFirst("^interlock:\\{(.*)}:quorum.*$", "$1");
            return mine.lock(name).isLocked() || other.lock(name).isLocked();
        }

        /** What a test that failed has left behind isn't the fault of the next. */
        @BeforeEach
        void lookAround() {
            before = leftovers();
        }

        @AfterEach
        void nothingIsLeftButMarks() {
            await("what is left")
                    .untilAsserted(() -> assertThat(leftovers())
                            .allSatisfy(key -> assertThat(before).contains(key)));
        }

        @AfterAll
        void close() {
            mine.close();
            other.close();
            clients.forEach(RedissonClient::shutdown);
            nodes.close();
        }
    }
}
