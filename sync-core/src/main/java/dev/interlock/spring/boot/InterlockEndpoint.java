package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import dev.interlock.ops.FleetView;
import dev.interlock.ops.NameView;
import dev.interlock.ops.SessionView;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Actuator's endpoint {@code interlock}: who holds what and who waits for it, in the whole fleet. It only reads, unless
 * {@code management.endpoint.interlock.access} is {@code unrestricted}: then an operator may take a lock from a thread.
 */
@Endpoint(id = "interlock", defaultAccess = Access.READ_ONLY)
public final class InterlockEndpoint {
    private final Interlock interlock;

    InterlockEndpoint(Interlock interlock) {
        this.interlock = interlock;
    }

    /**
     * What the sessions of a fleet have.
     *
     * @param sessions the sessions
     * @param names the names in which they have something
     */
    public record Fleet(List<SessionView> sessions, List<NameView> names) {}

    /**
     * Returns all sessions, and names that match a pattern.
     *
     * @param glob as in {@link dev.interlock.ops.Operator#find}; null for all names
     */
    @ReadOperation
    @SuppressWarnings("deprecation") // by which Boot 3.5 knows that a parameter may be missing
    public Fleet fleet(@org.springframework.lang.Nullable String glob) {
        // By one question: a session that answers late must not look as if it had nothing.
        FleetView seen = interlock.operator().look(glob == null || glob.isEmpty() ? "*" : glob);
        return new Fleet(seen.sessions(), seen.names());
    }

    /**
     * Returns the holders and waiters of a name, or null, which is status 404, if it is free.
     *
     * @param name the name, whose parts between slashes come one by one
     */
    @ReadOperation
    public @Nullable List<NameView> name(@Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        List<NameView> views = interlock.operator().inspect(String.join("/", name));
        return views.isEmpty() ? null : views;
    }

    /**
     * Takes a lock from the thread that has entered with a fencing token, as
     * {@link dev.interlock.ops.Operator#forceRelease} does.
     *
     * @param name the name, whose parts between slashes come one by one
     * @param token the token of its holder
     * @return whether it was released
     */
    @DeleteOperation
    public Map<String, Boolean> forceRelease(
            long token, @Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        return Map.of("released", interlock.operator().forceRelease(String.join("/", name), token));
    }
}
