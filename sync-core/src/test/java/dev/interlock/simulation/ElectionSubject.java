package dev.interlock.simulation;

import dev.interlock.internal.election.Candidacy;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.TenureProbe;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** An election. Each call is that of a candidate, which its thread closes, and of which it awaits the end. */
final class ElectionSubject implements Subject {
    private final HoldQueue queue;
    private final RedisSession session;
    private final Jvm jvm;
    private final LockWitness witness;
    private final Set<Candidacy> candidates = new LinkedHashSet<>();

    ElectionSubject(String name, RedisSession session, Jvm jvm, LockWitness witness) {
        this.queue = new HoldQueue(session, name);
        this.session = session;
        this.jvm = jvm;
        this.witness = witness;
    }

    @Override
    public boolean isGuarded() {
        return TenureProbe.isGuarded(queue);
    }

    @Override
    public void close() {
        List.copyOf(candidates).forEach(Candidacy::abandon);
    }

    @Override
    public void call(Op op, Worker worker) throws InterruptedException {
        Actor actor = worker.actor();
        Leader leader = new Leader(op, actor, queue, jvm, witness);
        // As an election does.
        session.ensureOpen();
        Candidacy candidate = new Candidacy(session, queue, "election", "", leader.listener());
        CompletableFuture<Void> ended = candidate.ended().toCompletableFuture();
        candidates.add(candidate);
        ended.whenComplete((done, failure) -> {
            candidates.remove(candidate);
            actor.unpark();
        });
        leader.stands(true);
        candidate.stand();
        try {
            use(op, actor, candidate, leader, ended);
        } finally {
            if (!jvm.isDead()) {
                leader.withdraws();
                candidate.close();
                awaitEnd(actor, ended);
                leader.checkEnd(candidate);
            }
        }
        join(ended);
        leader.throwLoss();
    }

    private void use(Op op, Actor actor, Candidacy candidate, Leader leader, CompletableFuture<Void> ended)
            throws InterruptedException {
        if (op.call() == Call.STAND) {
            long until = jvm.clock() + op.holdNanos();
            while (until - jvm.clock() > 0 && !ended.isDone()) {
                park(actor, until - jvm.clock());
            }
            return;
        }
        int terms = op.call().endsTerm() && op.waitNanos() % 4 == 0 ? 2 : 1;
        for (int term = 1; term <= terms && !ended.isDone(); term++) {
            while (leader.elections() < term && !ended.isDone()) {
                park(actor, RemoteWait.FOREVER);
            }
            if (op.call() == Call.STAND_AND_RESIGN) {
                actor.sleep(op.holdNanos() / 2);
                resign(actor, candidate, leader);
            } else if (op.call().endsTerm()) {
                while (leader.depositions() < term && !ended.isDone()) {
                    park(actor, RemoteWait.FOREVER);
                }
            } else {
                actor.sleep(op.holdNanos());
            }
        }
    }

    private void resign(Actor actor, Candidacy candidate, Leader leader) throws InterruptedException {
        int elections = leader.elections();
        boolean leads = candidate.term().isPresent();
        CompletionStage<Void> resigned = candidate.resign();
        CompletableFuture<Void> over = resigned.toCompletableFuture();
        over.whenComplete((done, failure) -> actor.unpark());
        while (!over.isDone()) {
            park(actor, RemoteWait.FOREVER);
        }
        join(over);
        if (leads && leader.depositions() < elections) {
            throw new Violation(actor.name() + " has resigned, and isn't told that it is deposed");
        }
    }

    private void park(Actor actor, long nanos) throws InterruptedException {
        actor.park(queue, nanos);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    // Also by a thread that is interrupted: it must not go on while its candidate may be elected.
    private static void awaitEnd(Actor actor, CompletableFuture<Void> ended) {
        boolean wasInterrupted = false;
        while (!ended.isDone()) {
            actor.park(ended, RemoteWait.FOREVER);
            wasInterrupted |= Thread.interrupted();
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void join(CompletableFuture<Void> answer) {
        if (answer.isCompletedExceptionally()) {
            throw (RuntimeException) Failures.of(answer);
        }
    }

    @Override
    public String toString() {
        return queue + ", " + TenureProbe.state(queue) + ", " + candidates;
    }
}
