package dev.interlock.internal.session;

import dev.interlock.internal.Stake;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script.Call;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a session has in a name: it owns it, or waits for it. A session keeps alive those objects that have a stake. */
public interface Participant {
    /**
     * Returns whether this is a lock and a thread has both halves; one that has the local half and waits for the other
     * isn't inside.
     */
    default boolean isInside() {
        return false;
    }

    /** Returns whether this is a lock, and the session has a place in its queue that it must not lose. */
    default boolean isQueued() {
        return false;
    }

    /**
     * A renewal that is due, and who takes its outcome.
     *
     * @param call the command, sent together with those of other names
     * @param outcome takes the reply, or the failure
     */
    record Renewal(Call call, BiConsumer<@Nullable List<Object>, @Nullable Throwable> outcome) {}

    /**
     * Does what the lease renewer has to do: notices a lease that is over, gives up what nobody wants.
     *
     * @return the renewal that is due, if any
     */
    @Nullable
    Renewal keep(long nowNanos);

    /** Asks Redis anew how things stand, if this waits for anything. */
    void pulse();

    /**
     * Takes a message from the mailbox, on a thread that must not block. By default there can't be any, as for objects
     * of Redisson's: no script of ours runs for them.
     */
    default void receive(Mail mail) {
        throw new IllegalStateException("no script of ours runs for it, yet there is " + mail);
    }

    /**
     * Returns what the session has in the name, for operators, or null if that isn't wanted or isn't known. Called on a
     * thread that must not block.
     *
     * @param wanted which names, without namespace
     */
    default @Nullable Stake stake(Predicate<String> wanted) {
        return null;
    }

    /**
     * Returns what threads of this session have, for people; null if they have nothing that the end of the session
     * would take away.
     */
    default @Nullable String held() {
        return null;
    }

    /**
     * Sends away the threads that wait to acquire this, and gives up what no thread has, because the session is about
     * to be closed. It may be called again and again.
     *
     * @return as {@link #held}
     */
    default @Nullable String retire() {
        return held();
    }

    /** Gives everything up because the session is closed. The result completes when Redis has confirmed. */
    CompletableFuture<?> close();
}
