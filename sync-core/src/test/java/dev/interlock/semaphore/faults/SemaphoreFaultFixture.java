package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.lock.faults.FaultFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What tests of semaphores need of a faulty network. Each ends with the question whether exactly all permits are there.
 */
abstract class SemaphoreFaultFixture extends FaultFixture {
    static final String NAME = "pool";
    static final String KEY = "interlock:{" + NAME + "}:semaphore";
    static final int PERMITS = 3;

    private final List<DistributedSemaphore> semaphores = new ArrayList<>();

    /** How many permits there have to be at the end. */
    private int total;

    /** The pool with its accounts, but for the queue. */
    @Override
    protected String lasting() {
        return "mark|token|turns|signals|:semaphore(-retired|-sessions)?$";
    }

    /** Whether permits belong to sessions. */
    boolean owned() {
        return true;
    }

    /** Has Redis know the script, so that no request is refused that a test means. */
    @BeforeEach
    void useScript() {
        total = PERMITS;
        DistributedSemaphore semaphore = of(undisturbed());
        assertThat(semaphore.tryAcquire()).isTrue();
        semaphore.release();
    }

    @AfterEach
    void allPermitsAreThere() {
        proxy().heal();
        for (DistributedSemaphore semaphore : semaphores) {
            assertThat(semaphore.hasQueuedThreads())
                    .as("%s has queued threads", semaphore)
                    .isFalse();
        }
        semaphores.clear();
        assertPool(total);
    }

    /** Says how many permits there have to be at the end, as many as it was made with unless a test changes that. */
    final void endWith(int permits) {
        total = permits;
    }

    final DistributedSemaphore of(Interlock session) {
        DistributedSemaphore semaphore = owned()
                ? session.semaphore(NAME, PERMITS)
                : session.semaphore(NAME, PERMITS, SemaphoreOptions.unowned());
        semaphores.add(semaphore);
        return semaphore;
    }

    /** All that a session says about the semaphore. */
    static Predicate<List<String>> saidBy(Interlock session) {
        return words -> isSaid(words) && words.contains(session.id());
    }

    static boolean isSaid(List<String> words) {
        return words.get(0).equalsIgnoreCase("EVALSHA") && words.contains(KEY);
    }

    @Override
    protected String queueKey() {
        return KEY + "-queue";
    }

    final int pool() {
        return Integer.parseInt(String.valueOf(server().command("HGET", KEY, "available")));
    }

    /** Asserts that the pool has so many permits, now or soon, that it keeps them, and that they can be acquired. */
    final void assertPool(int permits) {
        DistributedSemaphore semaphore = undisturbedSemaphore();
        await(permits + " permits")
                .untilAsserted(() -> assertThat(semaphore.availablePermits())
                        .as("permits, with %s", server().command("HGETALL", KEY))
                        .isEqualTo(permits));
        await("no more and no less")
                .during(Duration.ofMillis(100))
                .until(() -> semaphore.availablePermits() == permits);
        assertThat(semaphore.tryAcquire(permits + 1)).isFalse();
        assertThat(semaphore.tryAcquire(permits)).isTrue();
        semaphore.release(permits);
        assertThat(pool()).isEqualTo(permits);
    }

    private DistributedSemaphore undisturbedSemaphore() {
        int stated = Integer.parseInt(String.valueOf(server().command("HGET", KEY, "permits")));
        Interlock patient = undisturbed();
        return owned() ? patient.semaphore(NAME, stated) : patient.semaphore(NAME, stated, SemaphoreOptions.unowned());
    }
}
