package dev.interlock.benchmarks.play;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.interlock.benchmarks.contestants.Contestant;
import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.CounterFile;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.benchmarks.play.Contest.BrokenExclusionException;
import dev.interlock.benchmarks.play.Contest.BrokenOrderException;
import dev.interlock.benchmarks.play.Meter.Reading;
import dev.interlock.benchmarks.play.Site.Round;
import dev.interlock.benchmarks.play.Site.Tally;
import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Cost;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.benchmarks.report.Measurement.Shares;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.benchmarks.scenarios.Scenario.Setting;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ContestTest {

    private static final Pace SHORT = new Pace(Duration.ofMillis(100), 1, 3);
    private static final Pace UNTIL_FOUND = new Pace(Duration.ofMillis(100), 1, 50);

    private static final Addresses NOWHERE = Addresses.ofRedis("redis://127.0.0.1:1");

    private final List<String> progress = new ArrayList<>();

    @Test
    void everyPeerGetsAScore() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario = scenario(Setting.of(1, 2), Measure.SECTIONS, "Mine", "This", "That");
            List<Measurement> played = new Contest(scenario, crew, progress::add).play(SHORT);
            assertThat(played).extracting(Measurement::contestant).containsExactly("Mine", "This", "That");
            assertThat(played)
                    .allSatisfy(one -> assertThat(one.perSecond()).hasSize(3).allMatch(perSecond -> perSecond > 0));
            assertThat(progress).hasSize(4);
            assertThat(progress.get(3)).matches("s +round 3/3 +Mine [\\d,]+/s  That [\\d,]+/s  This [\\d,]+/s");
        }
    }

    @Test
    void lockThatExcludesNobodyIsFound() {
        assertFound(Contestant.locking(url -> url, (client, name) -> new NoLock(), client -> {}));
    }

    private void assertFound(Contestant broken) {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> name.equals("Broken") ? broken : jdk())) {
            var contest = new Contest(scenario(1, "ReentrantLock", "Broken"), crew, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageContaining("MUTUAL EXCLUSION BROKEN in s by Broken");
        }
    }

    @Test
    void lockThatExcludesOnlyItsOwnJvmIsFound() {
        try (var ensemble = Troupe.once(2, NOWHERE)) {
            var contest = new Contest(scenario(2, "ReentrantLock", "ReentrantLock"), ensemble, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageContaining("MUTUAL EXCLUSION BROKEN in s by ReentrantLock");
        }
    }

    @Test
    void oneOfManyLocksThatExcludesNobodyIsFound() {
        assertFound(Contestant.working(
                url -> url,
                (client, name) -> ledger -> {
                    ledger.book(ledger.draw(2));
                    return true;
                },
                client -> {}));
    }

    @Test
    @Tag("proof")
    void manySessionsLockManyNames() {
        Addresses redis = Addresses.ofRedis(RedisServer.provided().url());
        try (var crew = new Crew(redis, Ledger.page(), Contestants::named)) {
            var scenario = scenario(
                    Setting.of(1, 6),
                    Measure.UNTIMED_SECTIONS,
                    "Interlock-3s-2n",
                    "Interlock-fair-3s-2n",
                    "RLock-3s-2n",
                    "RFairLock-3s-2n");
            var pace = new Pace(Duration.ofMillis(500), 1, 3);
            assertThat(new Contest(scenario, crew, progress::add).play(pace))
                    .allSatisfy(one -> assertThat(one.perSecond()).anyMatch(rate -> rate > 0))
                    .extracting(Measurement::contestant)
                    .containsExactly("Interlock", "Interlock-fair", "RLock", "RFairLock");
            assertThat(crew.sum()).isPositive();
        }
    }

    /** The round ends, and what it tells is that nothing was done. */
    @Test
    void lockThatNobodyGetsHasARateOfZero() {
        Contestant stuck = Contestant.working(
                url -> url,
                (client, name) -> ledger -> {
                    LockSupport.parkNanos(ledger.leftNanos());
                    return false;
                },
                client -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> name.equals("Stuck") ? stuck : jdk())) {
            var scenario = scenario(Setting.of(1, 2), Measure.UNTIMED_SECTIONS, "Mine", "Stuck");
            assertThat(new Contest(scenario, crew, progress::add).play(SHORT).get(1))
                    .satisfies(one -> assertThat(one.perSecond()).containsExactly(0.0, 0.0, 0.0))
                    .satisfies(one -> assertThat(one.shares()).isNull());
        }
    }

    @Test
    void readersBesideAWriterAreFound() {
        // Whichever is seen first.
        assertBroken(
                new HalfLock(new NoLock(), new ReentrantLock()),
                "\\d+ (readers saw what a writer had half done|sections were shared with a writer, or with too many)");
    }

    @Test
    void writersBesideEachOtherAreFound() {
        assertBroken(new HalfLock(new NoLock(), new NoLock()), ".*");
    }

    private void assertBroken(ReadWriteLock broken, String evidence) {
        Contestant open = Contestant.sharing(url -> broken, (lock, name) -> lock, lock -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> name.equals("Broken") ? open : jdk())) {
            var contest = new Contest(sharing(1, "ReentrantLock", "Broken"), crew, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageMatching("MUTUAL EXCLUSION BROKEN in s by Broken: " + evidence);
        }
    }

    @Test
    void readWriteLockThatExcludesOnlyItsOwnJvmIsFound() {
        try (var ensemble = Troupe.once(2, NOWHERE)) {
            String name = "ReentrantReadWriteLock";
            var contest = new Contest(sharing(2, name, name), ensemble, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageContaining("MUTUAL EXCLUSION BROKEN in s by " + name);
        }
    }

    @Test
    @Tag("proof")
    void lockThatLetsAJvmOvertakeIsFound() {
        try (var ensemble =
                Troupe.once(2, Addresses.ofRedis(RedisServer.provided().url()))) {
            var scenario = scenario(Setting.of(2, 1), Measure.HAND_OFFS, "RLock", "RFairLock");
            var contest = new Contest(scenario, ensemble, progress::add);
            assertThatThrownBy(() -> contest.play(SHORT))
                    .isInstanceOf(BrokenOrderException.class)
                    .hasMessageContaining("NO STRICT ALTERNATION in s by RLock");
        }
    }

    /** Through conditions each waits for the other one; messages only go back and forth. */
    @Test
    @Tag("proof")
    void twoJvmsTakeTurnsAlternately() {
        try (var ensemble =
                Troupe.once(2, Addresses.ofRedis(RedisServer.provided().url()))) {
            ensemble.open("Interlock-conditions");
            ensemble.open("pubsub-echo");
            long booked = 0;
            for (int i = 0; i < 2; i++) {
                Tally turns = play(ensemble, "Interlock-conditions");
                assertThat(turns.booked()).isPositive();
                assertThat(turns.repeats()).isZero();
                assertThat(turns.handOffsPerSecond()).isEqualTo(turns.perSecond(), within(1e-6));
                booked += turns.booked();
                Tally messages = play(ensemble, "pubsub-echo");
                assertThat(messages.perSecond()).isPositive();
                assertThat(messages.booked()).isZero();
            }
            assertThat(ensemble.sum()).isEqualTo(booked);
        }
    }

    private static Tally play(Ensemble ensemble, String contestant) {
        long start = Monotonic.nanos();
        return ensemble.play(
                new Round(contestant, contestant, 1, 100, 0, Timing.NOTHING, 0, 0, start, start + 1_000_000_000, null));
    }

    /** In a quick run the children of one scenario play the next one, too, or some of them do. */
    @Test
    @Tag("proof")
    void childrenPlayOneScenarioAfterTheOther() {
        Addresses redis = Addresses.ofRedis(RedisServer.provided().url());
        try (var troupe = Troupe.start(2)) {
            for (int jvms : new int[] {2, 1, 2}) {
                try (var ensemble = troupe.ensemble(jvms, redis)) {
                    var scenario = scenario(Setting.of(jvms, 2), Measure.SECTIONS, "Interlock", "SETNX");
                    assertThat(new Contest(scenario, ensemble, progress::add).play(SHORT))
                            .allSatisfy(one -> assertThat(one.median()).isPositive());
                    assertThat(ensemble.sum()).isPositive();
                }
            }
        }
    }

    @Test
    void waitsAreReportedBesideTheThroughput() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario = scenario(Setting.of(1, 2), Measure.SECTIONS_AND_WAITS, "Mine", "This");
            Score score = Score.of(new Contest(scenario, crew, progress::add).play(SHORT))
                    .get(0);
            assertThat(score.waitLine())
                    .hasValueSatisfying(line -> assertThat(line)
                            .matches("WAIT s ours p50=\\S+us p99.9=\\S+us max=\\S+us"
                                    + " This p50=\\S+us p99.9=\\S+us max=\\S+us"));
            assertThat(requireNonNull(score.ours().latency()).maxMicros()).isPositive();
        }
    }

    /**
     * Of two threads one comes once and the other nine times: of ten sections, five would have been an equal share
     * each.
     */
    @Test
    void sharesAreThoseOfTheThreads() {
        var recording = new Recording();
        recording.add(10, new Tally(10, 0, 10, 1, 9, 10, 0, 0, Ledger.noTimes()), 2, new Reading(40, 500));
        recording.add(10, new Tally(10, 0, 20, 2, 18, 20, 0, 0, Ledger.noTimes()), 2, new Reading(80, 1_000));
        Measurement one = recording.measurement(scenario(Setting.of(1, 2), Measure.SECTIONS, "Mine"), "Mine");
        assertThat(one.shares()).isEqualTo(new Shares(0.2, 1.8, null));
        assertThat(one.cost()).isEqualTo(new Cost(4, 50));
        assertThat(one.latency()).isNull();
    }

    @Test
    void percentilesAreThoseOfWhatWasTimed() {
        Histogram times = Ledger.noTimes();
        for (int micros = 1; micros <= 1_000; micros++) {
            times.recordValue(micros * 1_000L);
        }
        var recording = new Recording();
        recording.addTimes(new Tally(0, 0, 1_000, 1_000, 1_000, 0, 0, 0, times));
        Measurement one = recording.measurement(scenario(Setting.of(1, 2), Measure.SECTIONS, "Mine"), "Mine");
        Latency latency = requireNonNull(one.latency());
        assertThat(latency.p50Micros()).isCloseTo(500, withinPercentage(2));
        assertThat(latency.p90Micros()).isCloseTo(900, withinPercentage(2));
        assertThat(latency.p99Micros()).isCloseTo(990, withinPercentage(2));
        assertThat(latency.maxMicros()).isCloseTo(1_000, withinPercentage(2));
    }

    /** A section of 300 µs is worked, so that four threads can't do more than 3,333 of them in a second. */
    @Test
    void threadsStayInTheirSections() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario = scenario(Setting.of(1, 4).staying(300), Measure.SECTIONS, "Mine");
            Measurement one =
                    new Contest(scenario, crew, progress::add).play(SHORT).get(0);
            assertThat(one.median()).isBetween(1.0, 3_400.0);
            assertThat(requireNonNull(one.shares()).longestWaitMicros()).isGreaterThan(300);
        }
    }

    /** The number in the file is as large as the accounts after every round, those of all contestants added up. */
    @Test
    void sectionsCountInAFile() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario = scenario(Setting.of(1, 4).counting(), Measure.SECTIONS_AND_WAITS, "Mine", "This");
            assertThat(new Contest(scenario, crew, progress::add).play(SHORT)).allSatisfy(one -> {
                assertThat(one.median()).isPositive();
                assertThat(requireNonNull(one.latency()).maxMicros()).isPositive();
            });
        }
    }

    /** A number that misses a section fails the round, even if the sum in memory is right. */
    @Test
    void sectionMissingInTheFileIsFound() {
        var site = new LossySite();
        var contest = new Contest(scenario(Setting.of(1, 1).counting(), Measure.SECTIONS, "Mine"), site, progress::add);
        assertThatThrownBy(() -> contest.play(SHORT))
                .isInstanceOf(BrokenExclusionException.class)
                .hasMessageContaining("3 critical sections, but the number in their file is 2");
        assertThat(requireNonNull(site.counter)).doesNotExist();
    }

    /** A thread that thinks for 1 ms between two sections can't enter more than 1,000 in a second. */
    @Test
    void threadsThinkBetweenTheirSections() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario = scenario(Setting.of(1, 2).thinking(1_000), Measure.SECTIONS_AND_WAITS, "Mine");
            Measurement one =
                    new Contest(scenario, crew, progress::add).play(SHORT).get(0);
            assertThat(one.median()).isBetween(1.0, 2_100.0);
        }
    }

    /** Each JVM stays for 300 ms and lets the other one enter next: the time between is that of the hand-off alone. */
    @Test
    @Tag("proof")
    void handOffsAreTimedFromReleaseToEntry() {
        try (var ensemble =
                Troupe.once(2, Addresses.ofRedis(RedisServer.provided().url()))) {
            var scenario =
                    scenario(Setting.of(2, 1).staying(300_000), Measure.HAND_OFF_LATENCY, "Interlock", "pubsub-echo");
            var pace = new Pace(Duration.ofSeconds(3), 0, 1);
            assertThat(new Contest(scenario, ensemble, progress::add).play(pace))
                    .allSatisfy(one -> {
                        Latency latency = requireNonNull(one.latency());
                        assertThat(latency.p50Micros()).isBetween(20.0, 270_000.0);
                        assertThat(one.median()).isCloseTo(1e6 / latency.p50Micros(), withinPercentage(5));
                    });
        }
    }

    /** The thread that waits for a message passes it on, so that each turn is a hand-off. */
    @Test
    @Tag("proof")
    void messagesAreHandOffs() {
        try (var ensemble =
                Troupe.once(2, Addresses.ofRedis(RedisServer.provided().url()))) {
            var scenario = scenario(Setting.of(2, 1), Measure.HAND_OFFS, "Interlock-fair", "pubsub-echo");
            var pace = new Pace(Duration.ofSeconds(1), 0, 1);
            assertThat(new Contest(scenario, ensemble, progress::add).play(pace))
                    .hasSize(2)
                    .allSatisfy(one -> assertThat(one.median()).isPositive());
        }
    }

    @Test
    void commandsOfAnOperationAreCounted() {
        RedisServer server = RedisServer.provided();
        Contestant asking = Contestant.working(
                url -> server, (redis, name) -> ledger -> redis.command("SET", name, "1") != null, redis -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> asking)) {
            var scenario = scenario(Setting.of(1, 1), Measure.SECTIONS, "Mine");
            Contest contest = new Contest(scenario, crew, Meter.of(server), progress::add);
            Cost cost = requireNonNull(contest.play(SHORT).get(0).cost());
            // The fixture may greet the server on every connection.
            assertThat(cost.commandsPerOperation()).isBetween(0.9, 2.1);
            assertThat(cost.bytesPerOperation()).isBetween(30.0, 2_000.0);
        }
    }

    @Test
    void talliesPassFromJvmToJvm() {
        Histogram times = Ledger.noTimes();
        times.recordValue(1_000);
        times.recordValue(2_000_000_000);
        var sent = new Tally(1.5, 0.5, 20, 4, 9, 7, 1, 3, times);
        assertThat(Tally.parse(sent.line())).isEqualTo(sent);
        assertThat(Tally.sum(List.of(sent, sent)).times().getTotalCount()).isEqualTo(4);
        assertThat(Tally.sum(List.of(sent, sent)).torn()).isEqualTo(6);
        assertThat(Tally.sum(List.of(sent, sent)).operations()).isEqualTo(40);
        assertThat(Tally.sum(List.of(sent, sent)).fewest()).isEqualTo(4);
        assertThat(Tally.sum(List.of(sent, sent)).most()).isEqualTo(9);
    }

    @Test
    void roundsPassFromJvmToJvm() {
        var sent = new Round("Mine", "name", 4, 10, 3, Timing.WAITS, 5, 6, 7, 8, null);
        assertThat(Round.parse(sent.line())).isEqualTo(sent);
        var counting = new Round("Mine", "name", 4, 10, 3, Timing.WAITS, 5, 6, 7, 8, Path.of("a folder", "counter"));
        assertThat(Round.parse(counting.line())).isEqualTo(counting);
    }

    /** Readers aren't booked, so that the sum is that of the writers. */
    @Test
    void readersAndWritersOfOneLockAreCountedTogether() {
        Contestant sharing = Contestant.sharing(url -> new ReentrantReadWriteLock(), (lock, name) -> lock, lock -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> sharing)) {
            crew.open("Mine");
            long start = Monotonic.nanos();
            Tally tally = crew.play(
                    new Round("Mine", "name", 2, 10, 0, Timing.NOTHING, 0, 0, start, start + 500_000_000, null));
            assertThat(tally.torn()).isZero();
            assertThat(crew.sum()).isEqualTo(tally.booked()).isPositive();
            assertThat(tally.operations()).isGreaterThan(2 * tally.booked());
        }
    }

    @Test
    void failureOfAThreadFailsTheContest() {
        Contestant failing = Contestant.locking(url -> url, (client, name) -> new FailingLock(), client -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> failing)) {
            var contest = new Contest(scenario(1, "Mine", "This"), crew, progress::add);
            assertThatThrownBy(() -> contest.play(SHORT))
                    .hasMessageContaining("Mine failed")
                    .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessage("no more locks today"));
        }
    }

    private static Scenario scenario(int jvms, String ours, String peer) {
        return scenario(Setting.of(jvms, 4), Measure.SECTIONS, ours, peer);
    }

    private static Scenario sharing(int jvms, String ours, String peer) {
        return scenario(Setting.of(jvms, 4).writing(10), Measure.SECTIONS, ours, peer);
    }

    private static Scenario scenario(Setting setting, Measure measure, String ours, String... peers) {
        return new Scenario(
                "s", Family.CONTENDED, setting, measure, ours, List.of(peers), List.of(peers), SHORT, SHORT);
    }

    private static Contestant jdk() {
        return Contestant.locking(url -> new ReentrantLock(), (lock, name) -> lock, lock -> {});
    }

    private static final class NoLock extends ReentrantLock {

        private static final long serialVersionUID = 1L;

        @Override
        public void lock() {}

        @Override
        public void unlock() {}
    }

    /** Books three sections, and adds two of them to the number in the file. */
    private static final class LossySite implements Site {

        private @Nullable Path counter;

        @Override
        public void open(String contestant) {}

        @Override
        public Tally play(Round round) {
            counter = requireNonNull(round.counter());
            try (var file = new CounterFile(counter)) {
                file.increment();
                file.increment();
            }
            return new Tally(3, 0, 3, 3, 3, 3, 0, 0, Ledger.noTimes());
        }

        @Override
        public long sum() {
            return 3;
        }

        @Override
        public void close() {}
    }

    private record HalfLock(Lock readLock, Lock writeLock) implements ReadWriteLock {}

    private static final class FailingLock extends ReentrantLock {

        private static final long serialVersionUID = 1L;

        @Override
        public void lock() {
            throw new IllegalStateException("no more locks today");
        }
    }
}
