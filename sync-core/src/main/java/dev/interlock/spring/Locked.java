package dev.interlock.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.Ordered;

/**
 * Runs a method of a bean while its thread holds a lock, in whatever JVM.
 *
 * <pre>{@code
 * @Locked(name = "order:#{#id}", waitAtMost = "5s")
 * @Transactional
 * public void ship(long id) {
 *     // one thread of the whole fleet per order
 * }
 * }</pre>
 *
 * <p>The lock is that of {@link dev.interlock.Interlock#lock(String)}: the thread may call other methods with the same
 * name, and obtain the lock for its fencing token. It is released when the method has returned or thrown. It surrounds
 * the transaction of a {@code @Transactional} method, so that it is released after the commit; see {@link #ORDER}. If
 * the caller has begun a transaction before, the lock is released before that one is committed, and a warning in the
 * log says so, once per method.
 *
 * <p>Work that goes on when the method has returned is followed by the declared type: a stage, a publisher of a type
 * that Spring adapts by Reactor, a {@code Callable}, a {@code WebAsyncTask}, a {@code DeferredResult}, a function of
 * Kotlin's that suspends, a future of an {@code @Async} method. A lock or a {@linkplain dev.interlock.Holds hold} of
 * the name lasts until that work is done, fails, is cancelled or its time is over; work that never ends keeps it until
 * the session is closed. A stage or a publisher waits without a thread, and a publisher for each subscription. What a
 * plain method would throw, its future or publisher fails with; only a name that can't be evaluated and a session that
 * is closed or has yet to reach Redis are errors of the call itself. Completing the returned future in any other way,
 * also by {@code orTimeout}, cancels the work; work that ignores that goes on without the lock. A hold isn't reentrant:
 * such work waits in vain for a method with the same name.
 *
 * <p>Works as all annotations of Spring AOP do: for calls from other beans; one from the same object isn't intercepted,
 * and not noticed. On a class it stands for the public methods which that class and its subclasses declare. On a method
 * that no proxy intercepts, a private, static or final one, it is an error when the bean is created. So it is if the
 * method returns work that isn't followed, such as a {@code Stream}. If only the returned object tells, the call throws
 * an {@link IllegalStateException}.
 *
 * <p>Besides what the method throws, its caller may get a {@link LockBusyException},
 * {@link dev.interlock.RedisUnavailableException}, or {@link dev.interlock.LeaseLostException} if the method has
 * returned, but the lock had been lost meanwhile.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Locked {
    /** Where the lock stands among what surrounds a method: outside of transactions, whose order is the lowest. */
    int ORDER = Ordered.LOWEST_PRECEDENCE - 1_000;

    /** What becomes of a call whose lock isn't available in time. */
    enum OnBusy {
        /** The caller gets a {@link LockBusyException}. */
        THROW,

        /**
         * The method isn't run; the caller gets null, an empty {@code Optional}, or such a future or publisher. Not for
         * primitive results.
         */
        SKIP
    }

    /**
     * The name of the lock. {@code #{…}} in it is an expression of Spring's (SpEL), with the arguments as {@code #id}
     * by their names, {@code #p0} by their places, and the bean as the root; a text that begins with {@code #} or
     * {@code '} is such an expression as a whole. {@code ${…}} is a property. An expression that is null or empty is an
     * error.
     */
    String name();

    /**
     * The longest wait for the lock, 0 to 365 days, such as {@code 5s}, {@code 100ms} or {@code PT5S}; {@code 0s} for
     * none. May contain a property, {@code ${…}}.
     */
    String waitAtMost() default "30s";

    /** What becomes of a call whose lock isn't available in time. */
    OnBusy onBusy() default OnBusy.THROW;
}
