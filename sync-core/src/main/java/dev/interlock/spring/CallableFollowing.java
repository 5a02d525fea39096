package dev.interlock.spring;

import dev.interlock.spring.Guard.Grant;
import java.util.concurrent.Callable;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Follows a task: each call of it has a grant of its own, and runs the method and its task in the same thread. */
final class CallableFollowing implements Following {
    private final AnnotatedMethod method;
    private final boolean checked;

    CallableFollowing(AnnotatedMethod method, boolean checked) {
        this.method = method;
        this.checked = checked;
    }

    @Override
    public Object run(MethodInvocation call, Guard guard) {
        return guarded(guard, () -> ((Callable<?>) method.present(Following.proceedAnywhere(call))).call());
    }

    /** Returns a task that runs work in the thread that calls it. */
    Callable<@Nullable Object> guarded(Guard guard, Callable<? extends @Nullable Object> work) {
        return () -> {
            Grant grant = guard.take();
            return grant == null
                    ? method.nothingInside()
                    : Following.under(grant, () -> {
                        Object result = work.call();
                        return checked ? method.checkedResult(result) : result;
                    });
        };
    }
}
