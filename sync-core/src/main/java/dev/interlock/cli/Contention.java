package dev.interlock.cli;

import com.google.common.base.Ascii;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** How much a name is wanted. */
final class Contention {
    private static final Set<String> HELD_BY_NOBODY = Set.of("latch", "barrier");
    private static final Comparator<NameView> MOST_WANTED = Comparator.<NameView>comparingInt(
                    name -> name.waiters().size())
            .thenComparing(name -> age(name).orElse(Duration.ZERO))
            .reversed()
            .thenComparing(NameView::name);

    private Contention() {}

    /** Returns names by the number of their waiters, and then by how long they have been held, most first. */
    static List<NameView> sorted(List<NameView> names) {
        return names.stream().sorted(MOST_WANTED).toList();
    }

    /** Returns since when the thread that has been in there longest is inside, if that is known. */
    static Optional<Duration> age(NameView name) {
        return name.holders().stream().map(Holder::age).filter(Objects::nonNull).max(Comparator.naturalOrder());
    }

    /**
     * Returns the state of the holder that matters most. If there is none, that is {@code free}, or {@code awaited} of
     * what nobody ever holds.
     */
    static String state(NameView name) {
        return name.holders().stream()
                .map(Holder::state)
                .min(Comparator.comparingInt(List.of(State.INSIDE, State.SILENT, State.LEAVING, State.KEPT)::indexOf))
                .map(state -> Ascii.toLowerCase(state.name()))
                .orElse(HELD_BY_NOBODY.contains(name.kind()) ? "awaited" : "free");
    }
}
