package dev.interlock.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator finds names by patterns. */
class PatternsTest extends FaultFixture {
    private Operator operator;

    @BeforeEach
    void look() {
        operator = undisturbed().operator();
    }

    @Test
    void namesAreFoundByPatterns() {
        List<String> names = List.of("a.b\nc", "invoice.1", "order:1", "order:2", "x\uD83D\uDE00");
        Interlock session = session();
        Actor holder = actor("holder");
        names.forEach(name -> holder.run(session.lock(name)::lock));
        assertFound("*", names);
        assertFound("**", names);
        assertFound("order:*", List.of("order:1", "order:2"));
        assertFound("*:?", List.of("order:1", "order:2"));
        assertFound("order:1", List.of("order:1"));
        assertFound("order:1*", List.of("order:1"));
        assertFound("*r*r*1", List.of("order:1"));
        assertFound("?nvoice.1", List.of("invoice.1"));
        assertFound("a*c", List.of("a.b\nc"));
        assertFound("a?b?c", List.of("a.b\nc"));
        assertFound("x?", List.of("x\uD83D\uDE00"));
        for (String glob :
                List.of("order", "rder:1", "order:1?", "?order:1", "*order", "invoice?2", ".*", "x??", "[o]*")) {
            assertFound(glob, List.of());
        }
        names.forEach(name -> holder.run(session.lock(name)::unlock));
    }

    private void assertFound(String glob, List<String> names) {
        assertThat(operator.find(glob)).as(glob).extracting(NameView::name).containsExactlyElementsOf(names);
    }

    /** As a regular expression it would take longer than the world has existed, and keep leases from being renewed. */
    @Test
    void aPatternStopsNoSession() {
        String name = "a".repeat(1_024);
        Interlock session = session();
        Actor holder = actor("holder");
        holder.run(session.lock(name)::lock);
        assertFound("*a".repeat(499) + "*b", List.of());
        assertFound("*a".repeat(500), List.of(name));
        assertThat(operator.sessions()).noneMatch(SessionView::isSilent);
        holder.run(session.lock(name)::unlock);
        assertThatThrownBy(() -> operator.find("a".repeat(1_001)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("glob must be at most 1000 characters long, but has 1001");
    }
}
