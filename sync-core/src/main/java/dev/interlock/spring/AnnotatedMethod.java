package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.Names;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.WildcardType;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * A method with one of our annotations, whose attributes it reads; its errors say where the annotation stands.
 *
 * @param method the one that runs, of the class of the bean or a superclass
 * @param type the class of the bean
 */
record AnnotatedMethod(
        Class<? extends Annotation> annotation, Method method, Class<?> type, ConfigurableBeanFactory beans) {

    /** A third of the bytes that a holder may have, as many as a character has at most. */
    private static final int MOST_OF_NAME = 341;

    /** A proxy has to come between the caller and the method: one that is called past it runs without any rule. */
    AnnotatedMethod checkInterceptable() {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            throw refusal(
                    "a " + (Modifier.isStatic(modifiers) ? "static" : "private")
                            + " method can't be intercepted, and would run without it; make it an instance method"
                            + " that is public, and call it from another bean",
                    null);
        }
        if (Modifier.isFinal(modifiers) && !(isOfInterface() && areProxiesOfInterfaces())) {
            throw refusal(
                    "a final method can't be intercepted, and would run without it; let it not be final (in Kotlin,"
                            + " open)",
                    null);
        }
        boolean isHidden = (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
                && !method.getDeclaringClass().getPackageName().equals(type.getPackageName());
        if (isHidden) {
            throw refusal(
                    "a method that is visible in the package of "
                            + method.getDeclaringClass().getName()
                            + " only can't be intercepted in a subclass elsewhere; make it public",
                    null);
        }
        return this;
    }

    private boolean isOfInterface() {
        return !ClassUtils.getInterfaceMethodIfPossible(method, type).equals(method);
    }

    /** Whether a proxy implements the interfaces of a bean, instead of being a subclass. */
    private boolean areProxiesOfInterfaces() {
        String creator = AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME;
        return beans.containsSingleton(creator)
                && beans.getSingleton(creator) instanceof ProxyConfig proxies
                && !proxies.isProxyTargetClass();
    }

    /** Returns an attribute that may contain properties and expressions. */
    NameTemplate template(String attribute, String text) {
        return NameTemplate.parse(this, attribute, resolved(attribute, text));
    }

    /** Returns an attribute that may contain properties. */
    String resolved(String attribute, String text) {
        // Without Spring's configurer of placeholders, one that isn't known stays as it is.
        String resolved = text;
        IllegalArgumentException unknown = null;
        try {
            resolved = String.valueOf(beans.resolveEmbeddedValue(text));
        } catch (IllegalArgumentException e) {
            unknown = e;
        }
        if (resolved.contains("${")) {
            throw refusal(attribute + " " + Names.quoted(text) + " has a property that isn't known", unknown);
        }
        return resolved;
    }

    Duration duration(String attribute, String text) {
        String resolved = resolved(attribute, text);
        try {
            Duration duration = DurationStyle.detectAndParse(resolved);
            if (!duration.isNegative()) {
                return duration;
            }
        } catch (IllegalArgumentException e) {
            throw refusal(notADuration(attribute, resolved), e);
        }
        throw refusal(notADuration(attribute, resolved), null);
    }

    private static String notADuration(String attribute, String text) {
        return attribute + " must be a duration of 0 or more, such as 5s or PT5S, but is " + Names.quoted(text);
    }

    /** A call that is skipped has a result all the same. */
    void checkSkippable(String otherwise) {
        Class<?> result = method.getReturnType();
        if (result.isPrimitive() && result != void.class) {
            throw refusal("a call that is skipped has no result of type " + result + "; " + otherwise, null);
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(result);
        if (adapter != null && !adapter.supportsEmpty()) {
            throw refusal("a call that is skipped has no element for a " + result.getName() + "; " + otherwise, null);
        }
    }

    /** Returns the declared type, of a function of Kotlin's that suspends the one that its source declares. */
    ResolvableType result() {
        if (!suspends()) {
            return ResolvableType.forMethodReturnType(method, type);
        }
        ResolvableType result = ResolvableType.forMethodParameter(method, method.getParameterCount() - 1, type)
                .getGeneric(0);
        return result.getType() instanceof WildcardType wildcard && wildcard.getLowerBounds().length == 1
                ? ResolvableType.forType(wildcard.getLowerBounds()[0], result)
                : result;
    }

    /** Returns the declared types of what the work has as its result when it is over. */
    private ResolvableType[] contents() {
        ResolvableType result = result();
        return suspends() && !isFlow() ? new ResolvableType[] {result} : DeferredWork.contents(result);
    }

    boolean suspends() {
        return DeferredWork.suspends(method.getParameterTypes());
    }

    /** Returns whether the result is a flow of Kotlin's, of a function that suspends or not. */
    boolean isFlow() {
        return result().toClass().getName().equals("kotlinx.coroutines.flow.Flow");
    }

    /**
     * Checks that the result doesn't contain work that outlives what is held.
     *
     * @param followed whether the method's own result is followed; the result of that isn't
     */
    void checkWork(boolean followed) {
        if (suspends() && !followed) {
            throw unprotected("the lock would be released when the method suspends", DeferredWork.Kind.SUSPENDED);
        }
        for (ResolvableType each : followed ? contents() : new ResolvableType[] {result()}) {
            DeferredWork.Kind work = DeferredWork.declared(each);
            if (work != null) {
                throw unprotected("the lock would be released when the method returns its " + shown(result()), work);
            }
        }
    }

    private IllegalStateException unprotected(String when, DeferredWork.Kind work) {
        return refusal(when + ", before the work is done; " + work.instead, null);
    }

    private static String shown(ResolvableType type) {
        return type.hasGenerics() ? type.toString() : type.toClass().getSimpleName();
    }

    boolean isAsync() {
        return AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(type, Async.class);
    }

    /** Returns the error of a result that is, or has inside, work that isn't followed; null if it isn't. */
    @Nullable
    IllegalStateException refusalOf(@Nullable Object result) {
        DeferredWork.Kind work = DeferredWork.returned(result);
        return work == null
                ? null
                : unprotected(
                        "the lock is released when the method has returned its "
                                + requireNonNull(result).getClass().getName(),
                        work);
    }

    /** Returns a result that isn't refused. */
    @Nullable
    Object checkedResult(@Nullable Object result) {
        IllegalStateException refusal = refusalOf(result);
        if (refusal != null) {
            throw refusal;
        }
        return result;
    }

    /** Returns an object to follow. */
    Object present(@Nullable Object result) {
        if (result == null) {
            throw refusal("the method has returned null, no " + shown(result()), null);
        }
        return result;
    }

    /** Returns the result of a call that is skipped. */
    @Nullable
    Object nothing() {
        return nothing(result());
    }

    /** Returns the result of the work that is skipped. */
    @Nullable
    Object nothingInside() {
        ResolvableType[] contents = contents();
        return contents.length == 0 ? null : nothing(contents[0]);
    }

    private static @Nullable Object nothing(ResolvableType type) {
        return type.toClass() == Optional.class ? Optional.empty() : null;
    }

    /** Returns a text for operators, which says what holds a name or a permit. */
    String holder() {
        String name = method.getDeclaringClass().getName() + "." + method.getName();
        return name.substring(0, Math.min(name.length(), MOST_OF_NAME));
    }

    IllegalStateException refusal(String why, @Nullable Throwable cause) {
        return new IllegalStateException(this + ": " + why, cause);
    }

    @Override
    public String toString() {
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(
                        ", ",
                        "@" + annotation.getSimpleName() + " of "
                                + method.getDeclaringClass().getName() + "." + method.getName() + "(",
                        ")"));
    }
}
