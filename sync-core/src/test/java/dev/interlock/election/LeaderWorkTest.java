package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.election.Election.Leader;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The code of the guide. */
@DisplayName("the work of leaders that the guide shows")
class LeaderWorkTest extends ElectionFixture {
    private final BlockingQueue<String> due = new LinkedBlockingQueue<>();
    private final Store store = new Store();
    private final Poller poller = new Poller();

    /** Refuses leaders that don't know yet that they are deposed. */
    private static final class Store {
        final List<String> reports = new CopyOnWriteArrayList<>();
        private long greatest;

        synchronized void save(String report, long token) {
            if (token < greatest) {
                throw new IllegalArgumentException("a later leader has written");
            }
            greatest = token;
            reports.add(report);
        }
    }

    private static final class Poller {
        volatile long token;

        void start(long of) {
            token = of;
        }

        void stop() {
            token = 0;
        }
    }

    private Candidate work(Interlock interlock) {
        // tag::election-run[]
        Candidate candidate = interlock.election("reports").as("node 3").run(term -> {
            while (true) {
                String report = due.take(); // is interrupted when the term ends
                store.save(report, term.fencingToken()); // refused if a later leader has written meanwhile
            }
        });
        // end::election-run[]
        return candidate;
    }

    private Candidate listen(Interlock interlock) {
        // tag::election-stand[]
        Candidate candidate = interlock.election("reports").stand(new TermListener() {
            @Override
            public void elected(Term term) {
                poller.start(term.fencingToken());
            }

            @Override
            public void deposed(Term term, Term.End why) {
                poller.stop();
            }
        });
        // end::election-stand[]
        return candidate;
    }

    private static String leaderOf(Interlock interlock) {
        // tag::election-leader[]
        Optional<Leader> leader = interlock.election("reports").leader(); // asks, from any session
        String shown = leader.map(one -> one.candidate() + " of " + one.sessionName() + ", for " + one.age())
                .orElse("nobody");
        // end::election-leader[]
        return shown;
    }

    @Test
    @DisplayName("is done by one candidate after the other")
    void isDoneByOneAfterTheOther() {
        Candidate a = closing(work(mine));
        due.add("monday");
        await("saved").atMost(PATIENCE).until(() -> store.reports.size() == 1);
        assertThat(leaderOf(third)).startsWith("node 3 of " + mine.sessionName() + ", for PT");
        Candidate b = closing(listen(other));
        a.close();
        assertEnds(a.ended());
        await("started").atMost(PATIENCE).until(() -> poller.token > 0 && b.isLeader());
        b.close();
        assertEnds(b.ended());
        assertThat(poller.token).isZero();
        assertThat(leaderOf(third)).isEqualTo("nobody");
    }
}
