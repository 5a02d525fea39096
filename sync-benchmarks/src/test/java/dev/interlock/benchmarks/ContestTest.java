package dev.interlock.benchmarks;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.interlock.benchmarks.Contest.BrokenExclusionException;
import dev.interlock.benchmarks.Contest.BrokenOrderException;
import dev.interlock.benchmarks.Scenario.Measure;
import dev.interlock.benchmarks.Scenario.Pace;
import dev.interlock.benchmarks.Site.Round;
import dev.interlock.benchmarks.Site.Tally;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class ContestTest {

    private static final Pace SHORT = new Pace(Duration.ofMillis(100), 1, 3);
    private static final Pace UNTIL_FOUND = new Pace(Duration.ofMillis(100), 1, 50);

    private static final Addresses NOWHERE = Addresses.ofRedis("redis://127.0.0.1:1");

    private final List<String> progress = new ArrayList<>();

    @Test
    void everyPeerGetsAScore() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario =
                    new Scenario("s", 1, 2, 100, Measure.SECTIONS, "Mine", List.of("This", "That"), SHORT, SHORT);
            List<Score> scores = new Contest(scenario, crew, progress::add).play(SHORT);
            assertThat(scores).extracting(Score::peer).containsExactly("This", "That");
            assertThat(scores).allSatisfy(score -> {
                assertThat(score.ours()).hasSize(3).allMatch(perSecond -> perSecond > 0);
                assertThat(score.theirs()).hasSize(3).allMatch(perSecond -> perSecond > 0);
            });
            assertThat(progress).hasSize(4);
            assertThat(progress.get(3)).matches("s +round 3/3 +Mine [\\d,]+/s  That [\\d,]+/s  This [\\d,]+/s");
        }
    }

    @Test
    void lockThatExcludesNobodyIsFound() {
        Contestant open = Contestant.locking(url -> url, (client, name) -> new NoLock(), client -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> name.equals("Broken") ? open : jdk())) {
            var contest = new Contest(scenario(1, "ReentrantLock", "Broken"), crew, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageContaining("MUTUAL EXCLUSION BROKEN in s by Broken");
        }
    }

    @Test
    void lockThatExcludesOnlyItsOwnJvmIsFound() {
        try (var ensemble = Ensemble.start(2, NOWHERE)) {
            var contest = new Contest(scenario(2, "ReentrantLock", "ReentrantLock"), ensemble, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageContaining("MUTUAL EXCLUSION BROKEN in s by ReentrantLock");
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
        try (var ensemble = Ensemble.start(2, NOWHERE)) {
            String name = "ReentrantReadWriteLock";
            var contest = new Contest(sharing(2, name, name), ensemble, progress::add);
            assertThatThrownBy(() -> contest.play(UNTIL_FOUND))
                    .isInstanceOf(BrokenExclusionException.class)
                    .hasMessageContaining("MUTUAL EXCLUSION BROKEN in s by " + name);
        }
    }

    @Test
    void lockThatLetsAJvmOvertakeIsFound() {
        try (var ensemble =
                Ensemble.start(2, Addresses.ofRedis(RedisServer.provided().url()))) {
            var scenario = new Scenario("s", 2, 1, 100, Measure.HAND_OFFS, "RLock", List.of("RFairLock"), SHORT, SHORT);
            var contest = new Contest(scenario, ensemble, progress::add);
            assertThatThrownBy(() -> contest.play(SHORT))
                    .isInstanceOf(BrokenOrderException.class)
                    .hasMessageContaining("NO STRICT ALTERNATION in s by RLock");
        }
    }

    /** Through conditions each waits for the other one; messages only go back and forth. */
    @Test
    void twoJvmsTakeTurnsAlternately() {
        try (var ensemble =
                Ensemble.start(2, Addresses.ofRedis(RedisServer.provided().url()))) {
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
        return ensemble.play(new Round(contestant, contestant, 1, 100, 0, false, 0, start, start + 1_000_000_000));
    }

    @Test
    void tokensThatNobodyMissesAreFound() {
        Contestant giving = Contestant.working(
                url -> 1_000_000L, (tokens, name) -> new Tap(() -> true, () -> tokens), tokens -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> giving)) {
            var contest = new Contest(scenario(1, "Mine", "This"), crew, progress::add);
            assertThatThrownBy(() -> contest.play(SHORT))
                    .hasMessageContaining("Mine failed")
                    .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessageEndingWith("but 1000000 are left"));
        }
    }

    @Test
    void waitsAreReportedBesideTheThroughput() {
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> jdk())) {
            var scenario =
                    new Scenario("s", 1, 2, 100, Measure.SECTIONS_AND_WAITS, "Mine", List.of("This"), SHORT, SHORT);
            Score score = new Contest(scenario, crew, progress::add).play(SHORT).get(0);
            assertThat(score.waitLine())
                    .hasValueSatisfying(line -> assertThat(line)
                            .matches("WAIT s ours p99.9=\\S+us max=\\S+us This p99.9=\\S+us max=\\S+us"));
            assertThat(requireNonNull(score.ourWaits()).maxMicros()).isPositive();
        }
    }

    @Test
    void talliesPassFromJvmToJvm() {
        Histogram waits = Tally.noWaits();
        waits.recordValue(1_000);
        waits.recordValue(2_000_000_000);
        var sent = new Tally(1.5, 0.5, 7, 1, 3, waits);
        assertThat(Tally.parse(sent.line())).isEqualTo(sent);
        assertThat(Tally.sum(List.of(sent, sent)).waits().getTotalCount()).isEqualTo(4);
        assertThat(Tally.sum(List.of(sent, sent)).torn()).isEqualTo(6);
    }

    @Test
    void roundsPassFromJvmToJvm() {
        var sent = new Round("Mine", "name", 4, 10, 3, true, 5, 6, 7);
        assertThat(Round.parse(sent.line())).isEqualTo(sent);
    }

    /** Whoever plays, and however fast: the n-th section of a thread in a round is one that writes, or is not. */
    @Test
    void allContestantsWriteInTheSamePattern() {
        int writes = 0;
        var mine = new Ledger(Ledger.page(), 10, 42);
        var theirs = new Ledger(Ledger.page(), 10, 42);
        for (int i = 0; i < 10_000; i++) {
            boolean isWrite = mine.willWrite();
            assertThat(theirs.willWrite()).isEqualTo(isWrite);
            writes += isWrite ? 1 : 0;
        }
        assertThat(writes).isBetween(800, 1_200);
    }

    /** Readers aren't booked, so that the sum is that of the writers. */
    @Test
    void readersAndWritersOfOneLockAreCountedTogether() {
        Contestant sharing = Contestant.sharing(url -> new ReentrantReadWriteLock(), (lock, name) -> lock, lock -> {});
        try (var crew = new Crew(NOWHERE, Ledger.page(), name -> sharing)) {
            crew.open("Mine");
            long start = Monotonic.nanos();
            Tally tally = crew.play(new Round("Mine", "name", 2, 10, 0, false, 0, start, start + 200_000_000));
            assertThat(tally.torn()).isZero();
            assertThat(crew.sum()).isEqualTo(tally.booked()).isPositive();
            assertThat(tally.perSecond() * 0.2).isGreaterThan(2.0 * tally.booked());
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
        return new Scenario("s", jvms, 4, 100, Measure.SECTIONS, ours, List.of(peer), SHORT, SHORT);
    }

    private static Scenario sharing(int jvms, String ours, String peer) {
        return new Scenario("s", jvms, 4, 10, Measure.SECTIONS, ours, List.of(peer), SHORT, SHORT);
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

    private record HalfLock(Lock readLock, Lock writeLock) implements ReadWriteLock {}

    private static final class FailingLock extends ReentrantLock {

        private static final long serialVersionUID = 1L;

        @Override
        public void lock() {
            throw new IllegalStateException("no more locks today");
        }
    }
}
