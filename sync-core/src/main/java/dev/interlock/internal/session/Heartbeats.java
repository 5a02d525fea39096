package dev.interlock.internal.session;

import com.google.common.base.Suppliers;
import com.google.common.collect.Lists;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says that a session lives, and of the names for which it waits that it goes on waiting: of many names by one command.
 * The answer tells of each name whether that was all there is to say.
 *
 * <p>A name at which nothing changes costs Redis less: for some seconds the session is silent about it, and only says
 * that it lives, once a second. A grant looks at that, and wakes one of the other silent sessions. The session hears of
 * its own grant by its mailbox; so each heartbeat is also echoed there. A mailbox delivers in order. If the echo is
 * missing, or the mailbox has been opened anew, or Redis had taken the session to be dead, all names are asked about at
 * once.
 */
public final class Heartbeats {
    /**
     * What was said last of a ticket that waits.
     *
     * @param ticket as the script takes it
     * @param ownedUntilNanos when the lease of the other session that owns the name ends, as far as is known
     * @param silentUntilNanos until when the session may be silent about it
     * @param keptUntilNanos until when nothing has to be done for its keys to live on
     */
    public record Word(String ticket, long ownedUntilNanos, long silentUntilNanos, long keptUntilNanos) {}

    /**
     * The answer for one name.
     *
     * @param ttlMillis of the other session that owns it, 0 if the name has to be asked for by a command of its own
     * @param word for the next heartbeat
     */
    public record Answer(long redisMicros, long ttlMillis, Word word) {}

    /** What is to be said of one name. */
    private record Heartbeat(
            Supplier<List<Object>> keys, Word word, boolean isSilent, CompletableFuture<Answer> answer) {}

    /** What the mailbox hears of a heartbeat. */
    private static final class Echo {
        final long number;

        /** Whether it has come in time. */
        final CompletableFuture<Boolean> isHeard = new CompletableFuture<>();

        /** Whether messages may have been lost since that heartbeat. */
        volatile boolean isInDoubt;

        Echo(long number) {
            this.number = number;
        }
    }

    private static final Script BEAT = Script.load("session/beat");
    private static final Script HEARTBEAT = Script.load("lock/heartbeat");

    /** So many names go by one command, which takes Redis half a millisecond, and two if their keys are in no cache. */
    private static final int MOST = 100;

    /** A session is silent about a name for so long at most. */
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** It asks again so long before the lease of the owner ends, when its threads would ask by themselves. */
    private static final long BEFORE_END_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);

    /** It isn't going to be if that lease is about as short as that of a grant, whose session may be dead. */
    private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(4);

    /** The keys of those who wait live for three times as long. */
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** The echo comes about as soon as the reply. */
    private static final long ECHO_MILLIS = 100;

    private final RedisSession session;
    private final Supplier<Boolean> areTogether;

    @GuardedBy("this")
    private List<Heartbeat> heartbeats = new ArrayList<>();

    /** Whether messages may have been lost since the last heartbeat. */
    @GuardedBy("this")
    private boolean isInDoubt;

    private volatile Echo echo = new Echo(0);

    Heartbeats(RedisSession session) {
        this.session = session;
        this.areTogether = Suppliers.memoize(() -> session.runner().routes().size() == 1);
    }

    /** Returns whether one command can speak of many names. In a cluster they are on different nodes. */
    public boolean areTogether() {
        return areTogether.get();
    }

    /**
     * Says soon, together with others, that a ticket waits.
     *
     * @param keys those that the script takes for a name
     * @param last the word in the last answer for this name, if nothing else was said of it since
     */
    public CompletableFuture<Answer> send(Supplier<List<Object>> keys, String ticket, @Nullable Word last) {
        long now = session.now();
        Word known = last != null && last.ticket.equals(ticket) ? last : new Word(ticket, now, now, now);
        boolean isSilent = known.silentUntilNanos - now > 0;
        var answer = new CompletableFuture<Answer>();
        boolean isFirst;
        synchronized (this) {
            isFirst = heartbeats.isEmpty();
            heartbeats.add(new Heartbeat(keys, known, isSilent, answer));
        }
        if (isFirst) {
            session.execute(this::sendAll);
        }
        return answer;
    }

    /** Messages may have been lost: all names are asked about. */
    void doubt() {
        synchronized (this) {
            isInDoubt = true;
            echo.isInDoubt = true;
        }
    }

    /** The mailbox has heard the heartbeat of this number. */
    void heard(long number) {
        Echo expected = echo;
        if (expected.number == number) {
            expected.isHeard.complete(true);
        }
    }

    private void sendAll() {
        List<Heartbeat> spoken;
        List<Heartbeat> silent;
        Echo expected;
        synchronized (this) {
            boolean areAllSpoken = isInDoubt;
            spoken = heartbeats.stream()
                    .filter(one -> areAllSpoken || !one.isSilent)
                    .toList();
            silent = heartbeats.stream()
                    .filter(one -> !areAllSpoken && one.isSilent)
                    .toList();
            heartbeats = new ArrayList<>();
            isInDoubt = false;
            expected = new Echo(echo.number + 1);
            echo = expected;
        }
        beat(silent, expected);
        speak(spoken);
    }

    private void beat(List<Heartbeat> silent, Echo expected) {
        Call call = BEAT.on(List.of(Keys.of("heartbeat", session.id())), session.id(), expected.number);
        session.runner().run(call).whenComplete((reply, failure) -> {
            if (reply == null) {
                silent.forEach(one -> one.answer.completeExceptionally(cause(failure)));
                return;
            }
            if ((Long) reply.get(1) == 0) {
                // It was taken to be dead. The echo may have come before the reply.
                speak(silent);
                return;
            }
            if (!expected.isHeard.isDone()) {
                session.schedule(() -> expected.isHeard.complete(false), ECHO_MILLIS);
            }
            expected.isHeard.thenAccept(isHeard -> {
                if (isHeard && !expected.isInDoubt) {
                    silent.forEach(one -> answer(one, (Long) reply.get(0)));
                } else {
                    speak(silent);
                }
            });
        });
    }

    private void answer(Heartbeat one, long redisMicros) {
        long ttlNanos = one.word.ownedUntilNanos - session.now();
        one.answer.complete(new Answer(redisMicros, Math.max(1, TimeUnit.NANOSECONDS.toMillis(ttlNanos)), one.word));
    }

    private void speak(List<Heartbeat> all) {
        long now = session.now();
        for (List<Heartbeat> part : Lists.partition(all, MOST)) {
            send(part, now).whenComplete((reply, failure) -> {
                for (int i = 0; i < part.size(); i++) {
                    Heartbeat one = part.get(i);
                    if (reply == null) {
                        one.answer.completeExceptionally(cause(failure));
                    } else {
                        long ttlMillis = (Long) reply.get(i + 1);
                        Word next = next(one.word, ttlMillis, now);
                        one.answer.complete(new Answer((Long) reply.get(0), ttlMillis, next));
                    }
                }
            });
        }
    }

    private Word next(Word word, long ttlMillis, long sentNanos) {
        long ttlNanos = Math.min(TimeUnit.MILLISECONDS.toNanos(ttlMillis), 10 * SILENCE_NANOS);
        long most = Math.min(SILENCE_NANOS, ttlNanos - BEFORE_END_NANOS);
        // Names that came together, or are renewed together, must not all be asked about together.
        double share = 0.6 + 0.4 * session.random().nextDouble();
        long silence = isGoingToBeSilent(word, sentNanos) ? (long) (most * share) : 0;
        long kept = isKept(word, sentNanos) ? word.keptUntilNanos : sentNanos + KEPT_NANOS;
        return new Word(word.ticket, sentNanos + ttlNanos, sentNanos + silence, kept);
    }

    // What is said of it then has to last.
    private static boolean isGoingToBeSilent(Word word, long now) {
        return word.ownedUntilNanos - now > SHORT_NANOS;
    }

    private static boolean isKept(Word word, long now) {
        return word.keptUntilNanos - now > 0;
    }

    private static String text(Word word, long now) {
        return (isGoingToBeSilent(word, now) ? "*" : "") + (isKept(word, now) ? "-" : "") + word.ticket;
    }

    private CompletableFuture<List<Object>> send(List<Heartbeat> part, long now) {
        List<Object> keys = new ArrayList<>();
        part.forEach(one -> keys.addAll(one.keys.get()));
        String tickets = part.stream().map(one -> text(one.word, now)).collect(Collectors.joining(" "));
        return session.runner().run(HEARTBEAT.on(keys, session.id(), tickets));
    }

    private static Throwable cause(@Nullable Throwable failure) {
        return failure == null ? new IllegalStateException("no reply") : failure;
    }
}
