package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.election.Election.Leader;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** What candidates, their listeners and those who look on see of an election. */
@DisplayName("an election")
class ElectionTest extends ElectionFixture {
    private static final int ROUNDS = 20;

    private Chronicle first = new Chronicle();
    private Chronicle second = new Chronicle();

    @BeforeEach
    void beginChronicles() {
        first = new Chronicle();
        second = new Chronicle();
    }

    @Test
    @DisplayName("has one leader, and the next one when that withdraws, with a greater token")
    void electsOneAfterTheOther() {
        Chronicle one = new Chronicle();
        Chronicle two = new Chronicle();
        Candidate a = stand(mine, one);
        Term led = one.awaitElected(1);
        Candidate b = queue(other, two, 0);
        assertThat(a.isLeader()).isTrue();
        assertThat(a.term()).containsSame(led);
        assertThat(a.name()).isEqualTo(name);
        assertThat(led.name()).isEqualTo(name);
        assertThat(led.isValid()).isTrue();
        led.assertValid();
        assertThat(b.isLeader()).isFalse();
        assertThat(b.term()).isEmpty();
        assertThat(two.size()).isZero();
        a.close();
        Term next = two.awaitElected(1);
        one.awaitDeposed(1, Term.End.CLOSED);
        assertEnds(a.ended());
        assertThat(a.isLeader()).isFalse();
        assertThat(led.isValid()).isFalse();
        assertThatThrownBy(led::assertValid)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("CLOSED");
        assertThat(next.fencingToken()).isGreaterThan(led.fencingToken());
        assertThat(b.isLeader()).isTrue();
        assertThat(one.size()).isEqualTo(2);
    }

    @Test
    @DisplayName("passes to the next session when the leader resigns, which stands again after all others")
    void resignationPassesToOthersInTheirOrder() {
        List<Interlock> sessions = List.of(mine, other, third);
        List<Chronicle> told = List.of(new Chronicle(), new Chronicle(), new Chronicle());
        List<Candidate> candidates = new ArrayList<>(List.of(stand(mine, told.get(0))));
        told.get(0).awaitElected(1);
        candidates.add(queue(other, told.get(1), 0));
        candidates.add(queue(third, told.get(2), 1));
        long token = 0;
        for (int round = 1; round <= 3; round++) {
            for (int i = 0; i < sessions.size(); i++) {
                Term term = told.get(i).awaitElected(round);
                assertThat(term.fencingToken()).isGreaterThan(token);
                token = term.fencingToken();
                awaitWaiting(2);
                assertEnds(candidates.get(i).resign());
                told.get(i).awaitDeposed(round, Term.End.RESIGNED);
            }
        }
    }

    @Test
    @DisplayName("never elects the one who resigns again while others wait, however quickly that goes")
    void isNotRetainedByTheOneWhoResigns(TestReporter reporter) {
        Chronicle one = new Chronicle();
        Chronicle two = new Chronicle();
        Candidate a = stand(mine, one);
        one.awaitElected(1);
        Candidate b = queue(other, two, 0);
        List<Long> handOffs = new ArrayList<>();
        for (int round = 1; round <= ROUNDS; round++) {
            long begun = System.nanoTime();
            assertEnds(a.resign());
            two.awaitElected(round);
            handOffs.add(two.lastNanos() - begun);
            awaitWaiting(1);
            assertThat(one.size()).isEqualTo(2 * round);
            assertEnds(b.resign());
            one.awaitElected(round + 1);
            awaitWaiting(1);
            assertThat(two.size()).isEqualTo(2 * round);
        }
        List<Long> sorted = handOffs.stream().sorted().toList();
        reporter.publishEntry(String.format(
                "from resign() to the next leader: median %d µs of %d", sorted.get(ROUNDS / 2) / 1_000, ROUNDS));
    }

    @Test
    @DisplayName("passes to another candidate of the same session, after those of others that came before")
    void resignationPassesToTheSameSession() {
        Chronicle a1 = new Chronicle();
        Chronicle a2 = new Chronicle();
        Chronicle b = new Chronicle();
        Candidate leader = stand(mine, a1);
        a1.awaitElected(1);
        Candidate beside = stand(mine, a2);
        assertEnds(leader.resign());
        a2.awaitElected(1);
        Candidate elsewhere = queue(other, b, 0);
        assertEnds(beside.resign());
        b.awaitElected(1);
        assertEnds(elsewhere.resign());
        a1.awaitElected(2);
        assertThat(List.of(a1.size(), a2.size(), b.size())).containsExactly(3, 2, 2);
    }

    @Test
    @DisplayName("elects the only candidate again, with a greater token")
    void electsTheOnlyOneAgain() {
        Chronicle one = new Chronicle();
        Candidate a = stand(mine, one);
        long token = one.awaitElected(1).fencingToken();
        for (int times = 2; times < ROUNDS; times++) {
            assertEnds(a.resign());
            long next = one.awaitElected(times).fencingToken();
            assertThat(next).isGreaterThan(token);
            token = next;
        }
    }

    @Test
    @DisplayName("is left by a candidate that waits, when that is closed")
    void isLeftByTheOneWhoWaits() {
        Chronicle one = new Chronicle();
        Chronicle two = new Chronicle();
        Candidate a = stand(mine, one);
        one.awaitElected(1);
        Candidate b = queue(other, two, 0);
        assertEnds(b.resign());
        b.close();
        b.close();
        assertEnds(b.ended());
        awaitWaiting(0);
        assertEnds(a.resign());
        one.awaitElected(2);
        assertThat(two.size()).isZero();
    }

    @Test
    @DisplayName("tells of each end once, though candidates are closed and resign while they are being elected")
    void survivesRacesOfItsEnds() {
        for (int round = 0; round < 5 * ROUNDS; round++) {
            Chronicle one = new Chronicle();
            Candidate a = stand(round % 2 == 0 ? mine : other, one);
            if (round % 3 == 0) {
                one.awaitElected(1);
            } else if (round % 3 == 1) {
                a.resign();
            }
            a.close();
            assertEnds(a.ended());
            assertThat(a.term()).isEmpty();
            assertThat(one.size() % 2).isZero();
            one.assertFaultless();
        }
    }

    // ---- the session's end

    @Test
    @DisplayName("passes on when the leader's session is closed; a candidate of a session that is closed has ended")
    void endsWithTheSession() {
        Interlock session = Interlock.connect(redis.url());
        Chronicle one = new Chronicle();
        Chronicle waiting = new Chronicle();
        Chronicle two = new Chronicle();
        Candidate a = session.election(name).stand(one);
        one.awaitElected(1);
        Candidate behind = session.election(name).stand(waiting);
        queue(other, two, 0);
        session.close();
        two.awaitElected(1);
        one.awaitDeposed(1, Term.End.CLOSED);
        assertEnds(a.ended());
        assertEnds(behind.ended());
        assertThat(a.isLeader()).isFalse();
        assertThat(waiting.size()).isZero();
        assertThatThrownBy(() -> session.election(name)).isInstanceOf(IllegalStateException.class);
        Election before = mine.election(name);
        assertThat(before.leader())
                .map(Leader::session)
                .hasValue(other.election(name).leader().orElseThrow().session());
    }

    @Test
    @DisplayName("passes on when the work has ended, if the session is given time to close")
    void closeWaitsForTheWork() {
        Interlock session = Interlock.connect(redis.url());
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<Term> working = new CompletableFuture<>();
        Candidate a = session.election(name).run(term -> {
            working.complete(term);
            try {
                untilInterrupted();
            } finally {
                order.add("first ends");
            }
        });
        assertThat(working).succeedsWithin(PATIENCE);
        queue(
                other,
                new TermListener() {
                    @Override
                    public void elected(Term term) {
                        order.add("second begins");
                    }
                },
                0);
        session.close(PATIENCE);
        assertEnds(a.ended());
        await("next").atMost(PATIENCE).until(() -> order.size() == 2);
        assertThat(order).containsExactly("first ends", "second begins");
    }

    @Test
    @DisplayName("withdraws when its session waits for holders, which then has none")
    void awaitHoldersWithdraws() {
        Candidate a = stand(mine, first);
        first.awaitElected(1);
        assertThat(mine.awaitHolders(PATIENCE)).isTrue();
        first.awaitDeposed(1, Term.End.CLOSED);
        assertEnds(a.ended());
    }

    // ---- losses

    @Test
    @DisplayName("deposes a leader whose key was deleted, once, which stands again")
    void deletedKeyDeposes() {
        Candidate a = stand(quick, first);
        Term lost = first.awaitElected(1);
        redis.command("DEL", key());
        first.awaitDeposed(1, Term.End.LOST);
        assertThatThrownBy(lost::assertValid).isInstanceOf(LeaseLostException.class);
        assertEnds(lost.resign());
        Term next = first.awaitElected(2);
        assertThat(next.fencingToken()).isGreaterThan(lost.fencingToken());
        assertThatThrownBy(lost::assertValid).isInstanceOf(LeaseLostException.class);
        assertThat(a.term()).containsSame(next);
        next.assertValid();
    }

    @Test
    @DisplayName("can be taken by an operator from the leader, whose work is interrupted")
    void operatorDeposes() {
        CompletableFuture<Term> working = new CompletableFuture<>();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        closing(mine.election(name).as("node 1").run(term -> {
            if (!working.complete(term)) {
                return;
            }
            try {
                untilInterrupted();
            } catch (InterruptedException e) {
                interrupted.complete(term.isValid());
                throw e;
            }
        }));
        Term term = working.orTimeout(30, TimeUnit.SECONDS).join();
        queue(other, second, 0);
        assertThat(third.operator().forceRelease(key(), term.fencingToken())).isTrue();
        assertThat(interrupted).succeedsWithin(PATIENCE).isEqualTo(false);
        assertThat(second.awaitElected(1).fencingToken()).isGreaterThan(term.fencingToken());
    }

    // ---- who looks on

    @Test
    @DisplayName("shows its leader to a session without a candidate, and who waits to operators")
    void showsItsLeader() {
        Election election = third.election(name);
        assertThat(election.leader()).isEmpty();
        Candidate a = closing(mine.election(name).as("node 1").stand(first));
        Term term = first.awaitElected(1);
        closing(other.election(name).as("node 2").stand(second));
        awaitWaiting(1);
        Leader leader = election.leader().orElseThrow();
        assertThat(leader.candidate()).isEqualTo("node 1");
        assertThat(leader.token()).isEqualTo(term.fencingToken());
        assertThat(leader.sessionName()).isEqualTo(mine.sessionName());
        assertThat(leader.age()).isNotNull().isLessThan(PATIENCE);
        assertThat(mine.election(name).leader()).map(Leader::session).hasValue(leader.session());
        assertThat(third.operator().inspect(key()))
                .singleElement()
                .matches(view -> view.kind().equals("hold"))
                .extracting(NameView::waiters)
                .asInstanceOf(InstanceOfAssertFactories.list(Waiter.class))
                .extracting(Waiter::thread)
                .containsExactly("node 2");
        a.close();
        second.awaitElected(1);
        assertThat(election.leader()).map(Leader::candidate).hasValue("node 2");
    }

    @Test
    @DisplayName("is not concerned by elections of other names, nor by their number")
    void electionsAreIndependent() {
        List<Chronicle> all =
                IntStream.range(0, 50).mapToObj(i -> new Chronicle()).toList();
        for (int i = 0; i < all.size(); i++) {
            closing(mine.election(name + "-" + i).stand(all.get(i)));
        }
        all.forEach(each -> each.awaitElected(1));
    }

    // ---- refusals

    @Test
    @DisplayName("ends for a candidate at whose key is something else")
    void refusalEndsTheCandidacy() {
        redis.command("SET", key(), "a stranger's");
        Candidate a = stand(mine, first);
        assertThat(a.ended().toCompletableFuture())
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageContaining("WRONGTYPE");
        a.close();
        redis.command("DEL", key());
        assertThat(first.size()).isZero();
    }

    @Test
    @DisplayName("refuses bad input before anything reaches Redis")
    void refusesBadInput() {
        assertThatThrownBy(() -> mine.election("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> mine.election("x".repeat(1_016)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name")
                .hasMessageContaining("1024 bytes");
        assertThatThrownBy(() -> mine.election(name).as("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> mine.election(name).as("x".repeat(1_025)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("candidate");
        assertThatThrownBy(() -> nullIn(mine)).isInstanceOf(NullPointerException.class);
        Candidate longest = closing(mine.election("x".repeat(1_015)).stand(first));
        first.awaitElected(1);
        assertThat(longest.isLeader()).isTrue();
    }

    @SuppressWarnings("NullAway")
    private void nullIn(Interlock session) {
        session.election(name).stand(null);
    }

    @Test
    @DisplayName("doesn't use the executor for holds, which may refuse tasks")
    void needsNoExecutorOfUsers() {
        Interlock session = Interlock.builder()
                .uri(redis.url())
                .holdExecutor(task -> {
                    throw new RejectedExecutionException("a user's");
                })
                .open();
        try (session) {
            Candidate a = session.election(name).stand(first);
            first.awaitElected(1);
            assertEnds(a.resign());
            first.awaitElected(2);
        }
        first.awaitDeposed(2, Term.End.CLOSED);
    }
}
