package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The command that asks for a claim's tickets, or asks how they stand. There is one at a time, and those who come
 * meanwhile share the next: so sequences, which tickets get when they are first sent, reach Redis in their order. Only
 * one that has been silent is sent again, by its next asker, with all that have come since: the first time after a
 * second, since Redis takes a session to be dead that it doesn't hear of, and then after as long as anybody waits for
 * an answer.
 *
 * <p>Guarded by the mutex of the claim.
 */
final class TicketRequest {
    /** After so long without word a waiting thread asks by itself, should the pulse have failed to. */
    static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** An unanswered command is repeated after this long, the first time: its connection may have gone mute. */
    static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Between two attempts of a command that failed. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Takes the reply, or the failure, without the mutex. */
    interface Asker {
        void answered(TicketRequest.Sent sent, @Nullable AcquireReply standing, @Nullable Throwable failure);
    }

    /**
     * What was sent, and when.
     *
     * @param tickets those asked for
     * @param sequences what these had then; a ticket that is over gets another one
     * @param used those that Redis was told of
     * @param nanos when
     */
    record Sent(List<Ticket> tickets, ImmutableLongArray sequences, List<Ticket> used, long nanos) {}

    private final RedisSession session;
    private final LockScripts scripts;
    private final boolean fair;
    private final Asker asker;

    private boolean inFlight;
    private long sentNanos;

    /** If a command is under way: when that began, or when it was last taken to be lost. */
    private long silentSinceNanos;

    /** If a command is under way: whether not for the first time. */
    private boolean repeated;

    private long pollAtNanos;

    /** TicketQueue served on the tenure of another one, of which Redis doesn't know yet. */
    private final List<Ticket> used = new ArrayList<>();

    TicketRequest(RedisSession session, LockScripts scripts, boolean fair, Asker asker) {
        this.session = session;
        this.scripts = scripts;
        this.fair = fair;
        this.asker = asker;
    }

    boolean inFlight() {
        return inFlight;
    }

    /** Returns whether there has been no answer for so long that the command is to be repeated. */
    boolean isSilent(long now) {
        return inFlight && now - repeatAtNanos() >= 0;
    }

    private long repeatAtNanos() {
        long silenceNanos = session.settings().silenceNanos();
        return silentSinceNanos + (repeated ? silenceNanos : Math.min(REPEAT_NANOS, silenceNanos));
    }

    /** Returns whether it is time to ask again. */
    boolean isDue(long now) {
        return now - pollAtNanos >= 0 || isSilent(now);
    }

    /** Returns when it will be, unless there is an answer before. */
    long dueNanos() {
        return inFlight ? repeatAtNanos() : pollAtNanos;
    }

    /** Sets the time to ask again. */
    void dueAt(long nanos) {
        pollAtNanos = nanos;
    }

    /** Adds to what Redis is told of with the next command. */
    void used(Ticket ticket) {
        used.add(ticket);
    }

    /** Returns what Redis doesn't know to be used, and forgets it. */
    List<Ticket> drainUsed() {
        List<Ticket> drained = List.copyOf(used);
        used.clear();
        return drained;
    }

    /**
     * Sends the command, for at least one ticket.
     *
     * @param knowsAll whether this session can't own the name by a sequence of which it doesn't know yet
     */
    void send(List<Ticket> tickets, long floor, boolean knowsAll, long now) {
        repeated = isSilent(now) || (inFlight && repeated);
        if (inFlight && now - silentSinceNanos >= session.settings().silenceNanos()) {
            session.outage().failed(silentSinceNanos, new RedisUnavailableException("no answer", null));
            silentSinceNanos = now;
        } else if (!inFlight) {
            silentSinceNanos = now;
        }
        Ticket first = tickets.get(0);
        boolean isNew = first.sequence == 0;
        for (Ticket ticket : tickets) {
            if (ticket.sequence == 0) {
                ticket.sequence = session.nextSequence();
            }
        }
        inFlight = true;
        sentNanos = now;
        pollAtNanos = now + POLL_NANOS;
        ImmutableLongArray sequences =
                ImmutableLongArray.copyOf(tickets.stream().mapToLong(ticket -> ticket.sequence));
        Sent sent = new Sent(tickets, sequences, List.copyOf(used), now);
        long earlier = first.from != 0 ? first.from : fair || !knowsAll ? LockScripts.LEFT_ALONE : LockScripts.ENDED;
        CompletableFuture<AcquireReply> reply = isNew
                ? scripts.takeOrAcquire(tickets, earlier, floor, sent.used)
                : scripts.acquire(tickets, earlier, floor, sent.used);
        reply.whenComplete((standing, failure) -> asker.answered(sent, standing, failure));
    }

    /** Takes note of an answer. Returns what no repetition will mend. */
    @Nullable
    Throwable answered(Sent sent, @Nullable AcquireReply standing, @Nullable Throwable failure, long now) {
        boolean isLatest = sentNanos == sent.nanos;
        inFlight &= !isLatest;
        if (standing != null) {
            used.removeAll(sent.used);
            boolean isGranted = standing.status() == LockScripts.Status.GRANTED;
            if (isLatest) {
                long ttlNanos = TimeUnit.MILLISECONDS.toNanos(isGranted ? 0 : standing.ttlMillis() + 1);
                pollAtNanos = now + (ttlNanos > 0 ? Math.min(POLL_NANOS, ttlNanos) : POLL_NANOS);
            }
            return null;
        }
        if (failure == null || Failures.isTransient(failure)) {
            pollAtNanos = isLatest ? now + RETRY_NANOS : pollAtNanos;
            return null;
        }
        return Failures.cause(failure);
    }
}
