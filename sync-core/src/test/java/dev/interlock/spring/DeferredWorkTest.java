package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import io.reactivex.rxjava3.core.Single;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A method whose lock would be released before its work is done is refused, when it is known at the latest. */
class DeferredWorkTest {
    private static final String BEFORE = "before the work is done";
    private static final AtomicInteger BEANS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.launch();

    @AfterAll
    static void close() {
        REDIS.close();
    }

    /** Types of which nothing is done yet when a method returns them. */
    @SuppressWarnings("ArrayRecordComponent") // their types alone matter
    record Deferred(
            Future<String> future,
            FutureTask<String> futureTask,
            Runnable runnable,
            Supplier<String> supplier,
            IntSupplier intSupplier,
            Stream<String> stream,
            IntStream intStream,
            Iterator<String> iterator,
            Enumeration<String> enumeration,
            ConnectableFlux<String> connectable,
            StreamingResponseBody streamingResponseBody,
            SseEmitter sseEmitter,
            ResponseEntity<StreamingResponseBody> response,
            Optional<CompletableFuture<String>> optional,
            List<? extends Callable<String>> list,
            Map<String, Future<String>> map,
            Callable<String>[] array,
            CompletableFuture<Stream<String>> futureOfStream,
            Mono<ResponseEntity<Flux<String>>> monoOfFlux,
            Callable<StreamingResponseBody> callableOfBody) {}

    /** Types whose work is followed. */
    record Followed(
            CompletableFuture<String> completableFuture,
            CompletionStage<String> stage,
            Callable<String> callable,
            Mono<String> mono,
            Flux<String> flux,
            Publisher<String> publisher,
            Single<String> single,
            Flow.Publisher<String> flowPublisher,
            DeferredResult<String> deferredResult,
            WebAsyncTask<String> webAsyncTask) {}

    @SuppressWarnings("ArrayRecordComponent") // their types alone matter
    record Done(
            String text,
            List<String> list,
            Map<String, List<Integer>> map,
            Optional<String> optional,
            Iterable<String> iterable,
            Path path,
            Class<? extends Runnable> type,
            ResponseEntity<String> response,
            List<List<List<List<List<List<String>>>>>> deep,
            Object anything,
            byte[] bytes) {}

    static Stream<Arguments> deferred() {
        return typesIn(Deferred.class)
                .flatMap(type -> Stream.of(Locked.class, Once.class)
                        .flatMap(annotation ->
                                Stream.of(true, false).map(cglib -> Arguments.of(type, annotation, cglib))));
    }

    static Stream<Type> done() {
        return Stream.concat(typesIn(Done.class), typesIn(Followed.class));
    }

    private static Stream<Type> typesIn(Class<? extends Record> record) {
        return Arrays.stream(record.getRecordComponents()).map(RecordComponent::getGenericType);
    }

    @ParameterizedTest
    @MethodSource("deferred")
    void aDeclaredTypeThatTellsIsAnErrorOfTheStart(Type type, Class<? extends Annotation> annotation, boolean cglib) {
        assertThat(refusal(bean(annotation, type), cglib)).contains("@" + annotation.getSimpleName(), ".run(", BEFORE);
    }

    @ParameterizedTest
    @MethodSource("done")
    void otherTypesAreAccepted(Type type) {
        assertThatCode(() -> context(true, bean(Locked.class, type)).close()).doesNotThrowAnyException();
    }

    /** A bean with one method of that type. */
    private static Class<?> bean(Class<? extends Annotation> annotation, Type type, Type... parameters) {
        AnnotationDescription.Builder with =
                AnnotationDescription.Builder.ofType(annotation).define("name", "a");
        return new ByteBuddy()
                .subclass(Object.class)
                .name(DeferredWorkTest.class.getName() + "$Orders" + BEANS.incrementAndGet())
                .defineMethod("run", type, Visibility.PUBLIC)
                .withParameters(parameters)
                .intercept(FixedValue.nullValue())
                .annotateMethod((annotation == Once.class ? with.define("atLeast", "1h") : with).build())
                .make()
                .load(
                        DeferredWorkTest.class.getClassLoader(),
                        ClassLoadingStrategy.UsingLookup.of(MethodHandles.lookup()))
                .getLoaded();
    }

    private static AnnotationConfigApplicationContext context(boolean cglib, Class<?>... beans) {
        var context = new AnnotationConfigApplicationContext();
        context.register(InterlockAnnotationsConfiguration.class);
        context.register(beans);
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
        if (cglib) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
        }
        context.registerBean(Interlock.class, () -> Interlock.connect(REDIS.url()), bean -> bean.setLazyInit(true));
        context.refresh();
        return context;
    }

    private static String refusal(Class<?> bean, boolean cglib) {
        Throwable thrown = catchThrowable(() -> context(cglib, bean).close());
        assertThat(thrown).isInstanceOf(BeanCreationException.class);
        return String.valueOf(thrown.getCause());
    }

    /** Without kotlinx-coroutines-reactor. */
    @Test
    void aFunctionOfKotlinsThatSuspendsIsRefused() {
        assertThat(refusal(bean(Locked.class, Object.class, String.class, Continuation.class), true))
                .contains("suspends", BEFORE);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "order")
    @interface OrderLock {}

    interface Job<T> {
        @Locked(name = "a")
        T run();
    }

    abstract static class Base<T> {
        @OrderLock
        public T run() {
            throw new UnsupportedOperationException();
        }
    }

    static class OfInterface implements Job<Supplier<String>> {
        @Override
        public Supplier<String> run() {
            return () -> "";
        }
    }

    static class Covariant implements Job<Object> {
        @Override
        public Supplier<String> run() {
            return () -> "";
        }
    }

    static class OfSuperclass extends Base<Future<String>> {}

    static class Several {
        @Locked(name = "a")
        public String one() {
            return "";
        }

        @Locked(name = "a")
        public Stream<String> two() {
            return Stream.of();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whereverTheAnnotationAndTheTypeStand(boolean cglib) {
        assertThat(refusal(OfInterface.class, cglib)).contains("Supplier", BEFORE);
        assertThat(refusal(Covariant.class, cglib)).contains("Supplier", BEFORE);
        assertThat(refusal(OfSuperclass.class, cglib)).contains("Future", BEFORE);
        assertThat(refusal(Several.class, cglib)).contains("two()", BEFORE);
    }

    // ---- methods past which a proxy is called

    static class Private {
        @Locked(name = "a")
        @SuppressWarnings("UnusedMethod") // by reflection alone
        private void run() {}
    }

    static class Static {
        @Once(name = "a", atLeast = "1h")
        public static void run() {}
    }

    static class Final {
        @RateLimited(name = "a", permits = 1, per = "1h")
        public final void run() {}
    }

    static class InheritedPrivate extends Private {
        public void other() {}
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatNoProxyInterceptsIsRefused(boolean cglib) {
        assertThat(refusal(Private.class, cglib)).contains("@Locked", "Private.run()", "a private method");
        assertThat(refusal(Static.class, cglib)).contains("@Once", "Static.run()", "a static method");
        assertThat(refusal(Final.class, cglib)).contains("@RateLimited", "Final.run()", "a final method");
        assertThat(refusal(InheritedPrivate.class, cglib)).contains("Private.run()");
    }

    interface Ship {
        boolean ship();
    }

    static final class FinalShip implements Ship {
        private final Interlock interlock;

        FinalShip(Interlock interlock) {
            this.interlock = interlock;
        }

        @Override
        @Locked(name = "ship")
        public boolean ship() {
            return interlock.lock("ship").isHeldByCurrentThread();
        }
    }

    static class ShipWithFinal implements Ship {
        @Override
        @Locked(name = "ship")
        public final boolean ship() {
            return true;
        }
    }

    /** What implements the interface of the bean intercepts its methods, final or not. */
    @Test
    void aFinalMethodOfAnInterfaceIsInterceptedByAProxyOfInterfaces() {
        try (var context = context(false, FinalShip.class)) {
            assertThat(context.getBean(Ship.class).ship()).isTrue();
        }
        context(false, ShipWithFinal.class).close();
        assertThat(refusal(ShipWithFinal.class, true)).contains("a final method");
    }

    // ---- what only the object tells

    static class Returning {
        private @Nullable Object next;

        public void next(@Nullable Object object) {
            next = object;
        }

        @Locked(name = "returning")
        public @Nullable Object locked() {
            return next;
        }

        @Once(name = "returning", atLeast = "1ms")
        public @Nullable Object once() {
            return next;
        }
    }

    private static List<Object> deferredObjects() {
        List<Object> objects = new ArrayList<>(List.of(
                new CompletableFuture<String>(),
                new CompletableFuture<String>().minimalCompletionStage(),
                new FutureTask<>(() -> ""),
                (Callable<String>) () -> "",
                (Runnable) () -> {},
                (Supplier<String>) () -> "",
                (IntSupplier) () -> 1,
                Stream.of(1),
                IntStream.of(1),
                List.of(1).iterator(),
                Collections.enumeration(List.of(1)),
                Mono.just(1),
                Single.just(1),
                new SubmissionPublisher<String>(Runnable::run, 1),
                new DeferredResult<String>(),
                new WebAsyncTask<String>(() -> ""),
                (StreamingResponseBody) out -> {},
                new SseEmitter()));
        objects.add(Optional.of(new CompletableFuture<String>()));
        objects.add(ResponseEntity.ok((StreamingResponseBody) out -> {}));
        objects.add(CompletableFuture.completedFuture(Stream.of(1)));
        return objects;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anObjectThatTellsIsAnErrorOfTheCall(boolean locked) {
        try (var context = context(true, Returning.class)) {
            Returning returning = context.getBean(Returning.class);
            Interlock interlock = context.getBean(Interlock.class);
            for (Object object : deferredObjects()) {
                returning.next(object);
                assertThatThrownBy(() -> assertThat(locked ? returning.locked() : onceSoon(returning))
                                .isNull())
                        .as(object.getClass().getName())
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("Returning." + (locked ? "locked()" : "once()"))
                        .hasMessageContaining(BEFORE);
                assertThat(interlock.heldLocks()).isZero();
            }
        }
    }

    // The run before, which was refused, began as well.
    private static Object onceSoon(Returning returning) {
        while (true) {
            Object result = returning.once();
            if (result != null) {
                return result;
            }
        }
    }

    @Test
    void whatIsDoneIsReturned() {
        try (var context = context(true, Returning.class)) {
            Returning returning = context.getBean(Returning.class);
            for (Object object : new Object[] {
                null,
                "text",
                List.of(1),
                Optional.empty(),
                Optional.of(1),
                ResponseEntity.ok("text"),
                CompletableFuture.completedFuture("text"),
                CompletableFuture.failedFuture(new IOException("failed"))
            }) {
                returning.next(object);
                assertThat(returning.locked()).isSameAs(object);
            }
        }
    }

    // ---- @Async

    @EnableAsync(proxyTargetClass = true)
    static class AsyncOrders {
        private final Interlock interlock;

        AsyncOrders(Interlock interlock) {
            this.interlock = interlock;
        }

        @Async
        @Locked(name = "async")
        public CompletableFuture<Boolean> done() {
            return CompletableFuture.completedFuture(interlock.lock("async").isHeldByCurrentThread());
        }

        @Async
        @Locked(name = "async")
        public CompletableFuture<Boolean> unfinished() {
            return CompletableFuture.supplyAsync(
                    () -> interlock.lock("async").isLocked(), task -> new Thread(task).start());
        }
    }

    @Async
    static class AsyncClass {
        @Locked(name = "async")
        public Future<Boolean> done() {
            return CompletableFuture.completedFuture(true);
        }
    }

    static class AsyncStream {
        @Async
        @Locked(name = "async")
        public CompletableFuture<Stream<String>> run() {
            return CompletableFuture.completedFuture(Stream.of());
        }
    }

    @Test
    void anAsynchronousMethodIsFollowedInItsThread() {
        try (var context = context(true, AsyncOrders.class, AsyncClass.class)) {
            AsyncOrders orders = context.getBean(AsyncOrders.class);
            assertThat(orders.done().join()).isTrue();
            assertThat(orders.unfinished().join()).isTrue();
        }
        assertThat(refusal(AsyncStream.class, true)).contains("Stream", BEFORE);
    }
}
