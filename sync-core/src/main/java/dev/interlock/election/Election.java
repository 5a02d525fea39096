package dev.interlock.election;

import dev.interlock.RedisUnavailableException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The election of a leader among candidates of all JVMs. Obtained from {@link dev.interlock.Interlock#election}.
 *
 * <pre>{@code
 * Candidate candidate = interlock.election("scheduler").run(term -> {
 *     while (true) {
 *         Job job = jobs.take();
 *         store.save(job.result(), term.fencingToken());
 *     }
 * });
 * }</pre>
 *
 * <p>At most one candidate has a {@linkplain Term#isValid() valid} term at a time. A leader leads until it resigns,
 * withdraws, or loses its lease: its JVM has died, or couldn't reach Redis for as long as the lease. Candidates queue,
 * and are elected in the order in which Redis has heard of them. Those of one session have one place in that queue.
 *
 * <p>Leadership is a {@linkplain dev.interlock.Hold hold} of the name {@code election:} + the name of the election.
 * Under that name {@link dev.interlock.ops.Operator} sees the leader and the candidates that wait, and can depose the
 * leader.
 *
 * <p>Objects of this type are immutable, and may be used by any number of threads.
 */
public interface Election {
    /** The hold of an election is named by this prefix and the name of the election. */
    String PREFIX = "election:";

    /** Returns the name of the election. */
    String name();

    /**
     * Returns an equivalent object whose candidates carry the given text, which operators and {@link #leader()} see.
     *
     * @param candidate 1 to 1,024 bytes in UTF-8, such as {@code node 3}
     * @throws IllegalArgumentException if it is empty or too long
     */
    Election as(String candidate);

    /**
     * Stands for election with work to do while leading. It is called in a thread of its own each time the candidate is
     * elected. The thread is interrupted when the term ends.
     *
     * <p>If the work returns or throws, that ends the term. What it throws is logged. A second later the candidate
     * stands again, at the end of the queue. To lead no more, {@linkplain Candidate#close() close} the candidate.
     *
     * <p>The name passes to the next candidate only when the work has returned, unless the term was lost or the session
     * is closed. This candidate doesn't stand again before, either: its terms never overlap. Work that ignores
     * interrupts keeps others from being elected after a resignation.
     *
     * @param work the work
     * @return a new candidate, which stands until it is closed
     * @throws RedisUnavailableException as {@link dev.interlock.Interlock#holds()}
     * @throws IllegalStateException if the session is closed
     */
    Candidate run(TermTask work);

    /**
     * Stands for election with a listener, which is called in a thread of its own. After a term the candidate stands
     * again once {@link TermListener#deposed} has returned, at the end of the queue: at once, or a second later if
     * {@link TermListener#elected} has thrown. If the term wasn't lost, the name passes to the next candidate at that
     * moment.
     *
     * @param listener the listener
     * @return a new candidate, which stands until it is closed
     * @throws RedisUnavailableException as {@link dev.interlock.Interlock#holds()}
     * @throws IllegalStateException if the session is closed
     */
    Candidate stand(TermListener listener);

    /**
     * Asks who leads now. The session needs no candidate. Like {@link dev.interlock.ops.Operator#inspect}, it asks
     * Redis and, through it, all sessions. Sessions that don't answer cost a second.
     *
     * @return the leader as of a moment ago; nothing if there is none, or leadership is being passed on
     * @throws RedisUnavailableException if Redis doesn't answer
     * @throws IllegalStateException if the session is closed
     */
    Optional<Leader> leader();

    /**
     * A leader.
     *
     * @param session the id of the session
     * @param sessionName the name of the session, or null if that isn't known
     * @param candidate the text of {@link #as}; null if there is none, or the session doesn't answer
     * @param token the fencing token of its term; 0 if the session doesn't answer, as when its JVM has died and its
     *     lease isn't over
     * @param age for how long it has led, within a second; null if that isn't known
     */
    record Leader(
            String session,
            @Nullable String sessionName,
            @Nullable String candidate,
            long token,
            @Nullable Duration age) {}
}
