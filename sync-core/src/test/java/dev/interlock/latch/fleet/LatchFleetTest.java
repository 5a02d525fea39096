package dev.interlock.latch.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.latch.fleet.LatchPeer.Passed;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

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

    /** A session that is silent for longer has to be asked again. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(3);

    private final TestReporter reporter;
    private final RedisServer server = RedisServer.provided();
    private final String name = "fleet-" + UUID.randomUUID();
    private final String key = "interlock:{" + name + "}:latch";
    private final List<LatchPeer> peers = new ArrayList<>();

    LatchFleetTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @AfterEach
    void close() {
        peers.forEach(LatchPeer::close);
    }

    private List<LatchPeer> start(int count, String url, int latchCount) {
        List<LatchPeer> started = LatchPeer.start(count, url, name, latchCount);
        peers.addAll(started);
        return started;
    }

    private void leave() {
        peers.forEach(LatchPeer::leave);
        assertThat(server.keys("*" + name + "*"))
                .allSatisfy(left -> assertThat(String.valueOf(server.command("PTTL", left)))
                        .as(left)
                        .isNotEqualTo("-1"));
    }

    private void awaitWaiting(int sessions) {
        await("waiting sessions")
                .atMost(LatchPeer.ANSWER)
                .until(() -> server.command("ZCARD", "interlock:waiters:" + key) instanceof Long waiting
                        && waiting == sessions);
    }

    private void report(String what, long nanos) {
        reporter.publishEntry(what + ": " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms");
    }

    /** What the issue asks for: many wait, some count, and the network repeats what they say. */
    @Test
    @Tag("proof")
    void aThousandWaitersPassAfterTheLastOfAHundred() {
        try (FaultProxy proxy = FaultProxy.to(server)) {
            List<LatchPeer> waiting = start(WAITING_JVMS, server.url(), COUNT);
            List<LatchPeer> counting = start(COUNTING_JVMS, proxy.url(), COUNT);
            for (int i = 0; i < WAITING_JVMS; i++) {
                waiting.get(i).letWait(WAITERS / WAITING_JVMS + (i == 0 ? WAITERS % WAITING_JVMS : 0));
            }
            awaitWaiting(WAITING_JVMS);
            Random random = new Random(11);
            Predicate<List<String>> sometimes = words -> words.contains(key) && random.nextInt(5) == 0;
            proxy.dropReplies(sometimes, LOST_ANSWERS, Loss.CUT);
            proxy.duplicateRequests(sometimes, Duration.ofMillis(20), FaultProxy.ALWAYS);
            // One by one, so that there are as many commands as possible.
            counting.forEach(peer -> peer.letCount(COUNT / COUNTING_JVMS - 1, 1));
            counting.forEach(LatchPeer::awaitCounted);
            counting.subList(1, COUNTING_JVMS).forEach(peer -> peer.letCount(1, 1));
            counting.subList(1, COUNTING_JVMS).forEach(LatchPeer::awaitCounted);
            await("all counted").atMost(LatchPeer.ANSWER).until(() -> server.command("HGET", key, "left"), "1"::equals);
            assertThat(proxy.dropped()).as("lost answers").isPositive();
            await("duplicates").until(() -> proxy.duplicated() > 0);
            assertThat(waiting).noneMatch(LatchPeer::hasPassed);
            long last = Monotonic.nanos();
            counting.get(0).letCount(1, 1);
            int passed = 0;
            for (LatchPeer peer : waiting) {
                Passed threads = peer.awaitPassed();
                passed += threads.threads();
                assertThat(threads.firstNanos()).as("nobody passes before").isGreaterThan(last);
                report(threads.threads() + " waiters passed within", threads.lastNanos() - last);
            }
            assertThat(passed).isEqualTo(WAITERS);
            reporter.publishEntry(
                    proxy.dropped() + " answers lost, " + proxy.duplicated() + " commands executed twice");
            proxy.heal();
            assertThat(peers).allSatisfy(peer -> assertThat(peer.failures()).isEmpty());
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
        List<LatchPeer> both = start(2, server.url(), 10);
        LatchPeer dead = both.get(0);
        LatchPeer waiter = both.get(1);
        waiter.letWait(3);
        dead.letCount(9, 3);
        dead.awaitCounted();
        dead.kill();
        peers.remove(dead);
        assertThat(waiter.left()).isEqualTo(1);
        assertThat(waiter.hasPassed()).isFalse();
        waiter.letCount(1, 1);
        assertThat(waiter.awaitPassed().threads()).isEqualTo(3);
        leave();
    }

    /** A JVM that is killed while its threads wait is in nobody's way, and forgotten after some seconds. */
    @Test
    @Tag("proof")
    void aKilledWaiterIsForgotten() {
        List<LatchPeer> all = start(3, server.url(), 1);
        LatchPeer dead = all.get(0);
        LatchPeer waiter = all.get(1);
        dead.letWait(2);
        waiter.letWait(2);
        awaitWaiting(2);
        dead.kill();
        peers.remove(dead);
        long killed = Monotonic.nanos();
        awaitWaiting(1);
        report("forgotten after", Monotonic.nanos() - killed);
        assertWithin(HEARTBEAT.plus(PROMPTLY), Duration.ofNanos(Monotonic.nanos() - killed));
        long last = Monotonic.nanos();
        all.get(2).letCount(1, 1);
        Passed passed = waiter.awaitPassed();
        assertThat(passed.threads()).isEqualTo(2);
        assertWithin(PROMPTLY, Duration.ofNanos(passed.lastNanos() - last));
        leave();
    }

    /** A JVM that is stopped for longer than its heartbeat, while the latch is opened, passes as soon as it goes on. */
    @Test
    @Tag("proof")
    void aStoppedWaiterPassesWhenItGoesOn() {
        List<LatchPeer> all = start(3, server.url(), 1);
        LatchPeer stopped = all.get(0);
        LatchPeer waiter = all.get(1);
        stopped.letWait(5);
        waiter.letWait(5);
        awaitWaiting(2);
        stopped.stop();
        awaitWaiting(1);
        all.get(2).letCount(1, 1);
        assertThat(waiter.awaitPassed().threads()).isEqualTo(5);
        long resumed = Monotonic.nanos();
        stopped.cont();
        Passed passed = stopped.awaitPassed();
        report("passed after", passed.lastNanos() - resumed);
        assertThat(passed.threads()).isEqualTo(5);
        assertThat(passed.firstNanos()).isGreaterThan(resumed);
        assertWithin(PROMPTLY.plus(PROMPTLY), Duration.ofNanos(passed.lastNanos() - resumed));
        leave();
    }

    /** A JVM that is stopped in the middle of counting goes on where it was. */
    @Test
    @Tag("proof")
    void aStoppedCounterCountsOn() {
        int each = 2_000;
        List<LatchPeer> all = start(2, server.url(), 2 * each);
        LatchPeer stopped = all.get(0);
        LatchPeer other = all.get(1);
        other.letWait(2);
        stopped.letCount(each, 2);
        await("some counted").until(() -> !String.valueOf(2 * each).equals(server.command("HGET", key, "left")));
        stopped.stop();
        other.letCount(each, 2);
        other.awaitCounted();
        long left = other.left();
        assertThat(left).isBetween(1L, (long) each);
        stopped.cont();
        stopped.awaitCounted();
        assertThat(other.awaitPassed().threads()).isEqualTo(2);
        assertThat(peers).allSatisfy(peer -> assertThat(peer.failures()).isEmpty());
        leave();
    }
}
