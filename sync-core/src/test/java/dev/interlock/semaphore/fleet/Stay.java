package dev.interlock.semaphore.fleet;

import static org.assertj.core.api.Assertions.fail;

import dev.interlock.testing.rig.LogFormat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A while for which a thread has had permits of a semaphore.
 *
 * @param jvm index of its JVM in the fleet
 * @param thread index of its thread in that JVM
 * @param begun a moment before {@code acquire()} was called, by the clock of the machine
 * @param enter a moment after it returned
 * @param exit a moment before {@code release()} was called
 * @param permits how many it had
 */
record Stay(int jvm, int thread, long begun, long enter, long exit, int permits) {

    /** How stays are recorded. */
    static final LogFormat<Stay> LOG = new LogFormat<>(
            4, 20_000, (jvm, thread, words) -> new Stay(jvm, thread, words[0], words[1], words[2], (int) words[3]));

    long waited() {
        return enter - begun;
    }

    /**
     * Asserts that at no instant more permits were in use than there are, and returns the most that were. Who leaves in
     * the same nanosecond has left.
     */
    static int assertNeverMoreThan(int permits, List<Stay> stays) {
        List<Stay> entering =
                stays.stream().sorted(Comparator.comparingLong(Stay::enter)).toList();
        List<Stay> inside = new ArrayList<>();
        int inUse = 0;
        int most = 0;
        for (Stay stay : entering) {
            if (stay.exit < stay.enter || stay.enter < stay.begun) {
                fail("A clock went backwards: %s", stay);
            }
            if (stay.permits < 1) {
                fail("Nobody comes for %d permits: %s", stay.permits, stay);
            }
            inUse -= inside.stream()
                    .filter(other -> other.exit <= stay.enter)
                    .mapToInt(Stay::permits)
                    .sum();
            inside.removeIf(other -> other.exit <= stay.enter);
            inside.add(stay);
            inUse += stay.permits;
            if (inUse > permits) {
                fail("%d permits in use of %d: %s", inUse, permits, inside);
            }
            most = Math.max(most, inUse);
        }
        return most;
    }
}
