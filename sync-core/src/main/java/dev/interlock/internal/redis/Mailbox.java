package dev.interlock.internal.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The one channel of a session, on which scripts tell it what other sessions' commands did for it. Nothing depends on a
 * message alone: the pulse finds out by itself what a lost one would have said.
 */
public interface Mailbox {
    /**
     * Opens the mailbox as soon as Redis lets it. A mailbox that could not be opened may be opened anew.
     *
     * @param receiver takes the messages, on threads that must not block
     * @param connected runs when the channel has been connected, maybe not for the first time: messages may be missing
     * @return completes when the mailbox is open
     */
    CompletableFuture<?> open(Consumer<Mail> receiver, Runnable connected);

    /** Gives up an {@link #open} that nobody waits for any more. */
    void abandon();

    /** Closes the mailbox. The result completes when Redis has confirmed. */
    CompletableFuture<?> close();
}
