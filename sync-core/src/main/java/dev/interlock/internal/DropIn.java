package dev.interlock.internal;

import java.io.NotSerializableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the drop-in types have in common and, having JDK superclasses, can't inherit. */
public final class DropIn {
    private DropIn() {}

    /** Returns the beginning of a {@code toString}: the type, the identity and the name. */
    public static String describe(Class<?> type, Object identity, String name) {
        return type.getName() + "@" + Integer.toHexString(identity.hashCode()) + "[" + Names.excerpt(name) + "]";
    }

    /** Returns queued threads in their order: the JDK returns the last one first, though it promises no order. */
    public static List<Thread> firstToLast(Collection<Thread> queued) {
        List<Thread> threads = new ArrayList<>(queued);
        Collections.reverse(threads);
        return threads;
    }

    /** Returns the part of a {@code toString} that says which thread of this JVM holds a lock. */
    public static String describe(@Nullable Thread owner) {
        return owner == null ? "[Unlocked]" : "[Locked by thread " + owner.getName() + "]";
    }

    /**
     * Returns the exception that refuses serialization.
     *
     * @param kind what the type is: a lock, a semaphore
     */
    public static NotSerializableException notSerializable(Class<?> type, String kind) {
        return new NotSerializableException(
                type.getName() + ": a distributed " + kind + " belongs to its session; obtain it by its name there");
    }
}
