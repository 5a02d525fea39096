package dev.interlock.spring;

import java.util.concurrent.Callable;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.web.context.request.async.WebAsyncTask;

/**
 * Follows a task with settings of its own, which are known only when the method has run. So the method runs without the
 * guard, and only the task with it. If its time is over, Spring MVC interrupts the thread; the grant lasts until the
 * task has returned all the same.
 */
final class WebTaskFollowing implements Following {
    private final CallableFollowing tasks;

    WebTaskFollowing(AnnotatedMethod method, boolean checked) {
        this.tasks = new CallableFollowing(method, checked);
    }

    @Override
    public @Nullable Object run(MethodInvocation call, Guard guard) {
        Object task = AnnotationAdvisor.proceed(call);
        return task == null ? null : guarded(guard, (WebAsyncTask<?>) task);
    }

    /** Returns the same task, with its callbacks, which only a proxy can have. */
    private Object guarded(Guard guard, WebAsyncTask<?> task) {
        Callable<?> guarded = tasks.guarded(guard, task.getCallable());
        var proxy = new ProxyFactory(task);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor)
                called -> called.getMethod().getName().equals("getCallable") ? guarded : called.proceed());
        return proxy.getProxy(task.getClass().getClassLoader());
    }
}
