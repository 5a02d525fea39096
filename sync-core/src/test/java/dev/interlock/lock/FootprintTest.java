package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.internal.session.LeaseRenewer;
import dev.interlock.internal.session.Session;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a name takes in the heap of a session, which may have many thousands: the objects that a lock reaches and other
 * locks of its session don't, without the name's own text. They are counted as HotSpot lays them out by default.
 */
class FootprintTest {
    private static final int HEADER_BYTES = 12;
    private static final int REFERENCE_BYTES = 4;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private final Interlock interlock =
            Interlock.builder().uri(RedisServer.provided().url()).open();

    private final Set<Object> counted = Collections.newSetFromMap(new IdentityHashMap<>());

    @AfterEach
    void close() {
        interlock.close();
    }

    private DistributedReentrantLock lock(String name) {
        String whole = keyspace.name(name);
        counted.add(whole);
        return interlock.lock(whole);
    }

    /** 32 bytes of it are what the session's pulse, which looks once a second, has seen of the holder. */
    @Test
    void aHeldNameTakesLittle() throws IllegalAccessException {
        DistributedReentrantLock other = lock("other");
        DistributedReentrantLock held = lock("held");
        other.lock();
        held.lock();
        bytes(other);
        assertThat(bytes(held)).isBetween(700L, 1_150L);
        held.unlock();
        other.unlock();
    }

    @Test
    void aNameThatWasNeverLockedTakesLess() throws IllegalAccessException {
        DistributedReentrantLock other = lock("other");
        DistributedReentrantLock idle = lock("idle");
        bytes(other);
        assertThat(bytes(idle)).isBetween(500L, 940L);
    }

    private long bytes(Object object) throws IllegalAccessException {
        boolean isShared = object instanceof Thread || object instanceof Session || object instanceof LeaseRenewer;
        if (object == null || isShared || isNode(object) || !counted.add(object)) {
            return 0;
        }
        long own = HEADER_BYTES;
        long reached = 0;
        Class<?> type = object.getClass();
        if (type.isArray()) {
            own += Integer.BYTES + (long) Array.getLength(object) * bytesOf(type.getComponentType());
        }
        if (object instanceof Object[] elements) {
            for (Object element : elements) {
                reached += bytes(element);
            }
        }
        for (; type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    own += bytesOf(field.getType());
                    boolean isRead = !field.getType().isPrimitive() && field.trySetAccessible();
                    reached += isRead ? bytes(field.get(object)) : 0;
                }
            }
        }
        return (own + 7) / 8 * 8 + reached;
    }

    /** A mutex for which a thread has waited keeps one node of its queue; whether one has is chance. */
    private static boolean isNode(Object object) {
        return object.getClass().getEnclosingClass() == AbstractQueuedSynchronizer.class;
    }

    private static int bytesOf(Class<?> type) {
        if (type == long.class || type == double.class) {
            return Long.BYTES;
        } else if (type == boolean.class || type == byte.class) {
            return 1;
        }
        return type == char.class || type == short.class ? Short.BYTES : REFERENCE_BYTES;
    }
}
