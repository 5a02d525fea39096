package dev.interlock.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How a script is put together from its includes. */
class ScriptIncludeTest {
    private final Map<String, String> sources = new HashMap<>();

    private void source(String name, String... lines) {
        sources.put(name, String.join("\n", lines) + "\n");
    }

    private Iterable<String> lines(String name) {
        return Script.load(name, this::read).text().lines().toList();
    }

    private String read(String name) {
        if (!sources.containsKey(name)) {
            throw new IllegalArgumentException(name);
        }
        return sources.get(name);
    }

    /** An include stands where it is asked for, from its own folder or from another one. */
    @Test
    void includeStandsWhereItIsAskedFor() {
        source("lock/take", "first", "-- @include draw", "second", "-- @include session/clock", "third");
        source("lock/include/draw", "draw");
        source("session/include/clock", "clock");
        assertThat(lines("lock/take")).containsExactly("first", "draw", "second", "clock", "third");
    }

    /** What an include needs comes first, and each include once, though it is asked for several times. */
    @Test
    void includesComeOnceAndAfterWhatTheyNeed() {
        source("lock/take", "-- @include give", "-- @include draw", "take");
        source("lock/include/give", "-- @include session/clock", "-- @include draw", "give");
        source("lock/include/draw", "-- @include session/clock", "draw");
        source("session/include/clock", "clock");
        assertThat(lines("lock/take")).containsExactly("clock", "draw", "give", "take");
    }

    /** An include of another folder finds those of its own. */
    @Test
    void includeIsLookedForBesideItsIncluder() {
        source("lock/take", "-- @include session/mailbox");
        source("session/include/mailbox", "-- @include clock", "mailbox");
        source("session/include/clock", "clock");
        source("lock/include/clock", "not this one");
        assertThat(lines("lock/take")).containsExactly("clock", "mailbox");
    }

    /** Comments and empty lines are left out, not what only looks like a comment. */
    @Test
    void commentsAreLeftOut() {
        source("lock/take", "-- Takes.", "", "first -- this", "  -- no", "  second = '--'");
        assertThat(lines("lock/take")).containsExactly("first -- this", "  second = '--'");
    }

    @Test
    void circleIsRefused() {
        source("lock/take", "-- @include give");
        source("lock/include/give", "-- @include draw");
        source("lock/include/draw", "-- @include give");
        assertThatThrownBy(() -> lines("lock/take"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("[lock/take, lock/include/give, lock/include/draw]");
    }

    @Test
    void missingIncludeIsRefused() {
        source("lock/take", "-- @include give");
        assertThatThrownBy(() -> lines("lock/take"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("lock/include/give");
    }
}
