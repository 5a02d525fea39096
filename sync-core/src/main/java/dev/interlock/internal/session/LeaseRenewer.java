package dev.interlock.internal.session;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Participant.Renewal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a session's leases renewed while they last, and those noticed that are over. How time passes and who is asked is
 * given to it.
 *
 * @param settings what its session was configured with
 * @param reports runs users' listeners
 */
public record LeaseRenewer(Settings settings, Timer timer, Sender sender, Executor reports) {
    /** Sends commands. */
    @FunctionalInterface
    public interface Sender {
        /** Sends commands in as few round trips as possible. */
        List<CompletableFuture<List<Object>>> runAll(List<Call> calls);
    }

    /** Runs tasks later. */
    @FunctionalInterface
    public interface Timer {
        /** Runs a task that doesn't block, unless the session is closed before. */
        @CanIgnoreReturnValue
        Scheduled schedule(Runnable task, long millis);
    }

    /** A task that is to run later. */
    @FunctionalInterface
    public interface Scheduled {
        /** Forgets it, unless it runs already. */
        void cancel();
    }

    private static final Logger log = LoggerFactory.getLogger(LeaseRenewer.class);
    private static final RareLog REFUSED = new RareLog();

    /** Returns the ticker's reading. */
    public long now() {
        return settings.ticker().getAsLong();
    }

    /** Runs a task that doesn't block, unless the session is closed before. */
    @CanIgnoreReturnValue
    public Scheduled schedule(Runnable task, long millis) {
        return timer.schedule(task, millis);
    }

    /** Comes by: has every stake look after itself, and renews those that are due, together. */
    public void keep(Collection<? extends Participant> stakes) {
        long now = settings.suspensions().look();
        List<Renewal> due = new ArrayList<>();
        for (Participant stake : stakes) {
            Session.guarded(() -> {
                        Renewal renewal = stake.keep(now);
                        if (renewal != null) {
                            due.add(renewal);
                        }
                    })
                    .run();
        }
        renew(due);
    }

    /** Sends renewals. */
    public void renew(List<Renewal> due) {
        if (due.isEmpty()) {
            return;
        }
        List<CompletableFuture<List<Object>>> replies =
                sender.runAll(due.stream().map(Renewal::call).toList());
        for (int i = 0; i < due.size(); i++) {
            Renewal renewal = due.get(i);
            // whenComplete would wrap each failure in an exception, with a stack trace that nobody reads.
            var unused = replies.get(i).handle((reply, failure) -> {
                renewal.outcome().accept(reply, failure);
                return null;
            });
        }
    }

    /** Tells the session's listener of a renewal. */
    public void renewed(String name, long leftNanos) {
        reports.execute(() -> settings.listener().renewed(name, leftNanos));
    }

    /**
     * Tells the session's listener of a renewal that failed, and the log unless that is told of the outage, for all
     * names together.
     */
    public void renewalFailed(String name, long leftNanos, Throwable cause) {
        reports.execute(() -> {
            // In an outage all names fail, again and again: a message is built only if it is logged.
            if (!Failures.isTransient(cause)) {
                REFUSED.say(name, often -> log.warn("{}{}", failed(name, leftNanos, cause), often));
            } else if (log.isDebugEnabled()) {
                log.debug(failed(name, leftNanos, cause));
            }
            settings.listener().renewalFailed(name, leftNanos, cause);
        });
    }

    private static String failed(String name, long leftNanos, Throwable cause) {
        return "The lease of " + Names.quoted(name) + " was not renewed, " + leftNanos / 1_000_000 + " ms are left: "
                + Failures.brief(cause);
    }
}
