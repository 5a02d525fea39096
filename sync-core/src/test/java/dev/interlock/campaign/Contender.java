package dev.interlock.campaign;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.election.Candidate;
import dev.interlock.election.Election;
import dev.interlock.election.Term;
import dev.interlock.election.TermListener;
import dev.interlock.testing.Monotonic;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The candidate of a JVM for the leadership that all JVMs stand for. A step is a term, from when the candidate could
 * have asked for it. Terms are recorded in the candidate's thread; the thread of the campaign has terms end that don't
 * by themselves, and replaces the candidate now and then. A class of its own, since the last release knows no election.
 */
final class Contender {
    private static final int MOST_STAY_NANOS = 40_000_000;
    private static final int MOST_STAYS = 8;
    private static final int PATIENCE_MILLIS = 500;

    private final Election election;
    private final Blackboard board;
    private final StepLog log;

    /** Used by the thread of the campaign. */
    private final Random random;

    /** Used by the candidate's thread. */
    private final Random course;

    private final Semaphore termsOver = new Semaphore(0);

    /** From the first step on: Redis may be away when the JVM starts. */
    private @Nullable Candidate candidate;

    private boolean isClosed;

    Contender(Worker.Site site, StepLog log, Random random) {
        this.election = site.interlock().election("campaign");
        this.board = site.board();
        this.log = log;
        this.random = random;
        this.course = new Random(random.nextLong());
    }

    /** Waits for a term to be over, and does something to the candidate. */
    void once() {
        Candidate known = candidate;
        try {
            if (known != null && isClosed) {
                known.ended().toCompletableFuture().get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                log.end(End.GAVE_UP);
                known = null;
            }
            if (known == null) {
                candidate = null;
                known = stand();
                candidate = known;
                isClosed = false;
            }
            var unused = termsOver.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException | TimeoutException e) {
            return;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
        switch (random.nextInt(16)) {
            case 0 -> {
                known.close();
                isClosed = true;
            }
            case 1, 2, 3, 4 -> known.resign();
            default -> {}
        }
    }

    private Candidate stand() {
        log.begin(Act.LEAD, 0, Monotonic.nanos());
        return random.nextBoolean()
                ? election.run(this::lead)
                : election.stand(new TermListener() {
                    @Override
                    public void elected(Term term) {
                        lead(term);
                    }
                });
    }

    private void lead(Term term) {
        End end = End.GAVE_UP;
        try {
            stay(term);
            end = End.DONE;
        } catch (LeaseLostException e) {
            end = End.LOST;
            // As a leader does that doesn't know.
            board.write(Act.LEAD, term.fencingToken());
        } catch (RedisUnavailableException e) {
            term.resign();
        } finally {
            log.end(end);
            log.begin(Act.LEAD, 0, Monotonic.nanos());
            termsOver.release();
        }
    }

    /** Leads for a while, which ends the term or not. */
    private void stay(Term term) {
        long entered = Monotonic.nanos();
        term.assertValid();
        log.enter(entered, term.fencingToken());
        for (int stays = course.nextInt(MOST_STAYS); stays > 0; stays--) {
            board.write(Act.LEAD, term.fencingToken());
            LockSupport.parkNanos(course.nextInt(MOST_STAY_NANOS));
            long until = Monotonic.nanos();
            term.assertValid();
            log.stillThere(until);
        }
        switch (course.nextInt(8)) {
            case 0 -> throw new IllegalStateException("the campaign has a leader fail");
            case 1, 2 -> {} // A term of work ends, that of a listener goes on.
            default -> term.resign();
        }
    }
}
