package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.spring.Guard.Grant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.DeferredResultProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * Follows a result that Spring MVC waits for. Its callbacks belong to the application and its handler to Spring, so an
 * interceptor of the request learns when the result is set or times out, or the client disconnects. The thread of the
 * request waits for the grant and runs the method.
 */
final class DeferredResultFollowing implements Following {
    private static final Logger log = LoggerFactory.getLogger(DeferredResultFollowing.class);

    private final AnnotatedMethod method;

    DeferredResultFollowing(AnnotatedMethod method) {
        this.method = method;
    }

    @Override
    public @Nullable Object run(MethodInvocation call, Guard guard) {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        Object manager = request == null
                ? null
                : request.getAttribute(WebAsyncUtils.WEB_ASYNC_MANAGER_ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
        if (request == null || !(manager instanceof WebAsyncManager requests)) {
            throw method.refusal(
                    "a DeferredResult can be followed only if Spring MVC waits for it, but the current thread handles"
                            + " no request",
                    null);
        }
        Grant grant = await(guard);
        if (grant == null) {
            var nothing = new DeferredResult<@Nullable Object>();
            nothing.setResult(method.nothingInside());
            return nothing;
        }
        return begin(call, grant, request, requests);
    }

    /** Waits in this thread for a grant that another one ends; null if the method isn't to be run. */
    private @Nullable Grant await(Guard guard) {
        var answer = new Answer();
        Future<?> asked = guard.ask(answer);
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return answer.grant.get();
                } catch (InterruptedException e) {
                    // If it was granted before it could be cancelled, the work runs, and finds the interrupt.
                    isInterrupted = true;
                    asked.cancel(false);
                } catch (CancellationException e) {
                    throw guard.interrupted(e);
                } catch (ExecutionException e) {
                    throw AnnotationAdvisor.<RuntimeException>unchecked(requireNonNull(e.getCause()));
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static final class Answer implements Guard.Receiver {
        private final CompletableFuture<@Nullable Grant> grant = new CompletableFuture<>();

        @Override
        public void granted(Grant granted) {
            grant.complete(granted);
        }

        @Override
        public void skipped() {
            grant.complete(null);
        }

        @Override
        public void failed(Throwable failure) {
            grant.completeExceptionally(failure);
        }
    }

    private @Nullable Object begin(
            MethodInvocation call, Grant grant, RequestAttributes request, WebAsyncManager requests) {
        Object result;
        try {
            result = AnnotationAdvisor.proceed(call);
        } catch (Throwable e) {
            return Following.under(grant, () -> {
                throw AnnotationAdvisor.<RuntimeException>unchecked(e);
            });
        }
        if (result == null) {
            return Following.under(grant, () -> null);
        }
        var run = new Run((DeferredResult<?>) result, grant);
        requests.registerDeferredResultInterceptor(run, run);
        // At the end of the first dispatch; by then Spring waits for this object or never does.
        request.registerDestructionCallback(
                "interlock " + System.identityHashCode(run), run::endIfNotAwaited, RequestAttributes.SCOPE_REQUEST);
        return result;
    }

    private final class Run implements DeferredResultProcessingInterceptor {
        private final DeferredResult<?> work;
        private final AtomicReference<@Nullable Grant> grant;
        private volatile boolean isAwaited;

        Run(DeferredResult<?> work, Grant grant) {
            this.work = work;
            this.grant = new AtomicReference<>(grant);
        }

        @Override
        public <T> void preProcess(NativeWebRequest request, DeferredResult<T> result) {
            isAwaited |= result == work;
        }

        /** The result is replaced by what this throws. */
        @Override
        public <T> void postProcess(NativeWebRequest request, DeferredResult<T> result, @Nullable Object value) {
            if (result == work) {
                end(value);
            }
        }

        @Override
        public <T> void afterCompletion(NativeWebRequest request, DeferredResult<T> result) {
            endWithoutResult();
        }

        void endIfNotAwaited() {
            if (isAwaited) {
                return;
            }
            if (!work.isSetOrExpired()) {
                log.warn(
                        "{} has returned a DeferredResult that Spring MVC doesn't wait for; its work isn't protected"
                                + " any longer",
                        method);
            }
            endWithoutResult();
        }

        private void endWithoutResult() {
            try {
                end(null);
            } catch (RuntimeException e) {
                log.debug("{} was over by then", method, e);
            }
        }

        private void end(@Nullable Object value) {
            Grant held = grant.getAndSet(null);
            if (held == null) {
                return;
            }
            Throwable thrown = value instanceof Throwable failure ? failure : method.refusalOf(value);
            try {
                held.end();
            } catch (RuntimeException | Error e) {
                thrown = Guard.failureOf(thrown, e);
            }
            if (thrown != null && thrown != value) {
                throw AnnotationAdvisor.<RuntimeException>unchecked(thrown);
            }
        }
    }
}
