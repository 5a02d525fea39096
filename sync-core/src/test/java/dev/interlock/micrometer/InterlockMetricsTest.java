package dev.interlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.election.Candidate;
import dev.interlock.election.TermListener;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a registry shows of a session. */
class InterlockMetricsTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration LONG = Duration.ofMillis(60);

    private MeterRegistry registry = new SimpleMeterRegistry();

    @BeforeEach
    void forgetMeters() {
        registry = new SimpleMeterRegistry();
    }

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|:rate$|semaphore";
    }

    private InterlockMetrics bound(Interlock session) {
        InterlockMetrics metrics = new InterlockMetrics(session);
        metrics.bindTo(registry);
        return metrics;
    }

    private double gauge(String name) {
        return registry.get(name).gauge().value();
    }

    private long waits(String kind, String outcome, String source) {
        return registry.get("interlock.lock.wait")
                .tags("name", NAME, "kind", kind, "outcome", outcome, "source", source)
                .timer()
                .count();
    }

    private FunctionTimer holds(String name) {
        return registry.get("interlock.lock.hold").tag("name", name).functionTimer();
    }

    private Set<String> names() {
        return registry.getMeters().stream()
                .map(meter -> meter.getId().getTag("name"))
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
    }

    @Test
    void waitsAndHoldsAreTimed() {
        Interlock session = session();
        InterlockMetrics metrics = bound(session);
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor actor = actor("actor");
        other.lock();
        CompletableFuture<Boolean> entered = queue(actor, lock);
        assertThat(gauge("interlock.lock.waiting")).isEqualTo(1);
        assertThat(gauge("interlock.lock.active")).isZero();
        await("a while").during(LONG).until(() -> true);
        other.unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(gauge("interlock.lock.waiting")).isZero();
        assertThat(gauge("interlock.lock.active")).isEqualTo(1);
        await("a while").during(LONG).until(() -> true);
        actor.run(lock::unlock);
        assertThat(gauge("interlock.lock.active")).isZero();
        assertThat(waits("lock", "acquired", "redis")).isEqualTo(1);
        assertThat(registry.get("interlock.lock.wait").timer().totalTime(TimeUnit.MILLISECONDS))
                .isBetween((double) LONG.toMillis(), (double) PATIENCE.toMillis());
        assertThat(holds(NAME).count()).isEqualTo(1);
        assertThat(holds(NAME).totalTime(TimeUnit.MILLISECONDS))
                .isBetween((double) LONG.toMillis(), (double) PATIENCE.toMillis());
        metrics.close();
    }

    @Test
    void attemptsThatFailHaveTheirOutcome() {
        Interlock session = session();
        bound(session);
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor late = actor("late");
        Actor interrupted = actor("interrupted");
        other.lock();
        assertThat(late.get(() -> lock.tryLock(LONG.toMillis(), TimeUnit.MILLISECONDS)))
                .isFalse();
        CompletableFuture<Boolean> entered = interrupted.begin(lock::lockInterruptibly);
        awaitTickets(NAME, 1);
        interrupted.interrupt();
        assertThat(entered).failsWithin(PATIENCE);
        other.unlock();
        assertThat(waits("lock", "timeout", "redis")).isEqualTo(1);
        assertThat(waits("lock", "interrupted", "redis")).isEqualTo(1);
        assertThat(gauge("interlock.lock.waiting")).isZero();
        assertThat(registry.find("interlock.lock.hold").meters()).isEmpty();
    }

    @Test
    void aThreadThatWaitsWhileTheMetersAreBoundAnewIsCountedToItsEnd() {
        Interlock session = session();
        InterlockMetrics metrics = bound(session);
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor actor = actor("actor");
        other.lock();
        CompletableFuture<Boolean> entered = queue(actor, lock);
        metrics.close();
        metrics.bindTo(registry);
        assertThat(gauge("interlock.lock.waiting")).isEqualTo(1);
        other.unlock();
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(gauge("interlock.lock.waiting")).isZero();
        actor.run(lock::unlock);
    }

    @Test
    void aLossIsCounted() {
        Interlock session = session();
        bound(session);
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        server().command("DEL", NAME);
        lock.unlock();
        await("lost").until(() -> registry.find("interlock.lock.lost").counter() != null);
        assertThat(registry.get("interlock.lock.lost")
                        .tag("name", NAME)
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void anOutageIsSeenWhenItBeginsAndWhenItEnds() {
        // A ping has to time out.
        Interlock session = impatient();
        bound(session);
        assertThat(gauge("interlock.redis.available")).isEqualTo(1);
        proxy().stall();
        assertThatThrownBy(session::ping).isInstanceOf(RedisUnavailableException.class);
        await("unavailable").until(() -> gauge("interlock.redis.available") == 0);
        proxy().heal();
        await("available").ignoreExceptions().until(() -> {
            session.ping();
            return gauge("interlock.redis.available") == 1;
        });
    }

    @Test
    void decisionsAreCountedByTheirOutcome() {
        // The request that Redis doesn't answer has to time out.
        Interlock session = impatient();
        bound(session);
        RateLimiter limiter = session.rateLimiter("limit", RateLimit.fixedWindow(2, Duration.ofHours(1)));
        assertThat(limiter.tryAcquire()).isTrue();
        assertThat(limiter.tryAcquire()).isTrue();
        assertThat(limiter.tryAcquire()).isFalse();
        proxy().stall();
        assertThat(limiter.whenUnavailable(OutagePolicy.ADMIT).tryAcquire()).isTrue();
        proxy().heal();
        assertThat(decisions("granted")).isEqualTo(2);
        assertThat(decisions("refused")).isEqualTo(1);
        assertThat(decisions("admitted_without_redis")).isEqualTo(1);
    }

    private double decisions(String outcome) {
        return registry.get("interlock.ratelimit.decisions")
                .tags("name", "limit", "outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void aScrapeShowsTheCountOfWaits() {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Interlock session = session();
        new InterlockMetrics(session, name -> name, Tags.of("session", "orders")).bindTo(prometheus);
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        lock.unlock();
        assertThat(prometheus.scrape())
                .contains("interlock_lock_wait_seconds_count{kind=\"lock\",name=\"stock\",outcome=\"acquired\","
                        + "session=\"orders\",source=\"redis\"} 1")
                .contains("interlock_lock_hold_seconds_count{name=\"stock\",session=\"orders\"} 1")
                .contains("interlock_lock_hold_seconds_sum{")
                .contains("interlock_lock_waiting{session=\"orders\"} 0")
                .contains("interlock_lock_active{session=\"orders\"} 0")
                .contains("interlock_redis_available{session=\"orders\"} 1");
    }

    /** Told without locks, since as many would take long: names are what counts here. */
    @Test
    void tenThousandNamesHaveAHundredAndOneValues() {
        SyncListener metrics = bound(session());
        int all = 10_000;
        for (int i = 0; i < all; i++) {
            String name = "order-" + i;
            metrics.waiting(name, "lock");
            metrics.waited(name, "lock", Outcome.ACQUIRED, true, 1);

            metrics.held(name, 1, 1);
            metrics.decided(name, 1, true);
        }
        assertThat(names()).hasSize(InterlockMetrics.MOST_NAMES + 1).contains("order-0", "order-99", "other");
        assertThat(holds("order-0").count()).isEqualTo(1);
        assertThat(holds("other").count()).isEqualTo(all - InterlockMetrics.MOST_NAMES);
    }

    @Test
    void aFunctionMakesTheTagOfAName() {
        Interlock session = session();
        InterlockMetrics metrics =
                new InterlockMetrics(session, name -> name.substring(0, name.indexOf(':')), Tags.empty());
        metrics.bindTo(registry);
        for (String name : new String[] {"order:1", "order:2", "user:1"}) {
            DistributedReentrantLock lock = lock(session, name);
            lock.lock();
            lock.unlock();
        }
        assertThat(names()).containsExactlyInAnyOrder("order", "user");
        assertThat(holds("order").count()).isEqualTo(2);
    }

    @Test
    void metricsThatAreClosedLeaveNothing() {
        Interlock session = session();
        InterlockMetrics metrics = bound(session);
        assertThatIllegalStateException().isThrownBy(() -> metrics.bindTo(registry));
        DistributedReentrantLock lock = lock(session, NAME);
        lock.lock();
        metrics.close();
        lock.unlock();
        lock.lock();
        lock.unlock();
        assertThat(registry.getMeters()).extracting(Meter::getId).isEmpty();
        metrics.close();
        metrics.bindTo(registry);
        lock.lock();
        assertThat(gauge("interlock.lock.active")).isEqualTo(1);
        lock.unlock();
        assertThat(gauge("interlock.lock.active")).isZero();
        metrics.close();
    }

    @Test
    void termsAreShownAlsoThoseThatHaveBegunBefore() {
        Interlock session = session();
        Candidate early = session.election("early").stand(new TermListener() {});
        await("leads").until(early::isLeader);
        InterlockMetrics metrics = bound(session);
        Candidate late = session.election("late").stand(new TermListener() {});
        await("shown").until(() -> leaders("early") == 1 && leaders("late") == 1);
        early.resign();
        await("counted").until(() -> ended("early", "resigned") == 1);
        await("leads again").until(() -> leaders("early") == 1);
        early.close();
        await("shown").until(() -> leaders("early") == 0);
        assertThat(leaders("late")).isEqualTo(1);
        late.close();
        await("counted").until(() -> ended("early", "closed") == 1 && ended("late", "closed") == 1);
        assertThat(leaders("late")).isZero();
        metrics.close();
        assertThat(registry.getMeters()).isEmpty();
    }

    private double leaders(String election) {
        Gauge gauge =
                registry.find("interlock.election.leader").tag("name", election).gauge();
        return gauge == null ? -1 : gauge.value();
    }

    private double ended(String election, String outcome) {
        Counter counter = registry.find("interlock.election.terms")
                .tags("name", election, "outcome", outcome)
                .counter();
        return counter == null ? 0 : counter.count();
    }

    @Test
    void eachLostPermitCounts() throws InterruptedException {
        Interlock session = session();
        bound(session);
        session.semaphore("pool", 9).acquire(4);
        session.close();
        await("lost").until(() -> registry.find("interlock.lock.lost").counter() != null);
        assertThat(registry.get("interlock.lock.lost")
                        .tag("name", "pool")
                        .counter()
                        .count())
                .isEqualTo(4);
    }
}
