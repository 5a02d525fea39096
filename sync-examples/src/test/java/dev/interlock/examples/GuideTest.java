package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.junit.InterlockFaults;
import dev.interlock.junit.InterlockTest;
import dev.interlock.junit.OtherSession;
import dev.interlock.micrometer.InterlockMetrics;
import dev.interlock.ops.NameView;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** The code of the guide, which shows what stands between {@code tag} and {@code end}, and that it works. */
@InterlockTest
class GuideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final StockTable stock = new StockTable();

    @Test
    void taskRunsWhileTheLockIsHeld(Interlock interlock, @OtherSession Interlock other)
            throws InterruptedException, TimeoutException {
        // tag::execute[]
        int left = interlock.execute("stock:4711", Duration.ofSeconds(30), () -> stock.take(4711));
        // end::execute[]
        assertThat(left).isEqualTo(StockTable.UNITS - 1);
        assertThat(other.lock("stock:4711").tryLock(PATIENCE)).isTrue();
    }

    @Test
    void eachSynchronizerIsObtainedByItsName(Interlock interlock) {
        // tag::synchronizers[]
        DistributedReentrantLock report = interlock.lock("report");
        DistributedReentrantLock counter = interlock.fairLock("counter");
        DistributedReadWriteLock prices = interlock.readWriteLock("prices");
        DistributedSemaphore connections = interlock.semaphore("connections", 6);
        DistributedCountDownLatch parts = interlock.countDownLatch("batch:2026-11-25", 3);
        DistributedCyclicBarrier phase = interlock.cyclicBarrier("phase", 4);
        RateLimiter searches = interlock.rateLimiter("searches", RateLimit.tokenBucket(100, Duration.ofSeconds(1)));
        // end::synchronizers[]
        assertThat(report.tryLock()).isTrue();
        assertThat(counter.isFair()).isTrue();
        assertThat(prices.readLock().tryLock()).isTrue();
        assertThat(connections.availablePermits()).isEqualTo(6);
        assertThat(parts.getCount()).isEqualTo(3);
        assertThat(phase.getParties()).isEqualTo(4);
        assertThat(searches.tryAcquire(100)).isTrue();
    }

    // tag::sell[]
    private static void sell(DistributedReentrantLock lock, StockTable stock, Runnable confirmation) {
        lock.lock();
        try {
            int units = stock.units(4711);
            stock.write(4711, units - 1, lock.fencingToken()); // refused if a later holder has written meanwhile
            lock.assertHeld(); // throws if the lock is known to be lost
            confirmation.run(); // what can't be refused afterwards, such as a mail
        } finally {
            lock.unlock(); // throws LeaseLostException if the lock was lost
        }
    }
    // end::sell[]

    @Test
    void lossIsToldByUnlockAndToTheListener(Interlock interlock, InterlockFaults faults) {
        List<String> alarms = new CopyOnWriteArrayList<>();
        DistributedReentrantLock lock = interlock.lock("stock:4711");
        // tag::on-lost[]
        lock.onLost(loss -> alarms.add(loss.lockName() + " was lost, fencing token " + loss.fencingToken()));
        // end::on-lost[]
        sell(lock, stock, () -> {});
        assertThatThrownBy(() -> sell(lock, stock, () -> faults.loseLock("stock:4711")))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("'stock:4711'");
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(alarms).singleElement().asString().startsWith("stock:4711 was lost"));
        assertThat(stock.units(4711)).isEqualTo(StockTable.UNITS - 2);
    }

    @Test
    void storeRefusesTheWriteOfAHolderThatWasOvertaken(
            Interlock interlock, @OtherSession Interlock other, InterlockFaults faults) throws InterruptedException {
        DistributedReentrantLock lock = interlock.lock("stock:4711");
        lock.lock();
        int units = stock.units(4711);
        long token = lock.fencingToken();
        faults.loseLock("stock:4711");
        assertThat(other.lock("stock:4711").tryLock(PATIENCE)).isTrue();
        other.lock("stock:4711").unlock();
        sell(other.lock("stock:4711"), stock, () -> {});
        assertThatIllegalStateException()
                .isThrownBy(() -> stock.write(4711, units - 1, token))
                .withMessageContaining("later token");
        assertThat(stock.units(4711)).isEqualTo(StockTable.UNITS - 1);
    }

    // tag::decide[]
    private static int statusOfSearch(RateLimiter searches, String user, Map<String, String> headers) {
        Decision decision = searches.forKey(user).decide(1);
        if (decision.allowed()) {
            return 200;
        }
        headers.put("Retry-After", Long.toString(decision.retryAfter().toSeconds() + 1));
        return 429;
    }
    // end::decide[]

    @Test
    void fleetSharesALimitPerUser(Interlock interlock, @OtherSession Interlock other) {
        // tag::limit[]
        RateLimit tenAnHour = RateLimit.tokenBucket(10, Duration.ofHours(1)).withBurst(5);
        RateLimiter searches = interlock.rateLimiter("searches", tenAnHour).whenUnavailable(OutagePolicy.ADMIT);
        // end::limit[]
        Map<String, String> headers = new HashMap<>();
        for (int i = 0; i < 5; i++) {
            assertThat(statusOfSearch(searches, "alice", headers)).isEqualTo(200);
        }
        assertThat(headers).isEmpty();
        RateLimiter elsewhere = other.rateLimiter("searches", tenAnHour);
        assertThat(statusOfSearch(elsewhere, "alice", headers)).isEqualTo(429);
        assertThat(Integer.parseInt(headers.getOrDefault("Retry-After", ""))).isBetween(1, 361);
        assertThat(statusOfSearch(elsewhere, "bob", headers)).isEqualTo(200);
    }

    // tag::operator[]
    private static List<String> holdersOfOrders(Interlock interlock) {
        List<String> lines = new ArrayList<>();
        for (NameView order : interlock.operator().find("order:*")) {
            for (NameView.Holder holder : order.holders()) {
                lines.add(order.name() + ": thread " + holder.thread() + " of " + holder.sessionName());
            }
        }
        return lines;
    }
    // end::operator[]

    @Test
    void operatorSeesHoldersOfAllSessions(Interlock interlock, @OtherSession Interlock other) {
        interlock.lock("order:42").lock();
        String expected = "order:42: thread " + Thread.currentThread().getName() + " of " + interlock.sessionName();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(holdersOfOrders(other)).containsExactly(expected));
    }

    @Test
    void metersCountHolds(Interlock interlock) {
        MeterRegistry registry = new SimpleMeterRegistry();
        // tag::metrics[]
        InterlockMetrics metrics = new InterlockMetrics(interlock, name -> name.replaceFirst(":.*", ""), Tags.empty());
        metrics.bindTo(registry);
        // end::metrics[]
        interlock.lock("order:42").lock();
        interlock.lock("order:42").unlock();
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(registry.get("interlock.lock.hold")
                                .tag("name", "order")
                                .functionTimer()
                                .count())
                        .isEqualTo(1));
        metrics.close();
    }

    // tag::test[]
    @Test
    void aLostLockIsNoticed(Interlock mine, @OtherSession Interlock other, InterlockFaults faults)
            throws InterruptedException {
        DistributedReentrantLock lock = mine.lock("order:42");
        lock.lock();
        faults.loseLock("order:42");
        assertThat(other.lock("order:42").tryLock(Duration.ofSeconds(30))).isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }
    // end::test[]

    // tag::outcomes[]
    private static String attempt(DistributedReentrantLock lock, Duration wait) throws InterruptedException {
        try {
            if (!lock.tryLock(wait)) {
                return "another thread has held it for the whole wait";
            }
        } catch (RedisUnavailableException e) {
            return "Redis doesn't answer, and this thread holds nothing";
        }
        try {
            return "done";
        } finally {
            lock.unlock();
        }
    }
    // end::outcomes[]

    @Test
    void outcomesOfAnAttemptAreToldApart(Interlock interlock, @OtherSession Interlock other, InterlockFaults faults)
            throws InterruptedException {
        DistributedReentrantLock lock = interlock.lock("order:42");
        assertThat(attempt(lock, PATIENCE)).isEqualTo("done");
        assertThat(other.lock("order:42").tryLock(PATIENCE)).isTrue();
        assertThat(attempt(lock, Duration.ofSeconds(3))).startsWith("another thread");
        faults.beginOutage();
        assertThat(attempt(lock, Duration.ofSeconds(1))).startsWith("Redis doesn't answer");
    }

    @Test
    void closingWaitsForThreadsAndRefusesNewOnes(Interlock interlock) throws InterruptedException {
        // tag::shutdown[]
        Thread closing = new Thread(() -> interlock.close(Duration.ofSeconds(10)));
        Runtime.getRuntime().addShutdownHook(closing);
        // end::shutdown[]
        assertThat(Runtime.getRuntime().removeShutdownHook(closing)).isTrue();
        closing.start();
        closing.join(TimeUnit.MINUTES.toMillis(1));
        assertThatIllegalStateException().isThrownBy(() -> interlock.lock("order:42"));
    }
}
