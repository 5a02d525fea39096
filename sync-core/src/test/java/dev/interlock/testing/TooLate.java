package dev.interlock.testing;

import java.time.Duration;

/** What had to happen did happen, but not as soon as it should. Thrown in tests that are {@link Timely}. */
public final class TooLate extends AssertionError {
    private static final long serialVersionUID = 1;

    private TooLate(String message) {
        super(message);
    }

    /** Something short-lived has ended before it could be prolonged, as {@code cause} says. */
    public TooLate(String what, Throwable cause) {
        super(what + ": " + cause.getMessage(), cause);
    }

    /** Fails unless it took less than {@code bound}. */
    public static void assertWithin(Duration bound, Duration took) {
        assertWithin("it", bound, took);
    }

    /** As {@link #assertWithin(Duration, Duration)}; {@code what} names what took that time. */
    public static void assertWithin(String what, Duration bound, Duration took) {
        if (took.compareTo(bound) >= 0) {
            throw new TooLate(what + " took " + took + " instead of less than " + bound);
        }
    }

    /** As {@link #assertWithin(Duration, Duration)}; that it took less than {@code least} is another failure. */
    public static void assertBetween(Duration least, Duration bound, Duration took) {
        if (took.compareTo(least) < 0) {
            throw new AssertionError("it took " + took + ", less than " + least);
        }
        assertWithin(bound, took);
    }
}
