package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.Names;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
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
    AnnotatedMethod checkSkippable(String otherwise) {
        Class<?> result = method.getReturnType();
        if (result.isPrimitive() && result != void.class) {
            throw refusal("a call that is skipped has no result of type " + result + "; " + otherwise, null);
        }
        return this;
    }

    /** What is held until the method returns must not be needed by work that it only begins. */
    AnnotatedMethod checkDoneOnReturn() {
        ResolvableType result = ResolvableType.forMethodReturnType(method, type);
        DeferredWork.Kind work = DeferredWork.suspends(method.getParameterTypes())
                ? DeferredWork.Kind.SUSPENDED
                : DeferredWork.declared(result, isAsync());
        if (work != null) {
            String what = work == DeferredWork.Kind.SUSPENDED ? "suspends" : "returns its " + shown(result);
            throw refusal(
                    "the lock would be released when the method " + what + ", before the work is done; " + work.instead,
                    null);
        }
        return this;
    }

    private static String shown(ResolvableType type) {
        return type.hasGenerics() ? type.toString() : type.toClass().getSimpleName();
    }

    private boolean isAsync() {
        return AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(type, Async.class);
    }

    /** The same of what the method has returned, which its declared type may not tell. */
    @Nullable
    Object checkedResult(@Nullable Object result) {
        DeferredWork.Kind work = DeferredWork.returned(result);
        if (work != null) {
            throw refusal(
                    "the method has returned a "
                            + requireNonNull(result).getClass().getName()
                            + ", and the lock is released before the work is done; " + work.instead,
                    null);
        }
        return result;
    }

    /** What a call that is skipped returns. */
    @Nullable
    Object nothing() {
        return method.getReturnType() == Optional.class ? Optional.empty() : null;
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
