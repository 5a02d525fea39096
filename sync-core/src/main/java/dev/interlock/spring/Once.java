package dev.interlock.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a scheduled method of a bean once per period in the whole fleet, although it is scheduled in each JVM.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 * * * *")
 * @Once(name = "invoices", atLeast = "30m")
 * public void sendInvoices() {
 *     …
 * }
 * }</pre>
 *
 * <p>A call runs the method if no other run goes on, and the last one began {@link #atLeast} ago or earlier, by the
 * clock of Redis. That is the {@code atLeast} of that run, should another version of the application have another one.
 * Otherwise it returns at once: null, or an empty {@code Optional}. Schedule the method at the same times in all JVMs,
 * by {@code cron}, and choose {@code atLeast} less than the period and more than the difference of the JVMs' clocks:
 * half the period is good. Then each time the first JVM to come runs it, and the others come too soon.
 *
 * <p>While a run goes on, its JVM holds a lock and renews the lease: a run may take any time, and no other begins
 * meanwhile. {@code atLeast} counts from the beginning of a run, stays in Redis, and is nobody's. So it holds when the
 * run is over, when it has thrown, and when its JVM has died. If a JVM dies during a run, the lock is free after the
 * lease; the next run begins after both, the lease and {@code atLeast}. No run is repeated because its JVM has died.
 *
 * <p>Work that goes on when the method has returned belongs to the run, and is followed or refused as by
 * {@link Locked}.
 *
 * <p>What Redis loses is forgotten: if it loses its data, or a failover loses what no replica had yet, a run may come
 * too soon. If the method has returned, but the lock had been lost meanwhile, the call throws
 * {@link dev.interlock.LeaseLostException}; if Redis doesn't answer, it throws
 * {@link dev.interlock.RedisUnavailableException} and doesn't run the method.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Once {
    /** Where this stands among what surrounds a method: outside of locks and transactions. */
    int ORDER = Locked.ORDER - 10;

    /** The name of the job, as {@link Locked#name}. Locks of that name are independent of it. */
    String name();

    /**
     * How long after the beginning of a run the next one may begin, 1 ms to 366 days, counted in steps of 50 ms,
     * rounded up: such as {@code 30s}, {@code 1m} or {@code PT1H}. May contain a property, {@code ${…}}.
     */
    String atLeast();
}
