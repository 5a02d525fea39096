package dev.interlock.latch.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static dev.interlock.testing.rig.Peer.ANSWER;
import static dev.interlock.testing.rig.Rig.HEARTBEAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Latches between JVMs, some of which die or stop. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class LatchFleetTest {

    private static final int WAITING_JVMS = 3;
    private static final int COUNTING_JVMS = 4;
    private static final int WAITERS = 1_000;
    private static final int COUNT = 100;

    /** Each costs its session a second or two. */
    private static final int LOST_ANSWERS = 8;

    /** A pulse, and some: there is no lease that anybody would have to wait for. */
    private static final Duration PROMPTLY = Duration.ofSeconds(2);

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final RedisServer server = RedisServer.provided();

    @RegisterExtension
    final Rig rig = Rig.ofLasting(server);

    private final String name = rig.name("fleet");
    private final String key = LatchSubject.key(name);

    private List<Peer> start(int count, String url, int latchCount) {
        return rig.start(url, count, new LatchSubject(), name, LEASE, latchCount);
    }

    private void leave() {
        rig.leave();
        assertThat(server.keys("*" + name + "*"))
                .allSatisfy(left -> assertThat(String.valueOf(server.command("PTTL", left)))
                        .as(left)
                        .isNotEqualTo("-1"));
    }

    /** Has threads wait, and returns when they are about to. */
    private static void letWait(Peer peer, int threads) {
        peer.ask("waiters", "wait " + threads, "WAITING");
    }

    /** How many threads of a peer have passed, and when the first and the last of them did. */
    private record Passed(int threads, long firstNanos, long lastNanos) {

        /** Waits until all threads that wait have passed. */
        static Passed of(Peer peer) {
            String[] words = peer.hear("waiters", "PASSED").split(" ", -1);
            return new Passed(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
        }
    }

    private static boolean hasPassed(Peer peer) {
        return peer.count("waiters PASSED") > 0;
    }

    /** Has threads of a peer count down so often between them. */
    private static void letCount(Peer peer, int times, int threads) {
        peer.tell("counters", "count " + times + " " + threads);
    }

    private static void awaitCounted(Peer peer) {
        peer.hear("counters", "COUNTED");
    }

    private static long remaining(Peer peer) {
        return peer.number("looker", "remaining", "REMAINING");
    }

    /** What the issue asks for: many wait, some count, and the network repeats what they say. */
    @Test
    @Tag("proof")
    void aThousandWaitersPassAfterTheLastOfAHundred() {
        try (FaultProxy proxy = FaultProxy.to(server)) {
            List<Peer> waiting = start(WAITING_JVMS, server.url(), COUNT);
            List<Peer> counting = start(COUNTING_JVMS, proxy.url(), COUNT);
            for (int i = 0; i < WAITING_JVMS; i++) {
                letWait(waiting.get(i), WAITERS / WAITING_JVMS + (i == 0 ? WAITERS % WAITING_JVMS : 0));
            }
            waiting.get(0).awaitWaiting(WAITING_JVMS);
            Random random = new Random(11);
            Predicate<List<String>> sometimes = words -> words.contains(key) && random.nextInt(5) == 0;
            proxy.dropReplies(sometimes, LOST_ANSWERS, Loss.CUT);
            proxy.duplicateRequests(sometimes, Duration.ofMillis(20), FaultProxy.ALWAYS);
            // One by one, so that there are as many commands as possible.
            counting.forEach(peer -> letCount(peer, COUNT / COUNTING_JVMS - 1, 1));
            counting.forEach(LatchFleetTest::awaitCounted);
            counting.subList(1, COUNTING_JVMS).forEach(peer -> letCount(peer, 1, 1));
            counting.subList(1, COUNTING_JVMS).forEach(LatchFleetTest::awaitCounted);
            await("all counted").atMost(ANSWER).until(() -> server.command("HGET", key, "left"), "1"::equals);
            assertThat(proxy.dropped()).as("lost answers").isPositive();
            await("duplicates").until(() -> proxy.duplicated() > 0);
            assertThat(waiting).noneMatch(LatchFleetTest::hasPassed);
            long last = Monotonic.nanos();
            letCount(counting.get(0), 1, 1);
            int passed = 0;
            for (Peer peer : waiting) {
                Passed threads = Passed.of(peer);
                passed += threads.threads();
                assertThat(threads.firstNanos()).as("nobody passes before").isGreaterThan(last);
                rig.report(threads.threads() + " waiters passed within", last, threads.lastNanos());
            }
            assertThat(passed).isEqualTo(WAITERS);
            rig.report(proxy.dropped() + " answers lost, " + proxy.duplicated() + " commands executed twice");
            proxy.heal();
            leave();
        }
    }

    @Test
    void latecomersPassAtOnce() throws InterruptedException {
        latecomersPassAfter(Duration.ofSeconds(4));
    }

    @Test
    @Tag("proof")
    void latecomersPassAtOnceAMinuteLater() throws InterruptedException {
        latecomersPassAfter(Duration.ofMinutes(1));
    }

    private void latecomersPassAfter(Duration later) throws InterruptedException {
        try (Interlock interlock = Interlock.connect(server.url());
                Interlock latecomer = Interlock.connect(server.url())) {
            DistributedCountDownLatch latch = interlock.countDownLatch(name, 2);
            latch.countDown();
            latch.countDown();
            long opened = Monotonic.nanos();
            await("later")
                    .atMost(later.plusSeconds(10))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> Monotonic.nanos() - opened > later.toNanos());
            long start = Monotonic.nanos();
            DistributedCountDownLatch late = latecomer.countDownLatch(name, 2);
            late.await();
            late.countDown();
            assertThat(late.await(0, TimeUnit.SECONDS)).isTrue();
            assertThat(late.getCount()).isZero();
            assertWithin(Duration.ofSeconds(1), Duration.ofNanos(Monotonic.nanos() - start));
        }
    }

    /** What a JVM has counted stays counted when it is killed. */
    @Test
    void aKilledCounterHasCounted() {
        List<Peer> both = start(2, server.url(), 10);
        Peer dead = both.get(0);
        Peer waiter = both.get(1);
        letWait(waiter, 3);
        letCount(dead, 9, 3);
        awaitCounted(dead);
        dead.kill();
        assertThat(remaining(waiter)).isEqualTo(1);
        assertThat(hasPassed(waiter)).isFalse();
        letCount(waiter, 1, 1);
        assertThat(Passed.of(waiter).threads()).isEqualTo(3);
        leave();
    }

    /** Starts a JVM that can open the latch, and two others in each of which so many threads wait for that. */
    private List<Peer> startWaiting(int threads) {
        List<Peer> peers = start(3, server.url(), 1);
        letWait(peers.get(1), threads);
        letWait(peers.get(2), threads);
        peers.get(0).awaitWaiting(2);
        return peers;
    }

    /** A JVM that is killed while its threads wait is in nobody's way, and forgotten after some seconds. */
    @Test
    @Tag("proof")
    void aKilledWaiterIsForgotten() {
        List<Peer> all = startWaiting(2);
        Peer counter = all.get(0);
        all.get(1).kill();
        long killed = Monotonic.nanos();
        counter.awaitWaiting(1);
        rig.assertTook("forgotten after", HEARTBEAT.plus(PROMPTLY), killed, Monotonic.nanos());
        long last = Monotonic.nanos();
        letCount(counter, 1, 1);
        Passed passed = Passed.of(all.get(2));
        assertThat(passed.threads()).isEqualTo(2);
        rig.assertTook("the others passed after", PROMPTLY, last, passed.lastNanos());
        leave();
    }

    /** A JVM that is stopped for longer than its heartbeat, while the latch is opened, passes as soon as it goes on. */
    @Test
    @Tag("proof")
    void aStoppedWaiterPassesWhenItGoesOn() {
        List<Peer> all = startWaiting(5);
        Peer counter = all.get(0);
        Peer stopped = all.get(1);
        stopped.stop();
        counter.awaitWaiting(1);
        letCount(counter, 1, 1);
        assertThat(Passed.of(all.get(2)).threads()).isEqualTo(5);
        long resumed = Monotonic.nanos();
        stopped.cont();
        Passed passed = Passed.of(stopped);
        assertThat(passed.threads()).isEqualTo(5);
        assertThat(passed.firstNanos()).isGreaterThan(resumed);
        rig.assertTook("passed after", PROMPTLY.plus(PROMPTLY), resumed, passed.lastNanos());
        leave();
    }

    /** A JVM that is stopped in the middle of counting goes on where it was. */
    @Test
    @Tag("proof")
    void aStoppedCounterCountsOn() {
        int each = 2_000;
        List<Peer> all = start(2, server.url(), 2 * each);
        Peer stopped = all.get(0);
        Peer other = all.get(1);
        letWait(other, 2);
        letCount(stopped, each, 2);
        await("some counted").until(() -> !String.valueOf(2 * each).equals(server.command("HGET", key, "left")));
        stopped.stop();
        letCount(other, each, 2);
        awaitCounted(other);
        long left = remaining(other);
        assertThat(left).isBetween(1L, (long) each);
        stopped.cont();
        awaitCounted(stopped);
        assertThat(Passed.of(other).threads()).isEqualTo(2);
        leave();
    }
}
