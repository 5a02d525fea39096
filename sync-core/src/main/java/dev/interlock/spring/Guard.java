package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.Hold;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks for the lock, run or permit that an annotation demands for one call of a method. */
interface Guard {
    /**
     * Waits in the current thread, which runs the work and ends the grant.
     *
     * @return null if the method isn't to be run
     */
    @Nullable
    Grant take();

    /** Returns the failure of a call whose thread was interrupted while it waited. */
    default RuntimeException interrupted(Exception cause) {
        return new IllegalStateException("the thread was interrupted while it waited", cause);
    }

    /**
     * Asks without blocking. The receiver is told once, by any thread.
     *
     * @return a future whose cancellation withdraws the request, if that can be withdrawn. It has no effect once the
     *     receiver has been told
     */
    Future<?> ask(Receiver receiver);

    /** The run that has asked. Its methods don't throw. */
    interface Receiver {
        void granted(Grant grant);

        /** The method isn't to be run. */
        void skipped();

        /** The method can't be run, or the request has been withdrawn. */
        void failed(Throwable failure);
    }

    /** A lock, run or permit that was granted to one run of the method. */
    @FunctionalInterface
    interface Grant {
        /**
         * Gives it back, once. Doesn't wait for that, unless the annotation needs it to be confirmed.
         *
         * @throws dev.interlock.LeaseLostException if it was lost during the run
         */
        void end();

        /** As {@link #end()}, without blocking. */
        default CompletionStage<Void> endLater() {
            try {
                end();
                return CompletableFuture.completedFuture(null);
            } catch (RuntimeException | Error e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    }

    /**
     * Tells the receiver of a hold that has been asked for.
     *
     * @param busy the failure of a run that doesn't get it in time; null if it is skipped
     */
    static Future<?> ask(
            Supplier<CompletableFuture<Optional<Hold>>> request,
            @Nullable Supplier<? extends RuntimeException> busy,
            Receiver receiver) {
        CompletableFuture<Optional<Hold>> asked;
        try {
            asked = request.get();
        } catch (RuntimeException e) {
            asked = CompletableFuture.failedFuture(e);
        }
        asked.whenComplete((hold, failure) -> {
            if (failure != null) {
                receiver.failed(requireNonNull(unwrapped(failure)));
            } else if (hold.isPresent()) {
                receiver.granted(hold.get()::close);
            } else if (busy != null) {
                receiver.failed(busy.get());
            } else {
                receiver.skipped();
            }
        });
        return asked;
    }

    /** Returns the failure of a run: that of the work comes first, and has the other one as a suppressed exception. */
    static @Nullable Throwable failureOf(@Nullable Throwable work, @Nullable Throwable end) {
        Throwable first = work == null ? end : work;
        if (first != null && end != null && first != end) {
            first.addSuppressed(end);
        }
        return first;
    }

    /** Returns what a stage has failed with. */
    static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
