package dev.interlock.simulation;

import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.redis.Script;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sees whether threads are told that Redis refuses what they wait for, and does so for good. */
final class Refusals {
    /** By then a thread has been told, even if the lease of its session has to end first. */
    private static final long PATIENCE_NANOS = 40_000_000_000L;

    /** A session asks that often on behalf of those that wait. */
    private static final long FRESH_NANOS = 5_000_000_000L;

    /** What a session says about a name by a script. */
    private record Question(String session, String name, String script) {}

    /** Since when each is refused, and when it was last. */
    private record Refused(long sinceNanos, long lastNanos) {}

    private final Scheduler scheduler;
    private final Map<Question, Refused> refused = new HashMap<>();

    Refusals(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    private static Question question(String session, Script.Call call) {
        String key = call.keys().get(0);
        int at = key.indexOf(SimulatedSession.NAME);
        String name = at < 0 ? "" : key.substring(at, at + SimulatedSession.NAME.length() + 1);
        return new Question(session, name, call.script().toString().replace("lock/take", "lock/acquire"));
    }

    /** Redis has refused what will be refused again. */
    void refused(String session, Script.Call call) {
        long now = scheduler.nanos();
        refused.merge(
                question(session, call),
                new Refused(now, now),
                (before, again) -> new Refused(before.sinceNanos, again.lastNanos));
    }

    /** Redis has done what it was told. */
    void answered(String session, Script.Call call) {
        refused.remove(question(session, call));
    }

    /** Throws if a thread still waits for what is refused. */
    void check(Worker worker, Kind kind) {
        Object blocker = worker.actor().isParked() ? worker.actor().blocker() : null;
        String script = worker.actor().isParked() ? script(kind, blocker) : null;
        String session = worker.sessionId() + (blocker instanceof HoldQueue ? "-h" : "");
        Refused found = script == null
                ? null
                : refused.get(new Question(session, SimulatedSession.name(worker.subject()), script));
        long now = scheduler.nanos();
        if (found != null
                && now - found.lastNanos < FRESH_NANOS
                && now - Math.max(found.sinceNanos, worker.calledNanos()) > PATIENCE_NANOS) {
            throw new Violation(
                    worker.actor().name() + " isn't told that Redis refuses " + script + ": " + worker.state());
        }
    }

    /** Returns by what a session asks for that which a thread waits for. */
    private static @Nullable String script(Kind kind, @Nullable Object blocker) {
        String waitsFor = blocker == null ? "" : blocker.getClass().getSimpleName();
        return switch (kind) {
            case SEMAPHORE, FAIR_SEMAPHORE -> "semaphore/tell";
            case HELD_PERMITS -> null;
            case LATCH -> "latch/tell";
            case BARRIER -> "barrier/meet";
            case RATE_LIMITER -> "ratelimit/decide";
            case QUORUM_LOCK -> null;
            default ->
                switch (waitsFor) {
                    case "ScriptConditions" -> "lock/await";
                    case "ScriptLock", "ScriptReadWriteLock", "HoldQueue" -> "lock/acquire";
                    default -> null;
                };
        };
    }
}
