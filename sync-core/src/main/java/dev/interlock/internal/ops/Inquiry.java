package dev.interlock.internal.ops;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Presence;
import dev.interlock.internal.ops.Answer.Part;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A question, and what sessions have reported so far: each its parts, in whatever order they arrive. */
final class Inquiry {
    /** A wait is looked at in so many steps, in each of which something may be heard. */
    private static final int STEPS = 4;

    /** A wait goes on while something is heard, for as long as this many waits in which nothing is. */
    private static final int MOST_WAITS = 10;

    private final CompletableFuture<Boolean> complete = new CompletableFuture<>();

    /** The parts of each session that was asked, by their numbers. */
    @GuardedBy("this")
    private final Map<String, TreeMap<Integer, String>> reports = new HashMap<>();

    /** The sessions of which parts are missing. */
    @GuardedBy("this")
    private final Set<String> missing;

    /** The number of the last part of each session that has sent it. */
    @GuardedBy("this")
    private final Map<String, Integer> lasts = new HashMap<>();

    @GuardedBy("this")
    private long heard;

    Inquiry(Set<String> sessions) {
        this.missing = new HashSet<>(sessions);
    }

    synchronized void reported(String from, String text) {
        if (!missing.contains(from)) {
            return;
        }
        Part part = Part.of(text);
        TreeMap<Integer, String> parts = reports.computeIfAbsent(from, first -> new TreeMap<>());
        parts.put(part.number(), text);
        heard++;
        if (part.isLast()) {
            lasts.put(from, part.number());
        }
        Integer last = lasts.get(from);
        if (last != null && parts.size() == last + 1) {
            missing.remove(from);
            completeIfAll();
        }
    }

    /** A session won't report, since Redis has refused the question. */
    void refused(Throwable failure) {
        complete.completeExceptionally(failure);
    }

    private synchronized void completeIfAll() {
        if (missing.isEmpty()) {
            complete.complete(true);
        }
    }

    /**
     * Waits for the reports, until nothing more of them has been heard for so long.
     *
     * @return why Redis has refused the question, or null if it hasn't
     */
    @Nullable
    Throwable await(RedisSession session, long nanos) {
        completeIfAll();
        int quiet = 0;
        for (int step = 0; quiet < STEPS && step < STEPS * MOST_WAITS && !complete.isDone(); step++) {
            long before = heard();
            RemoteWait.forAnswer(session, complete, nanos / STEPS);
            quiet = heard() == before ? quiet + 1 : 0;
        }
        return complete.isCompletedExceptionally() ? Failures.of(complete) : null;
    }

    private synchronized long heard() {
        return heard;
    }

    /** Returns what a session that was asked has said in one part, or null if it hasn't said anything. */
    synchronized @Nullable String report(String id) {
        TreeMap<Integer, String> parts = reports.get(id);
        return parts == null ? null : parts.firstEntry().getValue();
    }

    /** Returns the answer of a session that was asked, though maybe it is silent. */
    synchronized Answer answer(String id, Presence known, String prefix) {
        TreeMap<Integer, String> parts = reports.get(id);
        Collection<String> texts = parts == null ? Set.of() : parts.values();
        return Answer.of(id, known, texts, !missing.contains(id), prefix);
    }
}
