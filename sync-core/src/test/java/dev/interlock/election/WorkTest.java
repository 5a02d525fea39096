package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The work of a leader, and its listeners, may return, throw and block. */
@DisplayName("the work of a leader, or its listener,")
class WorkTest extends ElectionFixture {
    @Test
    @DisplayName("is interrupted by a resignation, and done before the work of the next leader begins")
    void isInterrupted() {
        List<String> order = new CopyOnWriteArrayList<>();
        TermTask work = term -> {
            order.add("begins " + term.fencingToken());
            try {
                untilInterrupted();
            } finally {
                order.add("ends " + term.fencingToken());
            }
        };
        Candidate a = closing(mine.election(name).run(work));
        await("first").atMost(PATIENCE).until(() -> order.size() == 1);
        Candidate b = closing(other.election(name).run(work));
        awaitWaiting(1);
        assertEnds(a.resign());
        await("second").atMost(PATIENCE).until(b::isLeader);
        awaitWaiting(1);
        await("second").atMost(PATIENCE).until(() -> order.size() == 3);
        assertEnds(b.resign());
        await("third").atMost(PATIENCE).until(() -> order.size() == 5);
        for (int i = 0; i < 4; i += 2) {
            assertThat(order.get(i + 1)).isEqualTo(order.get(i).replace("begins", "ends"));
        }
        assertThat(order.stream().distinct()).hasSize(5);
    }

    @Test
    @DisplayName("keeps the name until it returns, if it ignores interrupts, but not its term")
    void mayIgnoreInterrupts() {
        CountDownLatch mayEnd = new CountDownLatch(1);
        CompletableFuture<Term> working = new CompletableFuture<>();
        Candidate a = closing(mine.election(name).run(term -> {
            working.complete(term);
            Uninterruptibles.awaitUninterruptibly(mayEnd);
        }));
        assertThat(working).succeedsWithin(PATIENCE);
        Chronicle next = new Chronicle();
        queue(other, next, 0);
        var resigned = a.resign();
        assertThat(a.isLeader()).isFalse();
        assertThat(working.join().isValid()).isFalse();
        assertWaits(resigned);
        assertThat(next.size()).isZero();
        mayEnd.countDown();
        assertEnds(resigned);
        next.awaitElected(1);
    }

    @Test
    @DisplayName("ends its term by returning, and is called again when the candidate is elected again")
    void mayReturn() {
        List<Long> tokens = new CopyOnWriteArrayList<>();
        closing(mine.election(name).run(term -> {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            tokens.add(term.fencingToken());
        }));
        await("called").atMost(PATIENCE).until(() -> tokens.size() == 3);
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("may be closed while the candidate pauses after it has returned")
    void mayBeClosedInThePause() {
        AtomicInteger calls = new AtomicInteger();
        Candidate a = closing(mine.election(name).run(term -> calls.incrementAndGet()));
        await("called")
                .atMost(PATIENCE)
                .until(() -> calls.get() == 1 && !redis.keys().contains(key()));
        a.close();
        assertEnds(a.ended());
        assertThat(calls).hasValue(1);
    }

    @Test
    @DisplayName("ends its term by throwing, and others go first")
    void mayThrow() {
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch mayThrow = new CountDownLatch(1);
        Candidate a = closing(mine.election(name).run(term -> {
            if (calls.incrementAndGet() == 1) {
                Uninterruptibles.awaitUninterruptibly(mayThrow);
                throw new AssertionError("thrown by a test");
            }
            untilInterrupted();
        }));
        await("leads").atMost(PATIENCE).until(a::isLeader);
        Chronicle next = new Chronicle();
        Candidate b = queue(other, next, 0);
        mayThrow.countDown();
        next.awaitElected(1);
        awaitWaiting(1);
        assertEnds(b.resign());
        await("again").atMost(PATIENCE).until(a::isLeader);
        await("called").atMost(PATIENCE).until(() -> calls.get() == 2);
    }

    @Test
    @DisplayName("may close its own candidate")
    void mayCloseItsCandidate() {
        CompletableFuture<Candidate> candidate = new CompletableFuture<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        Candidate a = closing(mine.election(name).run(term -> {
            candidate.join().close();
            interrupted.set(Thread.currentThread().isInterrupted());
        }));
        candidate.complete(a);
        assertEnds(a.ended());
        assertThat(interrupted).isFalse();
    }

    @Test
    @DisplayName("that throws when it is told of an election ends the term; of its end, nothing follows")
    void listenerMayThrow() {
        AtomicInteger deposed = new AtomicInteger();
        AtomicInteger elected = new AtomicInteger();
        List<Term.End> ends = new CopyOnWriteArrayList<>();
        Candidate a = stand(mine, new TermListener() {
            @Override
            public void elected(Term term) {
                if (elected.incrementAndGet() == 1) {
                    throw new IllegalArgumentException("thrown by a test");
                }
            }

            @Override
            public void deposed(Term term, Term.End why) {
                ends.add(why);
                deposed.incrementAndGet();
                throw new IllegalArgumentException("thrown by a test");
            }
        });
        await("again").atMost(PATIENCE).until(() -> elected.get() == 2);
        assertEnds(a.resign());
        await("again").atMost(PATIENCE).until(() -> elected.get() == 3);
        assertThat(ends).containsExactly(Term.End.FAILED, Term.End.RESIGNED);
        a.close();
        assertEnds(a.ended());
        assertThat(deposed).hasValue(3);
    }

    @Test
    @DisplayName("that blocks delays neither renewals nor elections of other names")
    void listenerMayBlock() {
        CountDownLatch blocked = new CountDownLatch(1);
        List<String> order = new CopyOnWriteArrayList<>();
        Candidate a = stand(quick, new TermListener() {
            @Override
            public void elected(Term term) {
                order.add("elected");
                var unused = Uninterruptibles.awaitUninterruptibly(blocked, PATIENCE.toSeconds() * 2, TimeUnit.SECONDS);
                order.add("returned");
            }

            @Override
            public void deposed(Term term, Term.End why) {
                order.add("deposed");
            }
        });
        await("leads").atMost(PATIENCE).until(a::isLeader);
        Chronicle others = new Chronicle();
        Candidate b = closing(quick.election(name + " other").stand(others));
        others.awaitElected(1);
        await("for two leases")
                .atMost(PATIENCE)
                .during(LEASE.multipliedBy(2))
                .pollInterval(Duration.ofMillis(10))
                .until(() -> a.isLeader() && b.isLeader());
        var resigned = a.resign();
        assertWaits(resigned);
        blocked.countDown();
        assertEnds(resigned);
        assertThat(List.copyOf(order).subList(0, 3)).containsExactly("elected", "returned", "deposed");
    }

    @Test
    @DisplayName("may resign when it is told of its election")
    void listenerMayResign() {
        Chronicle told = new Chronicle();
        AtomicInteger elected = new AtomicInteger();
        Candidate a = stand(mine, new TermListener() {
            @Override
            public void elected(Term term) throws InterruptedException {
                told.elected(term);
                if (elected.incrementAndGet() == 1) {
                    term.resign();
                }
            }

            @Override
            public void deposed(Term term, Term.End why) {
                told.deposed(term, why);
            }
        });
        Term second = told.awaitElected(2);
        assertEnds(told.awaitDeposed(1, Term.End.RESIGNED).resign());
        assertThat(a.term()).containsSame(second);
        second.assertValid();
    }
}
