package dev.interlock.spring;

import dev.interlock.spring.Guard.Grant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a stage. The caller gets a future at once. The method runs when the grant is there, in the thread that brings
 * it, and the grant lasts until the method's own stage is done. Completing the caller's future in any other way, such
 * as by cancelling it, withdraws the request or cancels the method's stage.
 */
final class StageFollowing implements Following {
    private static final Logger log = LoggerFactory.getLogger(StageFollowing.class);

    private final AnnotatedMethod method;

    StageFollowing(AnnotatedMethod method) {
        this.method = method;
    }

    @Override
    public Object run(MethodInvocation call, Guard guard) {
        var run = new Run(call);
        Future<?> asked = guard.ask(run);
        run.result.whenComplete((value, failure) -> asked.cancel(false));
        return run.result;
    }

    private final class Run implements Guard.Receiver {
        private final MethodInvocation call;
        private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

        Run(MethodInvocation call) {
            this.call = call;
        }

        @Override
        public void skipped() {
            result.complete(method.nothingInside());
        }

        @Override
        public void failed(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void granted(Grant grant) {
            if (result.isDone()) {
                end(grant, null, null);
                return;
            }
            CompletionStage<?> stage;
            try {
                stage = (CompletionStage<?>) method.present(Following.proceedAnywhere(call));
                stage.whenComplete((value, failure) -> end(grant, value, Guard.unwrapped(failure)));
            } catch (Throwable e) {
                end(grant, null, e);
                return;
            }
            result.whenComplete((value, failure) -> cancel(stage));
        }

        private void cancel(CompletionStage<?> stage) {
            try {
                stage.toCompletableFuture().cancel(true);
            } catch (UnsupportedOperationException e) {
                log.trace("{} has returned a stage that can't be cancelled, and is held until that is done", method, e);
            }
        }

        private void end(Grant grant, @Nullable Object value, @Nullable Throwable failure) {
            Throwable refusal = failure == null ? method.refusalOf(value) : failure;
            grant.endLater().whenComplete((ended, loss) -> {
                Throwable whole = Guard.failureOf(refusal, Guard.unwrapped(loss));
                if (whole == null) {
                    result.complete(value);
                } else {
                    result.completeExceptionally(whole);
                }
            });
        }
    }
}
