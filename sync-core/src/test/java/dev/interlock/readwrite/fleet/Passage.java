package dev.interlock.readwrite.fleet;

import static org.assertj.core.api.Assertions.fail;

import dev.interlock.testing.rig.LogFormat;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One section that a thread has been through, for reading or for writing. Writers write their fencing token to two
 * places, one after the other.
 *
 * @param jvm index of its JVM in the fleet
 * @param thread index of its thread in that JVM
 * @param begun a moment before {@code lock()} was called, by the clock of the machine
 * @param enter a moment after it returned
 * @param exit a moment before {@code unlock()} was called
 * @param token the fencing token, or {@link #READER}
 * @param first what stood in the first place on entry
 * @param second what stood in the second place: on entry, or for a reader later
 */
record Passage(int jvm, int thread, long begun, long enter, long exit, long token, long first, long second) {

    /** What a reader has instead of a fencing token. */
    static final long READER = 0;

    /** How passages are recorded. */
    static final LogFormat<Passage> LOG = new LogFormat<>(
            6,
            20_000,
            (jvm, thread, words) ->
                    new Passage(jvm, thread, words[0], words[1], words[2], words[3], words[4], words[5]));

    boolean writes() {
        return token != READER;
    }

    long waited() {
        return enter - begun;
    }

    /**
     * Asserts that nobody is inside together with a writer; that fencing tokens strictly increase in the order of their
     * writers; and that everybody finds in both places what the last writer before him has written.
     */
    static void assertReadersShareAndWritersExclude(List<Passage> passages) {
        List<Passage> ordered = passages.stream()
                .sorted(Comparator.comparingLong(Passage::enter).thenComparingLong(Passage::exit))
                .toList();
        Passage writer = null;
        Passage longest = null;
        for (Passage passage : ordered) {
            if (passage.exit < passage.enter || passage.enter < passage.begun) {
                fail("A clock went backwards: %s", passage);
            }
            if (writer != null && passage.enter < writer.exit) {
                fail("Beside a writer for %d ns:%s", writer.exit - passage.enter, around(ordered, writer, passage));
            }
            if (passage.writes() && longest != null && passage.enter < longest.exit) {
                fail(
                        "Writes beside another for %d ns:%s",
                        longest.exit - passage.enter, around(ordered, longest, passage));
            }
            if (passage.writes() && writer != null && passage.token <= writer.token) {
                fail("Fencing tokens don't increase:%s", around(ordered, writer, passage));
            }
            if (passage.first != passage.second) {
                fail("A torn pair:%s", around(ordered, passage, passage));
            }
            if (passage.first != (writer == null ? 0 : writer.token)) {
                fail("Not what the last writer has written:%s", around(ordered, writer, passage));
            }
            if (passage.writes()) {
                writer = passage;
            }
            if (longest == null || passage.exit > longest.exit) {
                longest = passage;
            }
        }
    }

    private static String around(List<Passage> ordered, @Nullable Passage other, Passage passage) {
        int index = ordered.indexOf(passage);
        var text = new StringBuilder();
        text.append(System.lineSeparator()).append(other);
        text.append(System.lineSeparator()).append(passage);
        text.append(System.lineSeparator()).append("among:");
        ordered.subList(Math.max(0, index - 10), Math.min(ordered.size(), index + 10))
                .forEach(near -> text.append(System.lineSeparator()).append(near));
        return text.toString();
    }
}
