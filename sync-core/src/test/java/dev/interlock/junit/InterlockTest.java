package dev.interlock.junit;

import dev.interlock.InterlockBuilder;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Injects sessions into the tests of a class: an {@link dev.interlock.Interlock}, more of them that stand for other
 * JVMs ({@link OtherSession}), and {@link InterlockFaults}. They are closed after each test.
 *
 * <pre>{@code
 * @InterlockTest
 * class OrdersTest {
 *     @Test
 *     void otherJvmWaits(Interlock mine, @OtherSession Interlock other) {
 *         mine.lock("order:42").lock();
 *         assertThat(other.lock("order:42").tryLock()).isFalse();
 *     }
 * }
 * }</pre>
 *
 * <p>Redis is that of the environment variable {@code REDIS_URL}; or else one in a container, if Testcontainers is on
 * the class path and Docker answers; or else an embedded one, which is started once a JVM. Each test has a namespace of
 * its own in it, so that it finds nothing that others have left. What {@code @BeforeAll} or a test instance of the life
 * cycle {@code PER_CLASS} has been given is shared by all tests of the class.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(InterlockExtension.class)
public @interface InterlockTest {

    /** Changes the settings of all sessions, such as the lease. It has a constructor without parameters. */
    Class<? extends UnaryOperator<InterlockBuilder>> settings() default Usual.class;

    /** The settings that {@link dev.interlock.Interlock#builder} begins with. */
    final class Usual implements UnaryOperator<InterlockBuilder> {
        /** Creates it. */
        public Usual() {}

        @Override
        public InterlockBuilder apply(InterlockBuilder builder) {
            return builder;
        }
    }
}
