package dev.interlock.internal.session;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A command of Redisson's that has to get through: it is repeated until the lease is over, if it fails by what allows
 * that.
 */
public final class Insistence<T> {
    private static final long RETRY_MILLIS = 200;

    private final RedisSession session;
    private final Supplier<? extends CompletableFuture<T>> command;
    private final Predicate<Throwable> isRepeatable;
    private final long deadlineNanos;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    private Insistence(
            RedisSession session,
            long leaseMillis,
            Supplier<? extends CompletableFuture<T>> command,
            Predicate<Throwable> isRepeatable) {
        this.session = session;
        this.command = command;
        this.isRepeatable = isRepeatable;
        this.deadlineNanos = session.now() + TimeUnit.MILLISECONDS.toNanos(leaseMillis);
    }

    /** Sends a command for the first time. The result is that of the last attempt. */
    public static <T> CompletableFuture<T> on(
            RedisSession session,
            long leaseMillis,
            Supplier<? extends CompletableFuture<T>> command,
            Predicate<Throwable> isRepeatable) {
        var insistence = new Insistence<>(session, leaseMillis, command, isRepeatable);
        insistence.send();
        return insistence.result;
    }

    private void send() {
        command.get().whenComplete((value, failure) -> {
            if (failure == null) {
                result.complete(value);
            } else if (isRepeatable.test(failure) && session.now() - deadlineNanos < 0 && !session.isClosed()) {
                session.schedule(this::sendAgain, RETRY_MILLIS);
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    private void sendAgain() {
        if (!result.isDone()) {
            send();
        }
    }
}
