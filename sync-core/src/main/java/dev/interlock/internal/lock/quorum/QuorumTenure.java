package dev.interlock.internal.lock.quorum;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.quorum.QuorumScripts.Kept;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.QuorumNode;
import dev.interlock.internal.session.QuorumSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a session owns a name at a majority of nodes. Each of these is counted on until a local time
 * that lies safely before the end of its lease there; the tenure is valid as long as a majority can be counted on.
 *
 * <p>Renewals go to all nodes. One that nobody owns the name at votes anew, so that a node which was away or has lost
 * its data counts again. But not at once: in between, it may have voted for somebody else. It counts when the next
 * renewal finds the same vote there (told by the token that was drawn with it), as long as the others have been a
 * majority until then.
 */
final class QuorumTenure {

    /** Bits of a fencing token that count the acquisitions of one tenure. */
    private static final int LOCAL_BITS = 14;

    /** From a renewal that failed, or that found a node missing, the next one is so far at most. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A lease so short may be over before the lease renewer comes by. */
    private static final long SHORT_MILLIS = 3_000;

    /** What is known of one node. Guarded by the tenure. */
    private static final class Hold {
        /** The token drawn with its vote, 0 if there is none. */
        private long vote;

        /** Whether it is counted on. */
        private boolean counts;

        private long untilNanos;
    }

    private final QuorumSession session;
    private final Settings settings;
    private final QuorumScripts scripts;
    private final QuorumLock lock;
    private final List<QuorumNode> nodes;
    private final int majority;
    private final List<Hold> holds = new ArrayList<>();

    final long sequence;
    final long leaseMillis;
    final boolean renewed;
    final long startNanos;
    final long remoteToken;

    private volatile long validUntilNanos;
    private volatile boolean ended;
    private final AtomicReference<@Nullable LeaseLostException> loss = new AtomicReference<>();

    /** Guarded by the local half. */
    private long token;

    private final long lastToken;

    private long renewAtNanos;
    private @Nullable Renewal renewal;

    QuorumTenure(QuorumSession session, QuorumScripts scripts, QuorumLock lock, VoteRound round, long remoteToken) {
        this.session = session;
        this.settings = session.settings();
        this.scripts = scripts;
        this.lock = lock;
        this.nodes = session.nodes();
        this.majority = nodes.size() / 2 + 1;
        nodes.forEach(node -> holds.add(new Hold()));
        this.sequence = round.sequence;
        this.leaseMillis = round.leaseMillis;
        this.renewed = round.renewed;
        this.startNanos = session.now();
        this.validUntilNanos = startNanos - 1;
        this.remoteToken = remoteToken;
        this.token = remoteToken << LOCAL_BITS;
        this.lastToken = token + (1L << LOCAL_BITS) - 1;
        // A node that has not voted is asked again soon: until it has, there is one less that may fail.
        this.renewAtNanos = startNanos + retryNanos();
    }

    /** Returns until when a node can be counted on, of whose lease a command that was sent then has heard. */
    static long validity(long sentNanos, long ttlMillis) {
        return sentNanos + TimeUnit.MILLISECONDS.toNanos(ttlMillis - Settings.marginMillis(ttlMillis));
    }

    /** A node has voted before the tenure began. */
    synchronized void votedAtFirst(int node, long vote, long untilNanos) {
        Hold hold = holds.get(node);
        hold.vote = vote;
        hold.counts = true;
        hold.untilNanos = untilNanos;
        validUntilNanos = validUntil();
        if (counted() == nodes.size()) {
            renewAtNanos = startNanos + renewalNanos();
        }
        if (!renewed && leaseMillis < SHORT_MILLIS && counted() == majority) {
            session.schedule(this::expire, leaseMillis);
        }
    }

    /** A node has voted after the tenure began. */
    synchronized void votedLate(int node, long vote) {
        Hold hold = holds.get(node);
        if (!hold.counts) {
            hold.vote = vote;
        }
    }

    boolean isUsable(long nowNanos) {
        return nowNanos - validUntilNanos < 0 && loss.get() == null;
    }

    /** Draws the token of the next acquisition, or returns false if this tenure has none left. */
    boolean drawToken() {
        if (token == lastToken) {
            return false;
        }
        token++;
        return true;
    }

    long token() {
        return token;
    }

    /** It is given up: from now on it can't be lost any more. */
    void end() {
        ended = true;
    }

    private int counted() {
        return (int) holds.stream().filter(hold -> hold.counts).count();
    }

    /** Returns until when a majority can be counted on. */
    private long validUntil() {
        long now = session.now();
        return holds.stream()
                .filter(hold -> hold.counts)
                .map(hold -> hold.untilNanos)
                .sorted(Comparator.comparingLong(until -> now - until))
                .skip(majority - 1L)
                .findFirst()
                .orElse(now - 1);
    }

    // ---- renewal

    /** Notices a lease that is over soon, and renews it when that is due. */
    void keep(long now) {
        if (loss() != null) {
            return;
        }
        // Between two beats would be too late to tell of a loss that can be foreseen.
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(validUntilNanos - now);
        if (leftMillis < SHORT_MILLIS) {
            session.schedule(this::expire, Math.max(0, leftMillis + 1));
        }
        Renewal due;
        synchronized (this) {
            if (!renewed || ended || renewal != null || now - renewAtNanos < 0 || !isUsable(now)) {
                return;
            }
            due = new Renewal(now);
            renewal = due;
        }
        due.begin();
    }

    /** A renewal at all nodes. What it finds missing counts when it ends: then everything is known that can be. */
    private final class Renewal {
        private final long sentNanos;
        private int answered;
        private int kept;
        private boolean over;
        private final List<Integer> missing = new ArrayList<>();
        private @Nullable Throwable failure;

        Renewal(long sentNanos) {
            this.sentNanos = sentNanos;
        }

        void begin() {
            for (int i = 0; i < nodes.size(); i++) {
                int node = i;
                scripts.renew(nodes.get(node), sequence, leaseMillis, remoteToken)
                        .whenComplete((answer, thrown) -> answered(node, answer, thrown));
            }
            session.schedule(this::end, TimeUnit.NANOSECONDS.toMillis(patienceNanos()) + 1);
        }

        private void answered(int node, @Nullable Kept answer, @Nullable Throwable thrown) {
            boolean isLast;
            synchronized (QuorumTenure.this) {
                answered++;
                isLast = answered == nodes.size();
                if (answer == null) {
                    failure = thrown == null ? failure : Failures.cause(thrown);
                } else {
                    take(node, answer);
                }
            }
            if (isLast) {
                end();
            }
        }

        private void take(int node, Kept answer) {
            Hold hold = holds.get(node);
            if (answer.owned() && answer.token() == hold.vote) {
                long until = validity(sentNanos, answer.ttlMillis());
                // What was over in between may have had other owners.
                if (isUsable(session.now())) {
                    hold.untilNanos = hold.counts ? later(hold.untilNanos, until) : until;
                    hold.counts = true;
                    kept++;
                    extend();
                }
                return;
            }
            if (over) {
                miss(node);
            } else {
                missing.add(node);
            }
            // Of a new vote only the next renewal can tell that it lasts.
            hold.vote = answer.owned() ? answer.token() : 0;
        }

        private void miss(int node) {
            holds.get(node).counts = false;
            validUntilNanos = validUntil();
        }

        private void end() {
            int found;
            boolean isLost;
            Throwable cause;
            synchronized (QuorumTenure.this) {
                if (over) {
                    return;
                }
                over = true;
                renewal = null;
                missing.forEach(this::miss);
                found = kept;
                isLost = counted() < majority;
                cause = failure;
                boolean isWhole = found == nodes.size() || (found >= majority && missing.isEmpty() && cause == null);
                renewAtNanos = sentNanos + (found < majority || !isWhole ? retryNanos() : renewalNanos());
            }
            report(found, isLost, cause);
        }

        private void report(int found, boolean isLost, @Nullable Throwable cause) {
            long left = validUntilNanos - session.now();
            if (ended) {
                return;
            }
            if (isLost) {
                lose("no majority of the nodes knows this owner any more");
            } else if (found >= majority) {
                session.listeners().execute(() -> settings.listener().renewed(lock.name(), left));
            } else {
                Throwable known = cause == null ? new IllegalStateException("no answer") : cause;
                session.renewer().renewalFailed(lock.name(), left, known);
            }
        }
    }

    private static long later(long a, long b) {
        return a - b > 0 ? a : b;
    }

    private void extend() {
        validUntilNanos = later(validUntilNanos, validUntil());
    }

    private long renewalNanos() {
        return TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis()) / 3;
    }

    private long retryNanos() {
        return Math.min(RETRY_NANOS, renewalNanos() / 3);
    }

    // Several must fit into what is left of a lease after a third of it.
    private long patienceNanos() {
        return Math.min(settings.silenceNanos(), renewalNanos() / 3);
    }

    // ---- loss

    private void expire() {
        if (!ended && !isUsable(session.now()) && loss() == null) {
            lose("its lease is over");
        }
    }

    /** Marks it lost, and tells the lock the first time. Returns the loss. */
    LeaseLostException lose(String reason) {
        LeaseLostException news = new LeaseLostException(lock.name(), token, reason);
        LeaseLostException known = loss.compareAndExchange(null, news);
        if (known != null) {
            return known;
        }
        lock.lost(news);
        return news;
    }

    @Nullable
    LeaseLostException loss() {
        return loss.get();
    }

    /** Returns how many nodes it counts on. */
    synchronized int strength() {
        return counted();
    }
}
