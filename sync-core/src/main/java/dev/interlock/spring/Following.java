package dev.interlock.spring;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;

/**
 * Runs a method with a guard that lasts until its work is over, which is followed by the object that the method
 * returns. There is an implementation for each kind of such objects, and one instance for each method.
 */
@FunctionalInterface
interface Following {
    /** Whether a class is on the class path. */
    private static boolean isPresent(String name) {
        return ClassUtils.isPresent(name, Following.class.getClassLoader());
    }

    /** Classes that may not be there. */
    boolean REACTOR = isPresent("reactor.core.publisher.Mono");

    boolean COROUTINES = REACTOR && isPresent("kotlinx.coroutines.reactor.MonoKt");

    boolean WEB = isPresent("org.springframework.web.context.request.async.DeferredResult");

    /**
     * Returns how the work of a method is followed, by its declared type.
     *
     * @throws IllegalStateException if it begins work that can't be followed
     */
    static Following of(AnnotatedMethod method) {
        Following deferred = deferred(method);
        method.checkWork(deferred != null);
        return deferred == null ? immediate(method, true) : deferred;
    }

    /** Returns the same for a guard that is needed only to begin the work: that of a method which begins it at once. */
    static Following ofBeginning(AnnotatedMethod method) {
        Following onDemand = onDemand(method, false);
        return onDemand == null ? immediate(method, false) : onDemand;
    }

    private static @Nullable Following deferred(AnnotatedMethod method) {
        Class<?> type = method.result().toClass();
        boolean isStage = CompletionStage.class.isAssignableFrom(type);
        if (method.isAsync() && (isStage || Future.class.isAssignableFrom(type))) {
            return new AsyncFollowing(method);
        } else if (isStage && type.isAssignableFrom(CompletableFuture.class)) {
            return new StageFollowing(method);
        } else if (WEB && type == DeferredResult.class) {
            return new DeferredResultFollowing(method);
        }
        return onDemand(method, true);
    }

    /**
     * Of work that begins when somebody asks for it, after the method has returned.
     *
     * @param checked whether a result that is, or contains, other work is refused
     */
    private static @Nullable Following onDemand(AnnotatedMethod method, boolean checked) {
        Class<?> type = method.result().toClass();
        if (method.suspends()) {
            return COROUTINES ? PublisherFollowing.ofSuspended(method, checked) : null;
        } else if (type == Callable.class) {
            return new CallableFollowing(method, checked);
        } else if (WEB && WebAsyncTask.class.isAssignableFrom(type)) {
            return new WebTaskFollowing(method, checked);
        }
        return REACTOR ? PublisherFollowing.of(method, checked) : null;
    }

    /** Returns what the caller of the method gets. */
    @Nullable
    Object run(MethodInvocation call, Guard guard);

    /** The work of this call is over when the method returns. */
    static Following immediate(AnnotatedMethod method, boolean checked) {
        return (call, guard) -> {
            Guard.Grant grant = guard.take();
            if (grant == null) {
                return method.nothing();
            }
            return under(grant, () -> {
                Object result = AnnotationAdvisor.proceed(call);
                return checked ? method.checkedResult(result) : result;
            });
        };
    }

    /** Runs work in the current thread, and ends the grant. */
    static @Nullable Object under(Guard.Grant grant, Callable<? extends @Nullable Object> work) {
        Object result = null;
        Throwable failure = null;
        try {
            result = work.call();
        } catch (Throwable e) {
            failure = e;
        }
        try {
            grant.end();
        } catch (RuntimeException | Error e) {
            failure = Guard.failureOf(failure, e);
        }
        if (failure != null) {
            throw AnnotationAdvisor.<RuntimeException>unchecked(failure);
        }
        return result;
    }

    /** Runs the method. May be called by any thread, and more than once. */
    static @Nullable Object proceedAnywhere(MethodInvocation call) {
        MethodInvocation copy = call instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : call;
        // Aspects further inside look for the invocation in their thread.
        try {
            return ExposeInvocationInterceptor.INSTANCE.invoke(copy);
        } catch (Throwable e) {
            throw AnnotationAdvisor.<RuntimeException>unchecked(e);
        }
    }
}
