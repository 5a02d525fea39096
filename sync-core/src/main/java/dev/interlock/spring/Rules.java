package dev.interlock.spring;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** What the annotations mean. */
final class Rules {
    private static final Logger log = LoggerFactory.getLogger(Rules.class);
    private static final boolean TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager", Rules.class.getClassLoader());

    private final Supplier<Interlock> interlock;

    /** Asks for the session at the first call, when all beans are there. */
    Rules(Supplier<Interlock> interlock) {
        this.interlock = interlock;
    }

    AnnotationAdvisor.Rule locked(Locked locked, AnnotatedMethod method) {
        method.checkDoneOnReturn();
        boolean skips = locked.onBusy() == Locked.OnBusy.SKIP;
        if (skips) {
            method.checkSkippable("use onBusy = THROW");
        }
        NameTemplate names = method.template("name", locked.name());
        Duration wait = method.duration("waitAtMost", locked.waitAtMost());
        AtomicBoolean warned = new AtomicBoolean();
        return call -> {
            warnOfTransaction(method, warned);
            DistributedReentrantLock lock = interlock.get().lock(names.of(call.getThis(), call.getArguments()));
            if (acquire(lock, wait)) {
                return runAndUnlock(call, method, lock);
            }
            if (skips) {
                return method.nothing();
            }
            throw new LockBusyException(lock.getName(), "wasn't available within " + wait, null);
        };
    }

    private static void warnOfTransaction(AnnotatedMethod method, AtomicBoolean warned) {
        if (TRANSACTIONS && TransactionSynchronizationManager.isActualTransactionActive() && !warned.getAndSet(true)) {
            log.warn(
                    "{} is called in a transaction, which is committed after the lock has been released; others may"
                            + " enter before they can see what it has written. Begin the transaction in the method, or"
                            + " lock where it begins",
                    method);
        }
    }

    private static boolean acquire(DistributedReentrantLock lock, Duration wait) {
        try {
            return wait.isZero() ? lock.tryLock() : lock.tryLock(wait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockBusyException(lock.getName(), "wasn't taken: the thread was interrupted while it waited", e);
        }
    }

    AnnotationAdvisor.Rule once(Once once, AnnotatedMethod method) {
        method.checkDoneOnReturn().checkSkippable("return nothing, or an object");
        NameTemplate names = method.template("name", once.name());
        Duration atLeast = method.duration("atLeast", once.atLeast());
        limit(method, "atLeast", () -> RateLimit.fixedWindow(1, atLeast));
        return call -> {
            String name = "once:" + names.of(call.getThis(), call.getArguments());
            DistributedReentrantLock lock = OncePerPeriod.tryBegin(interlock.get(), name, atLeast, null);
            return lock == null ? method.nothing() : runAndUnlock(call, method, lock);
        };
    }

    /** If both throw, what the method throws has the loss of the lock as a suppressed exception. */
    @SuppressWarnings("try") // it is enough to hold the lock
    private static @Nullable Object runAndUnlock(
            MethodInvocation call, AnnotatedMethod method, DistributedReentrantLock lock) {
        try (Hold hold = lock::unlock) {
            return method.checkedResult(AnnotationAdvisor.proceed(call));
        }
    }

    private interface Hold extends AutoCloseable {
        @Override
        void close();
    }

    AnnotationAdvisor.Rule rateLimited(RateLimited limited, AnnotatedMethod method) {
        String name = method.resolved("name", limited.name());
        NameTemplate keys = limited.key().isEmpty() ? null : method.template("key", limited.key());
        Duration per = method.duration("per", limited.per());
        RateLimit limit = limit(method, "permits, per or burst", () -> limitOf(limited, per));
        Duration wait = method.duration("waitAtMost", limited.waitAtMost());
        return call -> {
            RateLimiter shared = interlock.get().rateLimiter(name, limit).whenUnavailable(limited.whenUnavailable());
            RateLimiter limiter = keys == null ? shared : shared.forKey(keys.of(call.getThis(), call.getArguments()));
            Decision decision = limiter.decide(1, wait);
            if (!decision.allowed()) {
                throw new RateLimitExceededException(name, limiter.limit(), decision);
            }
            return AnnotationAdvisor.proceed(call);
        };
    }

    private static RateLimit limitOf(RateLimited limited, Duration per) {
        RateLimit limit = switch (limited.algorithm()) {
            case FIXED_WINDOW -> RateLimit.fixedWindow(limited.permits(), per);
            case SLIDING_WINDOW -> RateLimit.slidingWindow(limited.permits(), per);
            case TOKEN_BUCKET -> RateLimit.tokenBucket(limited.permits(), per);
        };
        return limited.burst() == 0 ? limit : limit.withBurst(limited.burst());
    }

    private static RateLimit limit(AnnotatedMethod method, String attribute, Supplier<RateLimit> limit) {
        try {
            return limit.get();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw method.refusal(attribute + ": " + e.getMessage(), e);
        }
    }
}
