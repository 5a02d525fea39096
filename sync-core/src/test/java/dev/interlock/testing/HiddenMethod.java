package dev.interlock.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A method that a class shows only to its subclasses. */
public final class HiddenMethod {
    private final Method method;

    /** The method that {@code owner} declares. */
    public HiddenMethod(Class<?> owner, String name, Class<?>... parameters) {
        try {
            method = owner.getDeclaredMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            throw new LinkageError(e.getMessage(), e);
        }
        method.setAccessible(true);
    }

    /** Calls it; fails as it does, if that is unchecked. */
    public @Nullable Object on(@Nullable Object target, @Nullable Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            if (e.getCause() instanceof Error refused) {
                throw refused;
            }
            throw new AssertionError(method + " failed", e.getCause());
        } catch (IllegalAccessException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** The collection that it returns. */
    public Collection<?> listOf(Object target, @Nullable Object... arguments) {
        return (Collection<?>) Objects.requireNonNull(on(target, arguments));
    }
}
