package dev.interlock.simulation;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.election.Candidate;
import dev.interlock.election.Term;
import dev.interlock.election.Term.End;
import dev.interlock.election.TermListener;
import dev.interlock.internal.election.Candidacy;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.TenureProbe;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a candidate is told, and does when it is elected. Its thread is another one than that which has it stand, by
 * which the witness knows it.
 */
final class Leader implements TermListener {
    /** So soon a leader that knows of its loss is told that it is deposed, unless its JVM stands still. */
    private static final long TOLD_NANOS = 5_000_000_000L;

    private final Op op;
    private final Actor standing;
    private final HoldQueue queue;
    private final Jvm jvm;
    private final LockWitness witness;
    private int elections;
    private int depositions;
    private boolean isWithdrawn;
    private boolean isOver;
    private @Nullable Term current;
    private @Nullable LeaseLostException loss;

    Leader(Op op, Actor standing, HoldQueue queue, Jvm jvm, LockWitness witness) {
        this.op = op;
        this.standing = standing;
        this.queue = queue;
        this.jvm = jvm;
        this.witness = witness;
    }

    /** A term, as the witness sees it. */
    private final class Inside implements Owned {
        final Term term;

        Inside(Term term) {
            this.term = term;
        }

        @Override
        public long fencingToken() {
            term.assertValid();
            return term.fencingToken();
        }

        @Override
        public @Nullable Tenure valid() {
            return TenureProbe.valid(queue, jvm.clock());
        }

        @Override
        public String toString() {
            return term + " of " + queue;
        }
    }

    /** Returns what the candidate calls, which ends terms of work when that returns. */
    TermListener listener() {
        if (op.call() != Call.STAND_AND_RETURN) {
            return this;
        }
        TermListener working = Candidacy.listener(this::elected);
        return new TermListener() {
            @Override
            public void elected(Term term) throws InterruptedException {
                working.elected(term);
            }

            @Override
            public void deposed(Term term, End why) {
                Leader.this.deposed(term, why);
            }
        };
    }

    int elections() {
        return elections;
    }

    int depositions() {
        return depositions;
    }

    /**
     * The candidate asks to be elected, now or soon.
     *
     * @param now whether it does so now
     */
    void stands(boolean now) {
        witness.begins(standing);
        if (now) {
            witness.called(standing);
        }
    }

    /** The candidate is about to be closed. */
    void withdraws() {
        isWithdrawn = true;
    }

    /** The candidate has ended. */
    void checkEnd(Candidate candidate) {
        isOver = true;
        check(current == null, "ends, and isn't told that it is deposed");
        check(!candidate.isLeader() && candidate.term().isEmpty(), "has ended, and has a term");
    }

    /** Throws what has ended the last term, if it was lost. */
    void throwLoss() {
        if (loss != null) {
            throw loss;
        }
    }

    // What a listener throws is logged only.
    private void check(boolean isTrue, String otherwise) {
        if (!isTrue) {
            report(new Violation(standing.name() + " " + otherwise));
        }
    }

    private void report(Violation violation) {
        jvm.scheduler().after(0, () -> {
            throw violation;
        });
    }

    @Override
    public void elected(Term term) throws InterruptedException {
        check(!isOver, "is elected when it has ended");
        check(current == null, "is elected in its term");
        current = term;
        elections++;
        standing.unpark();
        try {
            lead(term, Objects.requireNonNull(jvm.actorOf(Thread.currentThread())));
        } catch (Violation e) {
            report(e);
        }
    }

    private void lead(Term term, Actor self) throws InterruptedException {
        try {
            witness.entered(standing, new Inside(term));
        } catch (IllegalStateException e) {
            if (term.isValid()) {
                throw new Violation(standing.name() + " has a valid term, and is told: " + e, e);
            }
            return;
        }
        if (op.call().endsWork()) {
            workFor(op.holdNanos() / 2, self);
            witness.asks(standing, term::assertValid);
            witness.check();
            workFor(op.holdNanos() / 2, self);
        } else if (op.thinkNanos() % 2 == 0) {
            leadUntilDeposed(term, self);
        }
        if (op.call() == Call.STAND_AND_THROW) {
            throw new IllegalArgumentException("the leader fails");
        }
    }

    private void workFor(long nanos, Actor self) throws InterruptedException {
        long until = jvm.clock() + nanos;
        while (until - jvm.clock() > 0) {
            self.park(this, until - jvm.clock());
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    private void leadUntilDeposed(Term term, Actor self) throws InterruptedException {
        while (true) {
            try {
                term.assertValid();
            } catch (LeaseLostException e) {
                loss = e;
                workFor(TOLD_NANOS, self);
                throw new Violation(standing.name() + " has lost its lease, and isn't deposed");
            } catch (RedisUnavailableException e) {
                // Nobody knows yet.
            }
            workFor(TOLD_NANOS, self);
        }
    }

    @Override
    public void deposed(Term term, End why) {
        try {
            check(!isOver, "is deposed when it has ended");
            check(current == term, "is deposed from a term that isn't its own");
            check(!term.isValid(), "is deposed from a valid term");
            witness.leaves(standing);
        } catch (Violation e) {
            report(e);
        }
        current = null;
        depositions++;
        if (why == End.LOST && loss == null) {
            loss = lossOf(term);
        }
        standing.unpark();
        if (!isWithdrawn) {
            stands(why == End.RESIGNED || why == End.LOST);
        }
    }

    private @Nullable LeaseLostException lossOf(Term term) {
        try {
            term.assertValid();
        } catch (LeaseLostException e) {
            return e;
        } catch (IllegalStateException e) {
            check(false, "was deposed by a loss that it isn't told");
        }
        return null;
    }
}
