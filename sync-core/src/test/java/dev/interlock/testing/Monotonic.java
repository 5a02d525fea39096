package dev.interlock.testing;

/**
 * A monotonic clock that all JVMs of one machine share, for ordering events of several processes.
 *
 * <p>The Javadoc of {@link System#nanoTime()} promises nothing across JVMs. HotSpot reads {@code CLOCK_MONOTONIC} on
 * Linux and {@code mach_absolute_time} on macOS, though: both count from the boot of the machine, in every process
 * alike. It is comparable neither between machines nor between a container's virtual machine and its host.
 */
public final class Monotonic {

    private Monotonic() {}

    /** Nanoseconds since an origin that is the same in every JVM of this machine. */
    public static long nanos() {
        return System.nanoTime();
    }
}
