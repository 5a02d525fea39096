package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A drop-in has looked at every method that its parent lets it override. */
class DropInTest {

    static Stream<Method> overridable() {
        return Arrays.stream(ReentrantLock.class.getDeclaredMethods())
                .filter(method -> !method.isSynthetic())
                .filter(method ->
                        Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers()))
                .filter(method ->
                        !Modifier.isFinal(method.getModifiers()) && !Modifier.isStatic(method.getModifiers()));
    }

    @ParameterizedTest
    @MethodSource("overridable")
    void overridesEveryMethodOfItsParent(Method method) throws NoSuchMethodException {
        Method own = DistributedReentrantLock.class.getDeclaredMethod(method.getName(), method.getParameterTypes());
        assertThat(own.getReturnType()).isEqualTo(method.getReturnType());
        assertThat(DistributedReentrantLock.class.getSuperclass()).isEqualTo(ReentrantLock.class);
    }
}
