package dev.interlock.examples.operations;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.google.common.base.Suppliers;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.FleetView;
import dev.interlock.ops.NameView;
import dev.interlock.ops.SessionView;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * What the page shows: the records of {@link dev.interlock.ops} as they are, so that what these are given more of is in
 * the answer, too.
 */
@RestController
final class FleetEndpoint {

    /** More than one page can show. */
    private static final int MOST_NAMES = 100;

    /** Each look asks all sessions: all who watch the page share it, and there is one at a time. */
    private static final Duration AGE_OF_A_LOOK = Duration.ofMillis(500);

    private static final Comparator<NameView> MOST_WANTED = Comparator.<NameView>comparingInt(
                    name -> name.waiters().size())
            .reversed()
            .thenComparing(NameView::name);

    private final Interlock interlock;
    private final Supplier<Look> looks = Suppliers.memoizeWithExpiration(this::look, AGE_OF_A_LOOK);

    FleetEndpoint(Interlock interlock) {
        this.interlock = interlock;
    }

    /**
     * What was seen.
     *
     * @param self the id of the session that has looked
     * @param namesInAll how many names there are
     * @param names those that most wait for, in alphabetical order
     */
    record Fleet(
            String self, List<SessionView> sessions, int namesInAll, List<NameView> names, List<Deadlock> deadlocks) {}

    /** What was seen, or why it wasn't: failures are shared as well, since each takes a command time-out. */
    private record Look(@Nullable Fleet seen, @Nullable RedisUnavailableException failure) {}

    @GetMapping("/fleet")
    Fleet fleet() {
        Look look = looks.get();
        if (look.seen == null) {
            throw requireNonNull(look.failure);
        }
        return look.seen;
    }

    private Look look() {
        try {
            FleetView seen = interlock.operator().look("*");
            List<NameView> shown = seen.names().stream()
                    .sorted(MOST_WANTED)
                    .limit(MOST_NAMES)
                    .sorted(Comparator.comparing(NameView::name))
                    .toList();
            var fleet = new Fleet(interlock.id(), seen.sessions(), seen.names().size(), shown, seen.deadlocks());
            return new Look(fleet, null);
        } catch (RedisUnavailableException e) {
            return new Look(null, e);
        }
    }

    /** Tokens have more digits than JavaScript keeps of a number; and it has no durations, but reads seconds. */
    @Bean
    static JsonMapperBuilderCustomizer forJavaScript() {
        return mapper -> mapper.withConfigOverride(long.class, type -> type.setFormat(shape(JsonFormat.Shape.STRING)))
                .withConfigOverride(Duration.class, type -> type.setFormat(shape(JsonFormat.Shape.NUMBER)));
    }

    private static JsonFormat.Value shape(JsonFormat.Shape shape) {
        return JsonFormat.Value.forShape(shape);
    }
}
