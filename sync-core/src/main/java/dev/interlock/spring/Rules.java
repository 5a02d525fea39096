package dev.interlock.spring;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.Names;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** What the annotations mean. */
final class Rules {
    private static final Logger log = LoggerFactory.getLogger(Rules.class);
    private static final boolean TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager", Rules.class.getClassLoader());

    private static final Duration LONGEST_WAIT = Duration.ofDays(365);

    /** So many runs with {@link Once} whose work is deferred may begin at a time. */
    private static final int MOST_BEGINNINGS = 16;

    private final Supplier<Interlock> interlock;

    /** Begins runs with {@link Once}, which takes a few round trips. */
    private final Executor beginnings = beginnings();

    /** Asks for the session at the first call, when all beans are there. */
    Rules(Supplier<Interlock> interlock) {
        this.interlock = interlock;
    }

    private static Executor beginnings() {
        var threads = new CustomizableThreadFactory("interlock-once-");
        threads.setDaemon(true);
        var pool = new ThreadPoolExecutor(
                MOST_BEGINNINGS, MOST_BEGINNINGS, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    AnnotationAdvisor.Rule locked(Locked locked, AnnotatedMethod method) {
        Following following = Following.of(method);
        boolean skips = skips(locked.onBusy(), method);
        NameTemplate names = method.template("name", locked.name());
        Duration wait = waitForHold(method, locked.waitAtMost());
        AtomicBoolean warned = new AtomicBoolean();
        return call -> {
            DistributedReentrantLock lock = interlock.get().lock(names.of(call.getThis(), call.getArguments()));
            return following.run(call, new LockGuard(interlock.get(), lock, wait, skips, method, warned));
        };
    }

    private static boolean skips(Locked.OnBusy onBusy, AnnotatedMethod method) {
        boolean skips = onBusy == Locked.OnBusy.SKIP;
        if (skips) {
            method.checkSkippable("use onBusy = THROW");
        }
        return skips;
    }

    private static Duration waitForHold(AnnotatedMethod method, String text) {
        Duration wait = method.duration("waitAtMost", text);
        if (wait.compareTo(LONGEST_WAIT) > 0) {
            throw method.refusal("waitAtMost must be from 0 to 365 days, but is " + wait, null);
        }
        return wait;
    }

    /** The lock of a thread, or a hold, which belongs to none. */
    private record LockGuard(
            Interlock session,
            DistributedReentrantLock lock,
            Duration atMost,
            boolean skips,
            AnnotatedMethod method,
            AtomicBoolean warned)
            implements Guard {

        @Override
        public @Nullable Grant take() {
            warnOfTransaction();
            try {
                if (atMost.isZero() ? lock.tryLock() : lock.tryLock(atMost)) {
                    return lock::unlock;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw interrupted(e);
            }
            if (skips) {
                return null;
            }
            throw unavailable();
        }

        @Override
        public RuntimeException interrupted(Exception cause) {
            return busy("wasn't taken: the thread was interrupted while it waited", cause);
        }

        private void warnOfTransaction() {
            if (TRANSACTIONS
                    && TransactionSynchronizationManager.isActualTransactionActive()
                    && !warned.getAndSet(true)) {
                log.warn(
                        "{} is called in a transaction, which is committed after the lock has been released; others may"
                                + " enter before they can see what it has written. Begin the transaction in the method,"
                                + " or lock where it begins",
                        method);
            }
        }

        @Override
        public Future<?> ask(Receiver receiver) {
            return Guard.ask(this::asked, skips ? null : this::unavailable, receiver);
        }

        private CompletableFuture<Optional<Hold>> asked() {
            if (lock.isHeldByCurrentThread()) {
                throw method.refusal(
                        "the current thread has lock " + Names.quoted(lock.getName())
                                + ", for which the work that this method begins would wait; work that goes on when"
                                + " the method has returned isn't reentrant, so begin it without the lock",
                        null);
            }
            return session.holds().as(method.holder()).tryAcquire(lock.getName(), atMost);
        }

        private LockBusyException unavailable() {
            return busy("wasn't available within " + atMost, null);
        }

        private LockBusyException busy(String why, @Nullable Throwable cause) {
            return new LockBusyException(lock.getName(), why, cause);
        }
    }

    AnnotationAdvisor.Rule once(Once once, AnnotatedMethod method) {
        Following following = Following.of(method);
        method.checkSkippable("return nothing, or an object");
        NameTemplate names = method.template("name", once.name());
        Duration atLeast = method.duration("atLeast", once.atLeast());
        limit(method, "atLeast", () -> RateLimit.fixedWindow(1, atLeast));
        return call -> {
            String name = "once:" + names.of(call.getThis(), call.getArguments());
            return following.run(call, new OnceGuard(interlock.get(), name, atLeast, beginnings));
        };
    }

    private record OnceGuard(Interlock session, String name, Duration atLeast, Executor beginnings) implements Guard {
        @Override
        public @Nullable Grant take() {
            Hold run = OncePerPeriod.tryBegin(session, name, atLeast, null);
            return run == null ? null : new RunGrant(run);
        }

        @Override
        public Future<?> ask(Receiver receiver) {
            var asked = new CompletableFuture<@Nullable Grant>();
            asked.whenComplete((run, failure) -> {
                if (failure != null) {
                    receiver.failed(failure);
                } else if (run == null) {
                    receiver.skipped();
                } else {
                    receiver.granted(run);
                }
            });
            beginnings.execute(() -> begin(asked));
            return asked;
        }

        private void begin(CompletableFuture<@Nullable Grant> asked) {
            try {
                Grant run = asked.isDone() ? null : take();
                if (!asked.complete(run) && run != null) {
                    run.endLater();
                }
            } catch (RuntimeException | Error e) {
                asked.completeExceptionally(e);
            }
        }
    }

    private record RunGrant(Hold run) implements Guard.Grant {
        @Override
        public void end() {
            OncePerPeriod.end(run);
        }

        @Override
        public CompletionStage<Void> endLater() {
            return run.release().exceptionally(failure -> {
                LeaseLostException loss = OncePerPeriod.lossOf(Guard.unwrapped(failure));
                if (loss != null) {
                    throw loss;
                }
                return null;
            });
        }
    }

    AnnotationAdvisor.Rule permitted(Permitted permitted, AnnotatedMethod method) {
        Following following = Following.of(method);
        boolean skips = skips(permitted.onBusy(), method);
        if (permitted.permits() < 1) {
            throw method.refusal("permits must be 1 or more, but are " + permitted.permits(), null);
        }
        NameTemplate names = method.template("name", permitted.name());
        Duration wait = waitForHold(method, permitted.waitAtMost());
        return call -> {
            String name = names.of(call.getThis(), call.getArguments());
            // A number that changes with a version of the application makes another semaphore.
            DistributedSemaphore permits =
                    interlock.get().semaphore("permitted:" + name + ":" + permitted.permits(), permitted.permits());
            return following.run(call, new PermitGuard(interlock.get(), name, permits, wait, skips, method));
        };
    }

    private record PermitGuard(
            Interlock session,
            String name,
            DistributedSemaphore permits,
            Duration atMost,
            boolean skips,
            AnnotatedMethod method)
            implements Guard {

        @Override
        public @Nullable Grant take() {
            try {
                if (permits.tryAcquire(atMost.toNanos(), NANOSECONDS)) {
                    return permits::release;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw interrupted(e);
            }
            if (skips) {
                return null;
            }
            throw unavailable();
        }

        @Override
        public RuntimeException interrupted(Exception cause) {
            return new PermitUnavailableException(name, "the thread was interrupted while it waited", cause);
        }

        @Override
        public Future<?> ask(Receiver receiver) {
            return Guard.ask(
                    () -> session.holds().as(method.holder()).tryAcquirePermits(permits, 1, atMost),
                    skips ? null : this::unavailable,
                    receiver);
        }

        private PermitUnavailableException unavailable() {
            return new PermitUnavailableException(name, "none of them became free within " + atMost, null);
        }
    }

    AnnotationAdvisor.Rule rateLimited(RateLimited limited, AnnotatedMethod method) {
        Following following = Following.ofBeginning(method);
        String name = method.resolved("name", limited.name());
        NameTemplate keys = limited.key().isEmpty() ? null : method.template("key", limited.key());
        Duration per = method.duration("per", limited.per());
        RateLimit limit = limit(method, "permits, per or burst", () -> limitOf(limited, per));
        Duration wait = method.duration("waitAtMost", limited.waitAtMost());
        return call -> {
            RateLimiter shared = interlock.get().rateLimiter(name, limit).whenUnavailable(limited.whenUnavailable());
            RateLimiter limiter = keys == null ? shared : shared.forKey(keys.of(call.getThis(), call.getArguments()));
            return following.run(call, new LimitGuard(name, limiter, wait));
        };
    }

    /** A permit that is spent. */
    private record LimitGuard(String name, RateLimiter limiter, Duration atMost) implements Guard {
        private static final Grant SPENT = () -> {};

        @Override
        public Grant take() {
            Decision decision = limiter.decide(1, atMost);
            if (!decision.allowed()) {
                throw exceeded(decision);
            }
            return SPENT;
        }

        @Override
        public Future<?> ask(Receiver receiver) {
            return limiter.decideAsync(1, atMost).whenComplete((decision, failure) -> {
                if (failure != null) {
                    receiver.failed(requireNonNull(Guard.unwrapped(failure)));
                } else if (decision.allowed()) {
                    receiver.granted(SPENT);
                } else {
                    receiver.failed(exceeded(decision));
                }
            });
        }

        private RateLimitExceededException exceeded(Decision decision) {
            return new RateLimitExceededException(name, limiter.limit(), decision);
        }
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
