package dev.interlock.internal.lock.quorum;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.lock.quorum.QuorumScripts.Released;
import dev.interlock.internal.redis.Failures;
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
 * Releases at all nodes what a sequence and those before it own, or may yet get by a command that is on its way. Each
 * node's backlog repeats the command until the node has confirmed it, or no lease that was asked for can last any
 * longer.
 */
final class QuorumRelease {
    private static final Logger log = LoggerFactory.getLogger(QuorumRelease.class);

    /** The release at one node. */
    private final class NodeRelease implements Entry {
        private final QuorumNode node;

        @GuardedBy("QuorumRelease.this")
        private long sentNanos;

        @GuardedBy("QuorumRelease.this")
        private boolean isInFlight;

        @GuardedBy("QuorumRelease.this")
        private boolean isOver;

        /** Sent while the session was being closed, which doesn't wait for another attempt. */
        @GuardedBy("QuorumRelease.this")
        private boolean isLast;

        NodeRelease(QuorumNode node) {
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
                return !isInFlight || now - sentNanos >= session.settings().silenceNanos();
            }
        }

        @Override
        public CompletableFuture<Released> send() {
            synchronized (QuorumRelease.this) {
                sentNanos = session.now();
                isInFlight = true;
                isLast = session.isClosed();
            }
            return scripts.release(node, sequence, leaseMillis, true).whenComplete(this::answered);
        }

        private void answered(@Nullable Released released, @Nullable Throwable failure) {
            boolean isEverywhere;
            Verdict reached;
            synchronized (QuorumRelease.this) {
                isInFlight = false;
                if (isOver || (released == null && isRepeated(failure))) {
                    return;
                }
                count(released);
                isOver = true;
                over++;
                isEverywhere = over == nodes.size();
                reached = reached();
            }
            if (released != null) {
                node.backlog().heard();
            }
            if (reached != null) {
                verdict.complete(reached);
            }
            if (isEverywhere) {
                end();
            }
        }

        @GuardedBy("QuorumRelease.this")
        private boolean isRepeated(@Nullable Throwable failure) {
            boolean isRepeated = failure != null && !isLast && isWorthwhile();
            if (failure != null && !isRepeated && !session.isClosed()) {
                log.warn("A quorum lock could not be released at a node: {}", Failures.brief(failure));
            }
            return isRepeated;
        }
    }

    /** What a majority of the nodes has answered. */
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
    private final List<NodeRelease> nodes;
    private final int majority;
    private final CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    private final CompletableFuture<Void> everywhere = new CompletableFuture<>();

    /** Whether a later release includes this one. */
    private volatile boolean superseded;

    @GuardedBy("this")
    private int owned;

    @GuardedBy("this")
    private int lost;

    @GuardedBy("this")
    private int over;

    @GuardedBy("this")
    private long waiters;

    QuorumRelease(QuorumSession session, QuorumScripts scripts, long sequence, long leaseMillis) {
        this.session = session;
        this.scripts = scripts;
        this.sequence = sequence;
        this.leaseMillis = leaseMillis;
        this.deadlineNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.nodes = session.nodes().stream().map(NodeRelease::new).toList();
        this.majority = session.majority();
    }

    /** Sends it to all nodes. */
    QuorumRelease begin() {
        session.expect(this, everywhere);
        for (NodeRelease release : nodes) {
            release.send();
            release.node.backlog().add(release);
        }
        return this;
    }

    /** Returns for how long it may have to be repeated yet; 0 if it is done. */
    long leaseLeftMillis() {
        return everywhere.isDone() ? 0 : Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - session.now()));
    }

    /** Ends it, since a later release includes it. */
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

    @GuardedBy("this")
    private void count(@Nullable Released released) {
        if (released == null) {
            return;
        }
        waiters = Math.max(waiters, released.waiters());
        if (released.owned()) {
            owned++;
        } else {
            lost++;
        }
    }

    @GuardedBy("this")
    private @Nullable Verdict reached() {
        if (owned >= majority) {
            return Verdict.OWNED;
        }
        return lost > nodes.size() - majority ? Verdict.LOST : null;
    }

    private void end() {
        verdict.completeExceptionally(new IllegalStateException("no majority has confirmed it"));
        everywhere.complete(null);
    }

    private boolean isWorthwhile() {
        return session.now() - deadlineNanos < 0;
    }
}
