package dev.interlock.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that asserts how soon something happens, which a busy machine may refute. The build runs these tests by
 * themselves and repeats one that was late, once. {@link OnlyLateTestsRepeat} sees to it that nothing else is repeated.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Tag("timing")
@ExtendWith(OnlyLateTestsRepeat.class)
public @interface Timely {}
