package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** The forms of await. Each checks its own promises about time, and tells whether it was ended by a signal. */
@SuppressWarnings({
    "WaitNotInLoop", // That a wait returns for nothing but its reason is the subject.
    "JavaUtilDate" // Dates are what awaitUntil takes.
})
public enum Form {
    PLAIN {
        @Override
        public boolean on(Condition condition, Duration time) throws InterruptedException {
            condition.await();
            return true;
        }
    },
    UNINTERRUPTIBLY {
        @Override
        public boolean on(Condition condition, Duration time) {
            condition.awaitUninterruptibly();
            return true;
        }
    },
    NANOS {
        @Override
        public boolean on(Condition condition, Duration time) throws InterruptedException {
            long begin = System.nanoTime();
            long left = condition.awaitNanos(time.toNanos());
            long waited = System.nanoTime() - begin;
            // Of less than no time nothing is left, but how much less isn't said.
            long least = time.isNegative() ? Long.MIN_VALUE : time.toNanos() - waited;
            assertThat(left).as("nanos left").isBetween(least, time.toNanos());
            return left > 0;
        }
    },
    TIME {
        @Override
        public boolean on(Condition condition, Duration time) throws InterruptedException {
            long begin = System.nanoTime();
            boolean signalled = condition.await(time.toNanos(), TimeUnit.NANOSECONDS);
            assertThat(signalled || System.nanoTime() - begin >= time.toNanos())
                    .as("signalled or over")
                    .isTrue();
            return signalled;
        }
    },
    UNTIL {
        @Override
        public boolean on(Condition condition, Duration time) throws InterruptedException {
            Date deadline = Date.from(Instant.now().plus(time));
            boolean signalled = condition.awaitUntil(deadline);
            assertThat(signalled || !new Date().before(deadline))
                    .as("signalled or over")
                    .isTrue();
            return signalled;
        }
    };

    /** Longer than any test lives. */
    public static final Duration FOREVER = Duration.ofHours(1);

    public static final List<Form> ALL = List.of(values());

    public static Form inTurn(int turn) {
        return ALL.get(turn % ALL.size());
    }

    /** {@code time} is for the forms that take one. */
    public abstract boolean on(Condition condition, Duration time) throws InterruptedException;

    /** Waits for longer than any test lives. */
    public final void on(Condition condition) throws InterruptedException {
        assertThat(on(condition, FOREVER)).as("signalled").isTrue();
    }
}
