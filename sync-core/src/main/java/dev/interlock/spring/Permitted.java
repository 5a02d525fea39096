package dev.interlock.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how many calls of a method of a bean run at a time in all JVMs together.
 *
 * <pre>{@code
 * @Permitted(name = "render", permits = 4, waitAtMost = "10s")
 * public CompletableFuture<Image> render(Page page) {
 *     // 4 pages at a time in the whole fleet
 * }
 * }</pre>
 *
 * <p>A call has one of {@link #permits} permits until its work is over. Deferred work is followed, and methods and
 * classes are intercepted, as by {@link Locked}. A call within another one has a permit of its own, so a method that
 * calls another one with the same name may wait for itself, until {@link #waitAtMost}.
 *
 * <p>The permits are those of the semaphore <code>permitted:<i>name</i>:<i>permits</i></code>, see
 * {@link dev.interlock.Interlock#semaphore(String, int)}. So each number is a pool of its own: while two versions of an
 * application with different numbers run, there are as many calls as both numbers permit. The first use of a name in a
 * session asks Redis in the calling thread.
 *
 * <p>Besides what the method throws, its caller may get a {@link PermitUnavailableException},
 * {@link dev.interlock.RedisUnavailableException}, or {@link dev.interlock.LeaseLostException} if the work is done, but
 * a permit had been lost meanwhile.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Permitted {
    /** Where this stands among what surrounds a method: inside of {@link RateLimited}, outside of the others. */
    int ORDER = Once.ORDER - 5;

    /** The name of the permits, as {@link Locked#name}. Locks and semaphores of that name are independent of it. */
    String name();

    /** How many calls may run at a time, 1 or more. */
    int permits();

    /** The longest wait for a permit, 0 to 365 days, as {@link Locked#waitAtMost}. */
    String waitAtMost() default "30s";

    /** How a call ends that gets no permit in time. */
    Locked.OnBusy onBusy() default Locked.OnBusy.THROW;
}
