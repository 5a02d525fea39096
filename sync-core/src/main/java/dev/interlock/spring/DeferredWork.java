package dev.interlock.spring;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;

/**
 * Recognises what stands for work that isn't done yet when a method returns it: whatever is released on return doesn't
 * protect that work. Types are known by their names, so none of them has to be on the class path.
 */
final class DeferredWork {
    /** Says what to do instead of returning such an object. */
    enum Kind {
        FUTURE("return a CompletableFuture or a CompletionStage itself, or wait for it in the method and return the"
                + " result"),
        PUBLISHER("return a Mono, a Flux, or another publisher itself that Spring and Reactor can adapt, or wait for"
                + " the work in the method and return its result"),
        TASK("do the work in the method and return its result, or return a Callable itself"),
        LAZY("read all of it in the method, and return a collection"),
        RESPONSE("do the work in the method and return the whole result, or return a DeferredResult or a WebAsyncTask"
                + " itself"),
        SUSPENDED("have kotlinx-coroutines-reactor on the class path, by which Spring follows such a function");

        final String instead;

        Kind(String instead) {
            this.instead = instead;
        }
    }

    private static final Map<String, Kind> KINDS = new HashMap<>();

    static {
        know(Kind.FUTURE, "java.util.concurrent.Future", "java.util.concurrent.CompletionStage");
        know(Kind.PUBLISHER, "org.reactivestreams.Publisher", "java.util.concurrent.Flow$Publisher");
        for (String rx : new String[] {"io.reactivex.", "io.reactivex.rxjava3.core."}) {
            know(
                    Kind.PUBLISHER,
                    rx + "SingleSource",
                    rx + "MaybeSource",
                    rx + "ObservableSource",
                    rx + "CompletableSource");
        }
        know(Kind.PUBLISHER, "io.smallrye.mutiny.Uni", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Job");
        know(Kind.TASK, "java.lang.Runnable", "java.util.concurrent.Callable", "kotlin.Function", "kotlin.Lazy");
        for (String of : new String[] {"", "Boolean", "Int", "Long", "Double"}) {
            know(Kind.TASK, "java.util.function." + of + "Supplier");
        }
        know(
                Kind.LAZY,
                "java.util.stream.BaseStream",
                "java.util.Iterator",
                "java.util.Spliterator",
                "java.util.Enumeration",
                "kotlin.sequences.Sequence");
        for (String async : new String[] {
            "context.request.async.DeferredResult",
            "context.request.async.WebAsyncTask",
            "servlet.mvc.method.annotation.ResponseBodyEmitter",
            "servlet.mvc.method.annotation.StreamingResponseBody"
        }) {
            know(Kind.RESPONSE, "org.springframework.web." + async);
        }
    }

    /** Data, though it is a {@code Supplier} of its stream: pages, slices and windows of Spring Data. */
    private static final String DATA = "org.springframework.data.util.Streamable";

    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

    private static final boolean WEB =
            ClassUtils.isPresent("org.springframework.http.HttpEntity", DeferredWork.class.getClassLoader());

    /** So deep are types looked into whose arguments may be types like themselves. */
    private static final int DEEPEST = 4;

    private static final ClassValue<Optional<Kind>> BY_CLASS = new ClassValue<>() {
        @Override
        protected Optional<Kind> computeValue(Class<?> type) {
            Set<String> names = new LinkedHashSet<>();
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                names.add(each.getName());
            }
            ClassUtils.getAllInterfacesForClassAsSet(type).forEach(each -> addAll(each, names));
            return names.contains(DATA)
                    ? Optional.empty()
                    : names.stream().filter(KINDS::containsKey).map(KINDS::get).findFirst();
        }

        private static void addAll(Class<?> type, Set<String> names) {
            names.add(type.getName());
            for (Class<?> parent : type.getInterfaces()) {
                addAll(parent, names);
            }
        }
    };

    private DeferredWork() {}

    private static void know(Kind kind, String... names) {
        for (String name : names) {
            KINDS.put(name, kind);
        }
    }

    /** Returns whether a method with parameters of these types is one of Kotlin's that suspend. */
    static boolean suspends(Class<?>... parameters) {
        return parameters.length > 0
                && parameters[parameters.length - 1].getName().equals(CONTINUATION);
    }

    /** Returns what a method may return that it declares to return this, or null if it is no such work. */
    static @Nullable Kind declared(ResolvableType type) {
        return declared(type, DEEPEST);
    }

    private static @Nullable Kind declared(ResolvableType type, int deep) {
        Class<?> raw = type.toClass();
        Kind kind = BY_CLASS.get(raw).orElse(null);
        if (kind != null || deep == 0) {
            return kind;
        }
        if (raw.isArray()) {
            return declared(type.getComponentType(), deep - 1);
        }
        if (contains(raw)) {
            for (ResolvableType content : contents(type)) {
                Kind inside = declared(content, deep - 1);
                if (inside != null) {
                    return inside;
                }
            }
        }
        return null;
    }

    /** Returns the types of what an object of a type contains, also of a class that says what they are. */
    static ResolvableType[] contents(ResolvableType type) {
        Class<?> raw = type.toClass();
        for (Class<?> known : new Class<?>[] {Collection.class, Map.class, Future.class, CompletionStage.class}) {
            if (known.isAssignableFrom(raw)) {
                return type.as(known).getGenerics();
            }
        }
        return (type.hasGenerics() || !WEB ? type : type.as(Body.type())).getGenerics();
    }

    private static boolean contains(Class<?> type) {
        return type == Optional.class
                || Collection.class.isAssignableFrom(type)
                || Map.class.isAssignableFrom(type)
                || (WEB && Body.isOf(type));
    }

    /** Returns what a method has returned, or null if it is no such work, or work that is done. */
    static @Nullable Kind returned(@Nullable Object result) {
        if (result == null) {
            return null;
        }
        Kind kind = BY_CLASS.get(result.getClass()).orElse(null);
        if (kind == Kind.FUTURE) {
            return ofFuture(result);
        }
        if (kind != null) {
            return kind;
        }
        if (result instanceof Optional<?> optional) {
            return returned(optional.orElse(null));
        }
        return WEB && Body.isOf(result.getClass()) ? returned(Body.of(result)) : null;
    }

    /** Of a future that is done, what it is done with counts. */
    private static @Nullable Kind ofFuture(Object work) {
        CompletableFuture<?> stage = null;
        try {
            stage = work instanceof CompletionStage<?> begun ? begun.toCompletableFuture() : null;
        } catch (UnsupportedOperationException e) {
            return Kind.FUTURE; // nobody can tell
        }
        if (stage != null && stage.isDone()) {
            return stage.isCompletedExceptionally() ? null : returned(stage.getNow(null));
        }
        return stage == null && work instanceof Future<?> future && future.isDone() ? null : Kind.FUTURE;
    }

    /** A response of Spring's web modules, which may not be there. */
    private static final class Body {
        static boolean isOf(Class<?> type) {
            return HttpEntity.class.isAssignableFrom(type);
        }

        static Class<?> type() {
            return HttpEntity.class;
        }

        static @Nullable Object of(Object response) {
            return ((HttpEntity<?>) response).getBody();
        }
    }
}
