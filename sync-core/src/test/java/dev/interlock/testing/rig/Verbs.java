package dev.interlock.testing.rig;

import dev.interlock.testing.Monotonic;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What threads of a {@link Console} can be told to do, by name. */
public final class Verbs {

    /** Something to do. */
    @FunctionalInterface
    public interface Verb {

        /** Does it, and returns the answer. What it throws is answered by {@code THREW <verb> <class> <message>}. */
        String run(List<String> words) throws Exception;
    }

    private final Map<String, Verb> verbs = new HashMap<>();

    /** Adds a verb. */
    public Verbs on(String name, Verb verb) {
        verbs.put(name, verb);
        return this;
    }

    /**
     * Adds what a thread can be inside of, in two verbs: its name, which enters, and {@code leave-<name>}.
     *
     * @param token the fencing token of a thread that is inside
     */
    public Verbs section(String name, Runnable enter, Runnable leave, LongSupplier token) {
        return on(name, words -> {
                    enter.run();
                    return "ENTERED " + Monotonic.nanos() + " " + token.getAsLong();
                })
                .on("leave-" + name, words -> {
                    long exit = Monotonic.nanos();
                    leave.run();
                    return "LEFT " + exit;
                });
    }

    /** Adds a verb that fails if something isn't held. */
    public Verbs asserting(String name, Runnable assertHeld) {
        return on(name, words -> {
            assertHeld.run();
            return "HELD";
        });
    }

    String answer(String name, List<String> words) {
        try {
            @Nullable Verb verb = verbs.get(name);
            if (verb == null) {
                throw new IllegalArgumentException(name);
            }
            return verb.run(words);
        } catch (Exception | Error e) {
            return "THREW " + name + " " + e.getClass().getSimpleName() + " " + e.getMessage();
        }
    }
}
