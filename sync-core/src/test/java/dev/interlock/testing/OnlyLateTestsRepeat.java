package dev.interlock.testing;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Fails the repetition of a test that failed because of anything but time: what must never happen has happened, however
 * often it doesn't happen again. Repetitions run in the JVM of the first run.
 */
final class OnlyLateTestsRepeat implements TestWatcher, BeforeEachCallback {
    /**
     * How AssertJ's {@code succeedsWithin} and {@code failsWithin} tell of it; they have no error type of their own.
     */
    private static final Pattern UNFINISHED_FUTURE =
            Pattern.compile("Expecting\\s+<CompletableFuture\\[Incomplete]>\\s+to be completed within"
                    + "|to be an instance of:\\s+\\S+\\s+but was:\\s+java\\.util\\.concurrent\\.TimeoutException");

    private static final Map<String, Throwable> FAILURES = new ConcurrentHashMap<>();

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable failure) {
        if (failure != null && !isLate(failure)) {
            FAILURES.putIfAbsent(context.getUniqueId(), failure);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Throwable failure = FAILURES.get(context.getUniqueId());
        if (failure != null) {
            throw new AssertionError("not repeated, since it wasn't merely late: " + failure.getMessage(), failure);
        }
    }

    /** Whether the failure says only that something took too long; so must those of the clean-up after it. */
    static boolean isLate(Throwable failure) {
        return (failure instanceof TooLate
                        || failure instanceof ConditionTimeoutException
                        || (failure instanceof AssertionError && isUnfinishedFuture(failure.getMessage())))
                && Stream.of(failure.getSuppressed()).allMatch(OnlyLateTestsRepeat::isLate);
    }

    private static boolean isUnfinishedFuture(@Nullable String message) {
        return message != null && UNFINISHED_FUTURE.matcher(message).find();
    }
}
