package dev.interlock.lock.fleet.section;

import static org.assertj.core.api.Assertions.fail;

import dev.interlock.testing.rig.LogFormat;
import java.util.Comparator;
import java.util.List;

/**
 * One critical section that a thread has been through.
 *
 * @param jvm index of its JVM in the fleet
 * @param thread index of its thread in that JVM
 * @param enter a moment after {@code lock()} returned, by the clock of the machine
 * @param exit a moment before {@code unlock()} was called
 * @param token the fencing token, or {@link #NO_TOKEN}
 */
public record Section(int jvm, int thread, long enter, long exit, long token) {

    /** What a lock without fencing tokens has instead. */
    public static final long NO_TOKEN = 0;

    /** How sections are recorded. */
    public static final LogFormat<Section> LOG =
            new LogFormat<>(3, 100_000, (jvm, thread, words) -> new Section(jvm, thread, words[0], words[1], words[2]));

    /** Asserts that no two sections overlap, and that fencing tokens strictly increase in their order. */
    public static void assertExclusiveAndFenced(List<Section> sections) {
        List<Section> ordered = sections.stream()
                .sorted(Comparator.comparingLong(Section::enter).thenComparingLong(Section::exit))
                .toList();
        Section previous = null;
        Section fenced = null;
        for (Section section : ordered) {
            if (section.exit < section.enter) {
                fail("A clock went backwards: %s", section);
            }
            if (previous != null && section.enter < previous.exit) {
                fail(
                        "Overlap by %d ns:%n%s%n%s%n%s",
                        previous.exit - section.enter, previous, section, around(ordered, section));
            }
            if (section.token != NO_TOKEN) {
                if (fenced != null && section.token <= fenced.token) {
                    fail("Fencing tokens don't increase:%n%s%n%s%n%s", fenced, section, around(ordered, section));
                }
                fenced = section;
            }
            previous = section;
        }
    }

    private static String around(List<Section> ordered, Section section) {
        int index = ordered.indexOf(section);
        var text = new StringBuilder("among:");
        ordered.subList(Math.max(0, index - 10), Math.min(ordered.size(), index + 10))
                .forEach(near -> text.append(System.lineSeparator()).append(near));
        return text.toString();
    }
}
