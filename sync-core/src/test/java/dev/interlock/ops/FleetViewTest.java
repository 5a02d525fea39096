package dev.interlock.ops;

import static dev.interlock.testing.rig.Peer.ANSWER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.lock.fleet.LockSubject;
import dev.interlock.ops.Deadlock.Step;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.NameView.Waiter;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An operator sees the sessions of other JVMs, and acts on them. */
@Timely
@Tag("proof")
class FleetViewTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration TOLD = Duration.ofMillis(200);
    private static final Duration FOUND = Duration.ofSeconds(5);
    private static final int RELEASES = 6;
    private static final long LEAST_TRAFFIC_SECONDS = 60;
    private static final int TRAVELLERS = 6;
    private static final int NAMES = 4;

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    private Interlock session;
    private Operator operator;

    @BeforeEach
    void open() {
        session = Interlock.connect(rig.url());
        operator = session.operator();
    }

    @AfterEach
    void close() {
        session.close();
    }

    private NameView inspected(String name) {
        List<NameView> views = operator.inspect(name);
        assertThat(views).hasSize(1);
        return views.get(0);
    }

    @Test
    void holderAndWaitersOfOtherJvmsAreSeenThoughOneStandsStill() {
        String name = rig.name("order");
        List<Peer> peers = rig.start(2, new LockSubject(), name, LEASE, "plain");
        Peer holder = peers.get(0);
        Peer other = peers.get(1);
        Peer.Entry entry = holder.enter("t1", "lock");
        other.queue("t2", "lock", 0);
        LockSubject.queueLocally(other, "t3");

        NameView view = inspected(name);
        assertThat(view.holders()).hasSize(1);
        Holder held = view.holders().get(0);
        assertThat(held.session()).isEqualTo(holder.sessionId());
        assertThat(held.thread()).isEqualTo("t1");
        assertThat(held.state()).isEqualTo(State.INSIDE);
        assertThat(held.token()).isEqualTo(entry.token());
        assertThat(view.waiters()).extracting(Waiter::session).containsOnly(other.sessionId());
        assertThat(view.waiters()).extracting(Waiter::thread).containsExactly("t2", "t3");

        holder.stop();
        NameView stopped = inspected(name);
        assertThat(stopped.holders()).extracting(Holder::state).containsExactly(State.SILENT);
        assertThat(stopped.holders()).extracting(Holder::session).containsExactly(holder.sessionId());
        assertThat(stopped.waiters()).extracting(Waiter::thread).containsExactly("t2", "t3");
        assertThat(operator.lookAt(name).silent())
                .singleElement()
                .matches(one -> one.id().equals(holder.sessionId()) && one.host() != null && one.pid() > 0);

        holder.cont();
        assertThat(operator.forceRelease(name, entry.token())).isTrue();
        Peer.Entry next = other.awaitEntry("t2");
        next.assertTokenAfter(entry);
        await("the listeners of the lock and its session")
                .atMost(ANSWER)
                .until(() -> holder.count("LOST session") == 1 && holder.count("LOST lock") == 1);
        other.exit("t2", "lock");
        other.awaitEntry("t3");
        other.exit("t3", "lock");
        holder.tell("t1", "leave-lock");
        holder.assertLost("t1", "leave-lock");
        rig.leave();
    }

    @Test
    void theOwnerIsToldOfAForcedReleaseAtOnce() {
        String name = rig.name("order");
        List<Peer> peers = rig.start(2, new LockSubject(), name, LEASE, "plain");
        Peer owner = peers.get(0);
        Peer other = peers.get(1);
        for (int i = 1; i <= RELEASES; i++) {
            Peer.Entry entry = owner.enter("t1", "lock");
            other.queue("t2", "lock", 0);
            assertThat(operator.forceRelease(name, entry.token() + 1)).isFalse();
            assertThat(inspected(name).holders()).extracting(Holder::token).containsExactly(entry.token());
            assertThat(owner.count("LOST lock")).isEqualTo(i - 1);

            long begun = System.nanoTime();
            assertThat(operator.forceRelease(name, entry.token())).isTrue();
            int losses = i;
            await("onLost")
                    .atMost(ANSWER)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> owner.count("LOST lock") == losses);
            long told = System.nanoTime();
            if (i > 1) {
                // In the first round both JVMs load classes.
                rig.assertTook("from the operator's call to onLost of another JVM", TOLD, begun, told);
            }
            other.awaitEntry("t2").assertTokenAfter(entry);
            owner.tell("t1", "leave-lock");
            owner.assertLost("t1", "leave-lock");
            other.exit("t2", "lock");
        }
        rig.leave();
    }

    @Test
    void aCycleOverThreeJvmsIsFound() {
        List<String> names = List.of(rig.name("a"), rig.name("b"), rig.name("c"));
        List<Peer> peers = rig.start(3, new LockSubject(), rig.name("none"), LEASE, "plain");
        for (int i = 0; i < 3; i++) {
            peers.get(i).ask("t" + i, "take " + names.get(i), "TOOK");
        }
        assertThat(operator.deadlocks()).isEmpty();
        for (int i = 0; i < 3; i++) {
            peers.get(i).tell("t" + i, "take " + names.get((i + 1) % 3));
        }
        long begun = System.nanoTime();
        await("the cycle").atMost(ANSWER).until(() -> operator.deadlocks().size() == 1);
        rig.assertTook("until the cycle is found", FOUND, begun, System.nanoTime());
        List<Step> steps = operator.deadlocks().get(0).steps();
        assertThat(steps).extracting(Step::thread).containsExactly("t0", "t1", "t2");
        assertThat(steps).extracting(Step::holds).containsExactlyElementsOf(names);
        assertThat(steps)
                .extracting(Step::session)
                .containsExactlyElementsOf(peers.stream().map(Peer::sessionId).toList());

        Step victim = steps.get(2);
        assertThat(operator.forceRelease(victim.holds(), victim.token())).isTrue();
        peers.get(1).hear("t1", "TOOK " + names.get(2));
        assertThat(operator.deadlocks()).isEmpty();
        for (String name : List.of(names.get(2), names.get(1))) {
            peers.get(1).ask("t1", "drop " + name, "DROPPED");
        }
        peers.get(0).hear("t0", "TOOK " + names.get(1));
        for (String name : List.of(names.get(1), names.get(0))) {
            peers.get(0).ask("t0", "drop " + name, "DROPPED");
        }
        peers.get(2).hear("t2", "TOOK " + names.get(0));
        peers.get(2).ask("t2", "drop " + names.get(0), "DROPPED");
        rig.leave();
    }

    /** Threads that take locks in one order wait for each other all the time, but never in a circle. */
    @Test
    @Tag("soak")
    void nothingIsFoundInTrafficInOrder() throws InterruptedException {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            names.add(rig.name("traffic-" + i));
        }
        AtomicBoolean ends = new AtomicBoolean();
        List<Thread> travellers = new ArrayList<>();
        for (int i = 0; i < TRAVELLERS; i++) {
            Thread traveller = new Thread(() -> travel(names, ends), "traveller-" + i);
            traveller.start();
            travellers.add(traveller);
        }
        long seconds = Math.max(LEAST_TRAFFIC_SECONDS, Long.getLong("interlock.soak.seconds", LEAST_TRAFFIC_SECONDS));
        long start = System.nanoTime();
        int looks = 0;
        try {
            while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(seconds)) {
                assertThat(operator.deadlocks()).isEmpty();
                looks++;
            }
        } finally {
            ends.set(true);
            for (Thread traveller : travellers) {
                traveller.join();
            }
        }
        rig.report(looks + " looks in " + seconds + " s, no deadlock");
    }

    private void travel(List<String> names, AtomicBoolean ends) {
        try (Interlock own = Interlock.connect(rig.url())) {
            while (!ends.get()) {
                int first = ThreadLocalRandom.current().nextInt(NAMES - 1);
                int second = ThreadLocalRandom.current().nextInt(first + 1, NAMES);
                own.lock(names.get(first)).lock();
                own.lock(names.get(second)).lock();
                own.lock(names.get(second)).unlock();
                own.lock(names.get(first)).unlock();
            }
        }
    }
}
