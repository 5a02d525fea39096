package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Taking;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a session wants a semaphore to do once, and can't say as a sum: one after the other, each with a number. The
 * account knows the number and the result of the last one.
 */
public final class Operations {
    /** Those that aren't known to be done. Only the first may have a number, by which it was sent. */
    private final Deque<Operation> queue = new ArrayDeque<>();

    /**
     * One that Redis may have done before it began to refuse commands. The next answer tells whether it took permits.
     * It has ended, and has its number.
     */
    private @Nullable Operation doubtful;

    /** What a thread wants a semaphore to do once. */
    public static final class Operation extends Taking {
        /** The operations that there are. */
        public enum Verb {
            /** Finds out whether there is such a semaphore. */
            JOIN,
            /** Tells how many permits the pool has. It has less than none after a reduction. */
            LOOK,
            /** Takes permits if the pool has them now, even if others wait for them. */
            TAKE,
            /** The same unless other sessions wait. */
            TAKE_IN_TURN,
            /** Takes all permits that the pool has. */
            DRAIN,
            /** Changes how many permits there are in all, and so those in the pool by the difference. */
            RESIZE
        }

        /** Which of them this is. */
        public final Verb verb;

        /** With how many permits, if that matters. */
        public final int amount;

        /**
         * Completes by what the pool has answered: negative if there was nothing to be taken. The thread waits for it,
         * and the owner completes it; no state uses it.
         */
        public final CompletableFuture<Integer> result = new CompletableFuture<>();

        /** Whether that is known, or nobody waits for it any more. Then what the operation takes goes back. */
        private boolean hasEnded;

        /** By which the account knows it; 0 if it was not sent in this epoch. */
        long number;

        /** How many permits the thread has got at once, because the session had them. */
        int fromStock;

        /** Creates one that isn't sent yet. */
        public Operation(Verb verb, int amount) {
            this.verb = verb;
            this.amount = amount;
        }

        /** It ends. Returns false if it had ended before. */
        boolean end() {
            boolean isFirst = !hasEnded;
            hasEnded = true;
            return isFirst;
        }

        /** Returns whether it gives the session permits. */
        boolean takes() {
            return verb == Verb.TAKE || verb == Verb.TAKE_IN_TURN || verb == Verb.DRAIN;
        }

        /** Returns how many permits a result brings. */
        public int brought(long outcome) {
            return takes() ? Math.max(0, Ints.saturatedCast(outcome)) : 0;
        }
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    void add(Operation operation) {
        queue.add(operation);
    }

    /**
     * Returns the one that a command with this version carries: those that were cancelled before are dropped. There is
     * none while one is in doubt, since the account tells only of the last one.
     */
    @Nullable
    Operation next(long version) {
        if (doubtful != null) {
            return null;
        }
        dropCancelled();
        Operation operation = queue.peek();
        if (operation != null && operation.number == 0) {
            operation.number = version;
        }
        return operation;
    }

    private void dropCancelled() {
        while (!queue.isEmpty() && queue.element().number == 0 && queue.element().hasEnded) {
            queue.remove();
        }
    }

    /**
     * Ends the doubt, unless the answer is older than it. Returns the operation if it was done.
     *
     * @param version that of the command
     * @param losing as for {@link #removeDone}
     */
    @Nullable
    Operation removeDoubtful(SemaphoreReply reply, long version, boolean losing) {
        Operation operation = doubtful;
        if (operation == null || version < operation.number) {
            return null;
        }
        doubtful = null;
        return reply.operation() == operation.number && !losing ? operation : null;
    }

    /**
     * Returns the one that the account has done last, if that is the first here. If the account is gone before it has
     * done it, or with what it has taken, it is sent again in the next epoch.
     *
     * @param losing whether the account loses what it has, if only when it is closed
     */
    @Nullable
    Operation removeDone(SemaphoreReply reply, boolean losing) {
        Operation operation = queue.peek();
        if (operation == null || operation.number == 0) {
            return null;
        }
        boolean isLost = losing && operation.takes();
        if (reply.operation() == operation.number && !isLost) {
            return queue.remove();
        }
        if (reply.isGone()) {
            operation.number = 0;
            dropCancelled();
        }
        return null;
    }

    /** Returns the first one if it is a join. */
    @Nullable
    Operation removeJoin() {
        Operation operation = queue.peek();
        return operation != null && operation.verb == Verb.JOIN ? queue.remove() : null;
    }

    /** Nobody waits for the results any more. What is under way may be done all the same. */
    void cancelAll(Consumer<Operation> cancel) {
        queue.forEach(cancel);
        dropCancelled();
    }

    /** Fails all, since Redis refuses the command. The first one may have been done by an earlier command, though. */
    void failAll(Consumer<Operation> fail) {
        Operation first = queue.peek();
        if (first != null && first.number != 0 && first.takes()) {
            doubtful = first;
        }
        queue.forEach(fail);
        queue.clear();
    }
}
