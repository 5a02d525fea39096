package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Permits that belong to nobody. */
class UnownedPermitsTest extends SemaphoreFaultFixture {
    @Override
    boolean owned() {
        return false;
    }

    /** Redis had closed the account of a session that had nothing to do: the next one counts what the command said. */
    @Test
    void aReleaseReturnsWhenThePoolHasIt() {
        Interlock session = session();
        DistributedSemaphore semaphore = of(session);
        DistributedSemaphore other = of(undisturbed());
        server().command("ZADD", KEY + "-sessions", "XX", "1", session.id());
        assertThat(other.availablePermits()).isEqualTo(PERMITS);
        AtomicInteger commands = new AtomicInteger();
        proxy().delayRequests(words -> isSaid(words) && commands.incrementAndGet() == 2, Duration.ofMillis(200), 1);

        semaphore.release();

        assertThat(pool()).isEqualTo(PERMITS + 1);
        endWith(PERMITS + 1);
    }

    /** Redis has counted a release whose reply is lost, and has lost the pool since: the next pool has its permits. */
    @Test
    void aReleaseToALostPoolDoesNotEnlargeTheNextOne() {
        Interlock session = session();
        DistributedSemaphore semaphore = of(session);
        Actor holder = actor("holder");
        holder.run(semaphore::acquire);
        proxy().dropReplies(saidBy(session), 1);
        CompletableFuture<Boolean> released = holder.begin(semaphore::release);
        await("counted").until(() -> pool() == PERMITS);
        server().command("DEL", KEY, KEY + "-queue", KEY + "-sessions", KEY + "-retired");
        assertThat(of(undisturbed()).availablePermits()).isEqualTo(PERMITS);

        assertThat(released).succeedsWithin(REPEATED);
        await("said again")
                .ignoreExceptionsInstanceOf(RedisUnavailableException.class)
                .until(() -> semaphore.availablePermits() == PERMITS);
        assertPool(PERMITS);
    }
}
