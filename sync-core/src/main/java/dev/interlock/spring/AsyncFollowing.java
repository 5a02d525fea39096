package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.spring.Guard.Grant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Follows the future of a method that Spring runs in a thread for {@code @Async}. Spring waits for it in that thread
 * anyway, so the wait takes place inside the guard. An interrupt of the thread cancels the future.
 */
final class AsyncFollowing implements Following {
    private final AnnotatedMethod method;

    AsyncFollowing(AnnotatedMethod method) {
        this.method = method;
    }

    @Override
    public @Nullable Object run(MethodInvocation call, Guard guard) {
        Grant grant = guard.take();
        if (grant == null) {
            return CompletableFuture.completedFuture(method.nothingInside());
        }
        return Following.under(grant, () -> {
            Object result = AnnotationAdvisor.proceed(call);
            if (result != null) {
                await(result instanceof CompletionStage<?> stage ? stage.toCompletableFuture() : (Future<?>) result);
            }
            return result;
        });
    }

    private void await(Future<?> future) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    method.checkedResult(future.get());
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                    future.cancel(true);
                } catch (ExecutionException e) {
                    throw AnnotationAdvisor.<RuntimeException>unchecked(requireNonNull(e.getCause()));
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
