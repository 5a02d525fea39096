package dev.interlock.spring.boot;

import dev.interlock.InterlockBuilder;

/**
 * A bean that sets what has no property, such as the listener, when the session is opened. It is called when all
 * properties are set; it leaves the connection alone.
 */
@FunctionalInterface
public interface InterlockBuilderCustomizer {
    /**
     * Changes settings.
     *
     * @param builder the builder of the session
     */
    void customize(InterlockBuilder builder);
}
