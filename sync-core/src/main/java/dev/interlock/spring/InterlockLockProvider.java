package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.Names;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ShedLock's {@code LockProvider}, for applications that have its {@code @SchedulerLock} already; {@link Once} is the
 * same in our own words. {@code lockAtLeastFor} counts from the beginning of a run and holds whatever becomes of the
 * JVM; it is counted in steps of 50 ms, rounded up, and that of the last run counts, not that of the next.
 * {@code lockAtMostFor} is the lease of the lock, which isn't renewed: a run that takes longer may overlap with the
 * next one, as ShedLock has it, and a warning in the log says so. ShedLock's times are counted by Redis from when it
 * grants the lock, so clocks of JVMs don't matter.
 *
 * <p>Any thread may unlock a lock, or extend it. An extension has the lock last for at least its {@code lockAtMostFor}
 * from then on, and keeps the next run out for at least its {@code lockAtLeastFor}; neither is shortened.
 */
public final class InterlockLockProvider implements ExtensibleLockProvider {
    private static final Logger log = LoggerFactory.getLogger(InterlockLockProvider.class);
    private static final Duration LEAST_LEASE = Duration.ofMillis(100);

    private final Interlock interlock;

    /**
     * Creates a provider.
     *
     * @param interlock the session, which stays open
     */
    public InterlockLockProvider(Interlock interlock) {
        this.interlock = requireNonNull(interlock, "interlock");
    }

    /**
     * Takes the lock of a run if it is free.
     *
     * @param configuration with a {@code lockAtMostFor} of up to 365 days; less than 100 ms are as many
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Hold hold = OncePerPeriod.tryBegin(
                interlock, nameOf(configuration), configuration.getLockAtLeastFor(), lease(configuration));
        return hold == null ? Optional.empty() : Optional.of(new Run(configuration, hold));
    }

    private static String nameOf(LockConfiguration configuration) {
        return "shedlock:" + configuration.getName();
    }

    private static Duration lease(LockConfiguration configuration) {
        Duration most = configuration.getLockAtMostFor();
        return most.compareTo(LEAST_LEASE) < 0 ? LEAST_LEASE : most;
    }

    private final class Run extends AbstractSimpleLock {
        private final Hold hold;

        Run(LockConfiguration configuration, Hold hold) {
            super(configuration);
            this.hold = hold;
        }

        @Override
        protected void doUnlock() {
            try {
                OncePerPeriod.end(hold);
            } catch (LeaseLostException e) {
                warn(e);
            }
        }

        @Override
        protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
            try {
                OncePerPeriod.extend(interlock, hold, nameOf(extended), extended.getLockAtLeastFor(), lease(extended));
            } catch (LeaseLostException e) {
                log.debug("A run is over, and wasn't extended", e);
                // ShedLock doesn't unlock it any more.
                var unused = hold.release();
                return Optional.empty();
            }
            return Optional.of(new Run(extended, hold));
        }

        // ShedLock's locks end in silence, and a run that is done has nothing to undo.
        private void warn(LeaseLostException loss) {
            log.warn(
                    "A run of {} took longer than its lockAtMostFor of {}, and may have overlapped with the next one;"
                            + " let lockAtMostFor be longer than any run",
                    Names.quoted(lockConfiguration.getName()),
                    lockConfiguration.getLockAtMostFor(),
                    loss);
        }
    }
}
