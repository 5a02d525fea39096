package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A drop-in has looked at every method that its parent lets it override. */
class DropInTest {

    private static final Map<Class<?>, Class<?>> DROP_INS = Map.of(
            CountDownLatch.class, DistributedCountDownLatch.class,
            CyclicBarrier.class, DistributedCyclicBarrier.class,
            ReentrantLock.class, DistributedReentrantLock.class,
            ReentrantReadWriteLock.class, DistributedReadWriteLock.class,
            ReentrantReadWriteLock.ReadLock.class, DistributedReadWriteLock.ReadLock.class,
            ReentrantReadWriteLock.WriteLock.class, DistributedReadWriteLock.WriteLock.class,
            Semaphore.class, DistributedSemaphore.class);

    static Stream<Arguments> overridable() {
        return DROP_INS.keySet().stream()
                .flatMap(parent -> Arrays.stream(parent.getDeclaredMethods()))
                .filter(method -> !method.isSynthetic())
                .filter(method ->
                        Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers()))
                .filter(method -> !Modifier.isFinal(method.getModifiers()) && !Modifier.isStatic(method.getModifiers()))
                .map(method -> Arguments.of(DROP_INS.get(method.getDeclaringClass()), method));
    }

    @ParameterizedTest
    @MethodSource("overridable")
    void overridesEveryMethodOfItsParent(Class<?> dropIn, Method method) throws NoSuchMethodException {
        Method own = dropIn.getDeclaredMethod(method.getName(), method.getParameterTypes());
        Class<?> expected = DROP_INS.getOrDefault(method.getReturnType(), method.getReturnType());
        assertThat(own.getReturnType()).isEqualTo(expected);
        assertThat(dropIn.getSuperclass()).isEqualTo(method.getDeclaringClass());
    }
}
