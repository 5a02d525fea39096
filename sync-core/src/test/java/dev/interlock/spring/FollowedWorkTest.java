package dev.interlock.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.RedisServer;
import io.reactivex.rxjava3.core.Single;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.web.context.request.async.WebAsyncTask;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A method whose work goes on when it has returned has its lock, its run or its permit until that is over. */
class FollowedWorkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CANCELLATIONS = 1_000;
    private static final AtomicInteger NAMES = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.launch();
    private static final Interlock OTHER = Interlock.connect(REDIS.url());
    private static final AnnotationConfigApplicationContext CGLIB = context(true);
    private static final AnnotationConfigApplicationContext JDK = context(false);

    private final String name = "followed:" + NAMES.incrementAndGet();

    @AfterAll
    static void close() {
        CGLIB.close();
        JDK.close();
        OTHER.close();
        REDIS.close();
    }

    private static AnnotationConfigApplicationContext context(boolean cglib) {
        var context = new AnnotationConfigApplicationContext();
        context.register(InterlockAnnotationsConfiguration.class, Orders.class, Jobs.class);
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
        if (cglib) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
        }
        // A loss is found by the next renewal.
        context.registerBean(
                Interlock.class,
                () -> Interlock.builder()
                        .uri(REDIS.url())
                        .lease(Duration.ofSeconds(5))
                        .open());
        context.refresh();
        return context;
    }

    /** What a method has begun, until the test ends it. */
    static final class Work {
        final CountDownLatch begun = new CountDownLatch(1);
        final CompletableFuture<String> end = new CompletableFuture<>();

        CompletableFuture<String> begin() {
            begun.countDown();
            return end;
        }

        void awaitBegun() throws InterruptedException {
            assertThat(begun.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    /** The methods of an interface, for proxies of interfaces. */
    interface Shipping {
        CompletableFuture<String> future(String name, Work work);

        CompletionStage<String> stage(String name, Work work);

        Mono<String> mono(String name, Work work);

        Flux<String> flux(String name, Work work);

        Single<String> single(String name, Work work);

        Callable<String> callable(String name, Work work);

        WebAsyncTask<String> task(String name, Work work);
    }

    /** Its annotation stands for all of its public methods. */
    @Locked(name = "#{#name}")
    static class Orders implements Shipping {
        @Override
        public CompletableFuture<String> future(String name, Work work) {
            return work.begin();
        }

        @Override
        public CompletionStage<String> stage(String name, Work work) {
            return work.begin();
        }

        @Override
        public Mono<String> mono(String name, Work work) {
            return Mono.fromFuture(work.begin());
        }

        @Override
        public Flux<String> flux(String name, Work work) {
            return Mono.fromFuture(work.begin()).flux();
        }

        @Override
        public Single<String> single(String name, Work work) {
            return Single.fromCompletionStage(work.begin());
        }

        @Override
        public Callable<String> callable(String name, Work work) {
            return () -> work.begin().get();
        }

        @Override
        public WebAsyncTask<String> task(String name, Work work) {
            return new WebAsyncTask<>(() -> work.begin().get());
        }
    }

    interface OtherWork {
        Mono<String> once(String name, Work work);

        CompletableFuture<String> permitted(String name, Work work);

        String permittedNow(String name);

        CompletableFuture<String> skipped(String name);

        CompletableFuture<Optional<String>> skippedOptional(String name);

        Mono<String> skippedMono(String name);

        CompletableFuture<String> impatient(String name);

        CompletableFuture<String> fromInside(String name);

        Mono<String> limited(String name);

        Mono<Optional<Stream<String>>> limitedStream(String name);

        Callable<Iterator<String>> limitedTask(String name);
    }

    static class Jobs implements OtherWork {
        private final Interlock interlock;

        Jobs(Interlock interlock) {
            this.interlock = interlock;
        }

        @Override
        @Once(name = "#{#name}", atLeast = "1ms")
        public Mono<String> once(String name, Work work) {
            return Mono.fromFuture(work.begin());
        }

        @Override
        @Permitted(name = "#{#name}", permits = 1)
        public CompletableFuture<String> permitted(String name, Work work) {
            return work.begin();
        }

        @Override
        @Permitted(name = "#{#name}", permits = 1, waitAtMost = "0s")
        public String permittedNow(String name) {
            return "done";
        }

        @Override
        @Locked(name = "#{#name}", waitAtMost = "0s", onBusy = Locked.OnBusy.SKIP)
        public CompletableFuture<String> skipped(String name) {
            return CompletableFuture.completedFuture("done");
        }

        @Override
        @Locked(name = "#{#name}", waitAtMost = "0s", onBusy = Locked.OnBusy.SKIP)
        public CompletableFuture<Optional<String>> skippedOptional(String name) {
            return CompletableFuture.completedFuture(Optional.of("done"));
        }

        @Override
        @Locked(name = "#{#name}", waitAtMost = "0s", onBusy = Locked.OnBusy.SKIP)
        public Mono<String> skippedMono(String name) {
            return Mono.just("done");
        }

        @Override
        @Locked(name = "#{#name}", waitAtMost = "10ms")
        public CompletableFuture<String> impatient(String name) {
            return CompletableFuture.completedFuture("done");
        }

        @Override
        public CompletableFuture<String> fromInside(String name) {
            interlock.lock(name).lock();
            try {
                return JDK.getBean(OtherWork.class).impatient(name);
            } finally {
                interlock.lock(name).unlock();
            }
        }

        @Override
        @RateLimited(name = "followed", key = "#{#name}", permits = 1, per = "1h")
        public Mono<String> limited(String name) {
            return Mono.just("done");
        }

        @Override
        @RateLimited(name = "followed", key = "#{#name}", permits = 1, per = "1h")
        public Mono<Optional<Stream<String>>> limitedStream(String name) {
            return Mono.just(Optional.of(Stream.of("done")));
        }

        @Override
        @RateLimited(name = "followed", key = "#{#name}", permits = 1, per = "1h")
        public Callable<Iterator<String>> limitedTask(String name) {
            return () -> List.of("done").iterator();
        }
    }

    /** How a caller begins the work of each type; cancelling the future cancels the work. */
    enum Kind {
        FUTURE {
            @Override
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return orders.future(name, work);
            }
        },
        STAGE {
            @Override
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return orders.stage(name, work).toCompletableFuture();
            }
        },
        MONO {
            @Override
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return orders.mono(name, work).toFuture();
            }
        },
        FLUX {
            @Override
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return orders.flux(name, work)
                        .collectList()
                        .map(all -> all.get(0))
                        .toFuture();
            }
        },
        SINGLE {
            @Override
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return orders.single(name, work).toCompletionStage().toCompletableFuture();
            }
        },
        CALLABLE {
            @Override
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return inThread(orders.callable(name, work));
            }
        },
        TASK {
            @Override
            @SuppressWarnings("unchecked") // that of the task
            CompletableFuture<String> start(Shipping orders, String name, Work work) {
                return inThread((Callable<String>) orders.task(name, work).getCallable());
            }
        };

        abstract CompletableFuture<String> start(Shipping orders, String name, Work work);

        private static CompletableFuture<String> inThread(Callable<String> task) {
            var result = new CompletableFuture<String>();
            var thread = new Thread(() -> {
                try {
                    result.complete(task.call());
                } catch (ExecutionException e) {
                    result.completeExceptionally(requireNonNull(e.getCause()));
                } catch (Exception e) {
                    result.completeExceptionally(e);
                }
            });
            result.whenComplete((value, failure) -> thread.interrupt());
            thread.start();
            return result;
        }
    }

    enum End {
        NORMALLY {
            @Override
            void end(Work work, CompletableFuture<String> result) {
                work.end.complete("done");
                assertThat(result.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                                .join())
                        .isEqualTo("done");
            }
        },
        WITH_FAILURE {
            @Override
            void end(Work work, CompletableFuture<String> result) {
                work.end.completeExceptionally(new IOException("failed"));
                assertThat(result).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("failed");
            }
        },
        BY_CANCEL {
            @Override
            void end(Work work, CompletableFuture<String> result) {
                assertThat(result.cancel(true)).isTrue();
            }
        },
        BY_TIMEOUT {
            @Override
            void end(Work work, CompletableFuture<String> result) {
                if (!result.orTimeout(1, TimeUnit.MILLISECONDS).isCancelled()) {
                    assertThat(result)
                            .failsWithin(PATIENCE)
                            .withThrowableThat()
                            .withCauseInstanceOf(TimeoutException.class);
                }
            }
        };

        abstract void end(Work work, CompletableFuture<String> result);
    }

    static Stream<Arguments> cases() {
        return Stream.of(Kind.values())
                .flatMap(kind -> Stream.of(End.values())
                        .filter(end -> end != End.BY_TIMEOUT || kind == Kind.FUTURE || kind == Kind.STAGE)
                        .flatMap(end -> Stream.of(true, false).map(cglib -> Arguments.of(kind, end, cglib))));
    }

    private static Shipping orders(boolean cglib) {
        return cglib ? CGLIB.getBean(Orders.class) : JDK.getBean(Shipping.class);
    }

    private static boolean isFree(String name) throws InterruptedException {
        boolean isFree = OTHER.lock(name).tryLock(PATIENCE);
        if (isFree) {
            OTHER.lock(name).unlock();
        }
        return isFree;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theLockLastsUntilTheWorkIsOver(Kind kind, End end, boolean cglib) throws InterruptedException {
        var work = new Work();
        CompletableFuture<String> result = kind.start(orders(cglib), name, work);
        work.awaitBegun();
        assertThat(OTHER.lock(name).tryLock()).isFalse();
        end.end(work, result);
        assertThat(isFree(name)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatWaitsIsCancelled(Kind kind) throws InterruptedException {
        var work = new Work();
        OTHER.lock(name).lock();
        CompletableFuture<String> result = kind.start(orders(true), name, work);
        result.cancel(true);
        OTHER.lock(name).unlock();
        assertThat(isFree(name)).isTrue();
        assertThat(work.begun.getCount()).isEqualTo(1);
    }

    @Test
    void cancellationsAtAnyMomentLeaveNothingHeld() throws InterruptedException {
        long seed = System.nanoTime();
        var random = new Random(seed);
        List<CompletableFuture<String>> all = new ArrayList<>();
        for (int i = 0; i < CANCELLATIONS; i++) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            var work = new Work();
            CompletableFuture<String> result = kind.start(orders(random.nextBoolean()), name, work);
            if (random.nextInt(4) == 0) {
                work.end.completeAsync(() -> "done");
            }
            LockSupport.parkNanos(random.nextInt(2_000_000));
            all.add(result);
            if (random.nextBoolean() || all.size() > 4) {
                all.forEach(each -> each.cancel(true));
                all.clear();
            }
        }
        all.forEach(each -> each.cancel(true));
        assertThat(isFree(name)).as("seed " + seed).isTrue();
        await().atMost(PATIENCE)
                .until(() -> CGLIB.getBean(Interlock.class).heldLocks()
                                + JDK.getBean(Interlock.class).heldLocks()
                        == 0);
    }

    @ParameterizedTest
    @EnumSource
    void aLossReplacesTheResult(Kind kind) throws InterruptedException {
        var work = new Work();
        CompletableFuture<String> result = kind.start(orders(false), name, work);
        work.awaitBegun();
        assertThat(REDIS.command("DEL", name)).isNotNull();
        await().atMost(PATIENCE).until(() -> JDK.getBean(Interlock.class).heldLocks() == 0);
        work.end.complete("done");
        assertThat(result).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    void eachSubscriptionHasALockOfItsOwn() throws InterruptedException {
        var work = new Work();
        Mono<String> mono = orders(true).mono(name, work);
        assertThat(isFree(name)).isTrue();
        assertThat(work.begun.getCount()).isEqualTo(1);
        work.end.complete("done");
        assertThat(mono.block(PATIENCE)).isEqualTo("done");
        assertThat(mono.repeat(2).collectList().block(PATIENCE)).hasSize(3);
    }

    @Test
    void aBusyLockIsToldOrSkipped() {
        OtherWork jobs = JDK.getBean(OtherWork.class);
        OTHER.lock(name).lock();
        try {
            assertThat(jobs.skipped(name)).succeedsWithin(PATIENCE).isNull();
            assertThat(jobs.skippedOptional(name)).succeedsWithin(PATIENCE).isEqualTo(Optional.empty());
            assertThat(jobs.skippedMono(name).blockOptional(PATIENCE)).isEmpty();
            assertThat(jobs.impatient(name))
                    .failsWithin(PATIENCE)
                    .withThrowableThat()
                    .withCauseInstanceOf(LockBusyException.class);
        } finally {
            OTHER.lock(name).unlock();
        }
        assertThat(jobs.skipped(name)).succeedsWithin(PATIENCE).isEqualTo("done");
    }

    @Test
    void workThatWouldWaitForItsCallerIsRefused() {
        assertThat(JDK.getBean(OtherWork.class).fromInside(name))
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .withMessageContaining("isn't reentrant");
    }

    @Test
    void aRunLastsUntilTheWorkIsOver() throws InterruptedException {
        OtherWork mine = JDK.getBean(OtherWork.class);
        OtherWork others = CGLIB.getBean(OtherWork.class);
        var work = new Work();
        CompletableFuture<@Nullable String> run = mine.once(name, work).toFuture();
        work.awaitBegun();
        assertThat(others.once(name, new Work()).blockOptional(PATIENCE)).isEmpty();
        run.cancel(true);
        var next = new Work();
        next.end.complete("done");
        await().atMost(PATIENCE)
                .until(() -> "done".equals(others.once(name, next).block(PATIENCE)));
    }

    @ParameterizedTest
    @EnumSource
    void aPermitIsHeldUntilTheWorkIsOver(End end) throws InterruptedException {
        OtherWork others = CGLIB.getBean(OtherWork.class);
        var work = new Work();
        CompletableFuture<String> result = JDK.getBean(OtherWork.class).permitted(name, work);
        work.awaitBegun();
        assertThatThrownBy(() -> others.permittedNow(name)).isInstanceOf(PermitUnavailableException.class);
        end.end(work, result);
        await().atMost(PATIENCE).until(() -> catchThrowable(() -> others.permittedNow(name)) == null);
    }

    @Test
    void aRateLimitCountsSubscriptions() {
        Mono<String> limited = JDK.getBean(OtherWork.class).limited(name);
        assertThat(limited.block(PATIENCE)).isEqualTo("done");
        assertThatThrownBy(() -> limited.block(PATIENCE)).isInstanceOf(RateLimitExceededException.class);
    }

    /** Nothing is held that such a result could outlive. */
    @Test
    void aRateLimitLetsResultsContainWork() throws Exception {
        OtherWork others = JDK.getBean(OtherWork.class);
        assertThat(others.limitedStream(name).block(PATIENCE))
                .get()
                .satisfies(all -> assertThat(all).containsExactly("done"));
        assertThat(others.limitedTask(name + " task").call().next()).isEqualTo("done");
    }
}
