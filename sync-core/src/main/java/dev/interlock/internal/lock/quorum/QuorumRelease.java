package dev.interlock.internal.lock.quorum;

import dev.interlock.internal.lock.quorum.QuorumScripts.Released;
import dev.interlock.internal.session.Backlog.Entry;
import dev.interlock.internal.session.QuorumNode;
import dev.interlock.internal.session.QuorumSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives up everywhere whatever a sequence and those before it have, or may get by a command that is still on its way.
 * Repeated at each node, by its backlog, until that has confirmed it or no lease that was asked for can last any
 * longer.
 */
final class QuorumRelease {
    private static final Logger log = LoggerFactory.getLogger(QuorumRelease.class);

    /** How it stands with one node. Guarded by the withdrawal. */
    private final class Leave implements Entry {
        private final QuorumNode node;
        private long sentNanos;
        private boolean isUnderWay;
        private boolean isOver;

        /** Sent while the session was being closed: that doesn't wait for another attempt. */
        private boolean isLast;

        Leave(QuorumNode node) {
            this.node = node;
        }

        @Override
        public boolean isOver() {
            if (!everywhere.isDone() && (superseded || !isWorthwhile())) {
                end();
            }
            synchronized (QuorumRelease.this) {
                return isOver || everywhere.isDone();
            }
        }

        @Override
        public boolean isDue(long now) {
            synchronized (QuorumRelease.this) {
                return !isUnderWay || now - sentNanos >= session.settings().silenceNanos();
            }
        }

        @Override
        public CompletableFuture<Released> send() {
            synchronized (QuorumRelease.this) {
                sentNanos = session.now();
                isUnderWay = true;
                isLast = session.isClosed();
            }
            return scripts.release(node, sequence, leaseMillis, true)
                    .whenComplete((released, failure) -> answered(this, released, failure));
        }
    }

    /** What a majority has said about it. */
    enum Verdict {
        /** The session owned the name until then. */
        OWNED,
        /** It didn't. */
        LOST
    }

    private final QuorumSession session;
    private final QuorumScripts scripts;
    private final long sequence;
    private final long leaseMillis;
    private final long deadlineNanos;
    private final List<Leave> leaves;
    private final int majority;
    private final CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    private final CompletableFuture<Void> everywhere = new CompletableFuture<>();

    /** Whether a later one says the same, and more. */
    private volatile boolean superseded;

    private int owned;
    private int lost;
    private int over;
    private long waiters;

    QuorumRelease(QuorumSession session, QuorumScripts scripts, long sequence, long leaseMillis) {
        this.session = session;
        this.scripts = scripts;
        this.sequence = sequence;
        this.leaseMillis = leaseMillis;
        this.deadlineNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.leaves = session.nodes().stream().map(Leave::new).toList();
        this.majority = leaves.size() / 2 + 1;
    }

    QuorumRelease begin() {
        session.expect(this, everywhere);
        for (Leave leave : leaves) {
            leave.send();
            leave.node.backlog().add(leave);
        }
        return this;
    }

    /** Returns for how long it may be worthwhile yet; 0 if it is done. */
    long leaseLeftMillis() {
        return everywhere.isDone() ? 0 : Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - session.now()));
    }

    /** Leaves it to a later one to go on. */
    void supersede() {
        superseded = true;
    }

    /** Completes when it is known whether the session owned the name; fails if that can't be known. */
    CompletableFuture<Verdict> verdict() {
        return verdict;
    }

    /** Completes when all nodes have confirmed it, or it isn't worthwhile any more. */
    CompletableFuture<Void> everywhere() {
        return everywhere;
    }

    /** Returns whether other sessions wait, as far as is known. */
    synchronized boolean isWaitedFor() {
        return waiters > 0;
    }

    private void answered(Leave leave, @Nullable Released released, @Nullable Throwable failure) {
        boolean isLast;
        Verdict reached;
        synchronized (this) {
            leave.isUnderWay = false;
            if (leave.isOver) {
                return;
            }
            if (released != null) {
                waiters = Math.max(waiters, released.waiters());
                if (released.owned()) {
                    owned++;
                } else {
                    lost++;
                }
            } else if (failure != null && !leave.isLast && isWorthwhile()) {
                return;
            } else if (failure != null && !session.isClosed()) {
                log.warn("A quorum lock could not be released at a node: {}", Failures.brief(failure));
            }
            leave.isOver = true;
            over++;
            isLast = over == leaves.size();
            reached = reached();
        }
        if (released != null) {
            leave.node.backlog().heard();
        }
        if (reached != null) {
            verdict.complete(reached);
        }
        if (isLast) {
            end();
        }
    }

    private @Nullable Verdict reached() {
        if (owned >= majority) {
            return Verdict.OWNED;
        }
        return lost > leaves.size() - majority ? Verdict.LOST : null;
    }

    private void end() {
        verdict.completeExceptionally(new IllegalStateException("no majority has confirmed it"));
        everywhere.complete(null);
    }

    private boolean isWorthwhile() {
        return session.now() - deadlineNanos < 0;
    }
}
