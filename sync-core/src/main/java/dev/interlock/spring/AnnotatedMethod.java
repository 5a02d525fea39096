package dev.interlock.spring;

import dev.interlock.internal.Names;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/** A method with one of our annotations, whose attributes it reads; its errors say where the annotation stands. */
record AnnotatedMethod(Class<? extends Annotation> annotation, Method method, ConfigurableBeanFactory beans) {

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
        Class<?> result = method.getReturnType();
        boolean later = Future.class.isAssignableFrom(result)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(result) != null;
        if (later && !AnnotatedElementUtils.hasAnnotation(method, Async.class)) {
            throw refusal(
                    "the lock would be released when the method returns its " + result.getSimpleName()
                            + ", before the work is done; return the result itself, or make the method @Async",
                    null);
        }
        return this;
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
