package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Outage;
import dev.interlock.testing.Requests;
import dev.interlock.testing.TooLate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Candidates go on while answers are lost, and Redis is away. */
@DisplayName("an election, under faults of Redis and the network,")
class ElectionFaultsTest extends FaultFixture {
    private static final String NAME = "scheduler";
    private static final String KEY = Election.PREFIX + NAME;

    /** Its margin is 300 ms. */
    private static final Duration LEASE = Duration.ofSeconds(6);

    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(2);

    static Stream<Loss> losses() {
        return Stream.of(Loss.CUT, Loss.MUTE);
    }

    /** So that a server that is killed knows everything when it is started again. */
    @Override
    protected List<String> serverArguments() {
        return Outage.serverArguments();
    }

    @Override
    protected Duration commandTimeout() {
        return SHORT_TIMEOUT;
    }

    private static InterlockBuilder shortLived(InterlockBuilder builder) {
        return builder.lease(LEASE).redisTimeout(REDIS_TIMEOUT);
    }

    private static Candidate stand(Interlock session, TermListener listener) {
        return session.election(NAME).stand(listener);
    }

    private static void end(Candidate... candidates) {
        for (Candidate candidate : candidates) {
            candidate.close();
            assertThat(candidate.ended().toCompletableFuture()).succeedsWithin(PATIENCE);
        }
    }

    /** A leader that knows when it was told that it is one no more. */
    private static class TimedChronicle extends Chronicle {
        final CompletableFuture<Long> electedNanos = new CompletableFuture<>();
        final CompletableFuture<Long> deposedNanos = new CompletableFuture<>();

        @Override
        public void elected(Term term) throws InterruptedException {
            electedNanos.complete(System.nanoTime());
            super.elected(term);
        }

        @Override
        public void deposed(Term term, Term.End why) {
            deposedNanos.complete(System.nanoTime());
            super.deposed(term, why);
        }
    }

    @Test
    @DisplayName("deposes a leader that can't reach Redis before it elects another one")
    void unreachableLeaderIsDeposedFirst() {
        TimedChronicle one = new TimedChronicle();
        Candidate a = stand(session(ElectionFaultsTest::shortLived), one);
        Term term = one.awaitElected(1);
        CompletableFuture<Boolean> overlaps = new CompletableFuture<>();
        TimedChronicle two = new TimedChronicle() {
            @Override
            public void elected(Term next) throws InterruptedException {
                overlaps.complete(a.isLeader() || term.isValid());
                super.elected(next);
            }
        };
        Candidate b = stand(undisturbed(), two);
        awaitTickets(KEY, 1);
        long begun = System.nanoTime();
        proxy().stall();
        Term next = two.awaitElected(1);
        assertThat(overlaps).succeedsWithin(PATIENCE).isEqualTo(false);
        assertThat(next.fencingToken()).isGreaterThan(term.fencingToken());
        one.awaitDeposed(1, Term.End.LOST);
        TooLate.assertWithin(
                "the news",
                Duration.ofNanos(two.electedNanos.join() - begun),
                Duration.ofNanos(one.deposedNanos.join() - begun));
        proxy().resume();
        assertThat(b.isLeader()).isTrue();
        end(b);
        assertThat(one.awaitElected(2).fencingToken()).isGreaterThan(next.fencingToken());
        end(a);
    }

    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED", "REFUSED"})
    @DisplayName("goes on after an outage that is longer than the lease and what requests wait for")
    void candidatesOutlastOutages(Outage outage) {
        Chronicle one = new Chronicle();
        Chronicle two = new Chronicle();
        Candidate a = stand(session(ElectionFaultsTest::shortLived), one);
        Term term = one.awaitElected(1);
        Candidate b = stand(session(ElectionFaultsTest::shortLived), two);
        awaitTickets(KEY, 1);
        outage.begin(List.of(server()), List.of(proxy()));
        one.awaitDeposed(1, Term.End.LOST);
        await("requests fail").during(REDIS_TIMEOUT.plus(PULSE)).until(() -> !a.isLeader() && !b.isLeader());
        assertThat(a.ended().toCompletableFuture()).isNotDone();
        assertThat(b.ended().toCompletableFuture()).isNotDone();
        outage.end(List.of(server()), List.of(proxy()));
        await("a leader").until(() -> a.isLeader() || b.isLeader());
        Candidate leader = a.isLeader() ? a : b;
        assertThat(leader.term().orElseThrow().fencingToken()).isGreaterThan(term.fencingToken());
        end(leader);
        await("the other one").until(() -> a.isLeader() || b.isLeader());
        end(a, b);
        one.assertFaultless();
        two.assertFaultless();
    }

    @ParameterizedTest
    @MethodSource("losses")
    @DisplayName("is won and resigned once though replies get lost")
    void lostRepliesCountOnce(Loss loss) {
        Chronicle one = new Chronicle();
        Chronicle two = new Chronicle();
        Interlock session = session();
        proxy().dropReplies(Requests.acquire(KEY), 1, loss);
        Candidate a = stand(session, one);
        long token = one.awaitElected(1).fencingToken();
        Candidate b = stand(undisturbed(), two);
        awaitTickets(KEY, 1);
        proxy().dropReplies(Requests.release(KEY), 1, loss);
        assertThat(a.resign().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertThat(two.awaitElected(1).fencingToken()).isGreaterThan(token);
        one.awaitDeposed(1, Term.End.RESIGNED);
        assertThat(dropped()).isEqualTo(2);
        awaitTickets(KEY, 1);
        end(b);
        one.awaitElected(2);
        end(a);
    }

    @Test
    @DisplayName("isn't won by a candidate that has withdrawn, whatever Redis has granted unheard")
    void whatIsGrantedUnheardIsGivenBack() {
        Interlock session = session(ElectionFaultsTest::shortLived);
        session.holds();
        proxy().dropReplies(words -> true, FaultProxy.ALWAYS, Loss.MUTE);
        Chronicle one = new Chronicle();
        Candidate a = stand(session, one);
        await("asked").until(() -> dropped() > 0);
        end(a);
        proxy().heal();
        awaitFree(KEY);
        assertThat(one.size()).isZero();
    }
}
