package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SemaphoreOptions;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Permits that belong to nobody, and as many as there can be. */
class UnownedPermitsTest extends SemaphoreFaultFixture {
    private static final int MOST = Integer.MAX_VALUE;

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

    private static DistributedSemaphore most(Interlock session) {
        return session.semaphore("most", MOST, SemaphoreOptions.unowned());
    }

    /** What a session has last heard of the pool says nothing of the permits that others have taken since. */
    @Test
    void aReleaseByAnotherSessionIsJudgedByThePoolAsItIs() {
        DistributedSemaphore semaphore = most(undisturbed());
        DistributedSemaphore other = most(undisturbed());
        semaphore.acquireUninterruptibly(10);

        other.release(10);

        assertThat(semaphore.availablePermits()).isEqualTo(MOST);
        assertThatThrownBy(other::release).isInstanceOf(Error.class).hasMessage("Maximum permit count exceeded");
        assertThatThrownBy(semaphore::release).isInstanceOf(Error.class);
        assertThat(other.availablePermits()).isEqualTo(MOST);
    }

    /** A pushed grant doesn't tell what the pool has. */
    @Test
    void aReleaseOfPushedPermitsIsJudgedByThePoolAsItIs() {
        DistributedSemaphore semaphore = most(undisturbed());
        DistributedSemaphore other = most(undisturbed());
        other.acquireUninterruptibly(2);
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(() -> semaphore.acquire(MOST - 1));
        await("it waits")
                .until(() -> server().command("ZCARD", "interlock:{most}:semaphore-queue") instanceof Long size
                        && size == 1);
        other.release(2);
        assertThat(entered).succeedsWithin(PROMPTLY);

        waiter.run(() -> semaphore.release(MOST - 1));

        assertThat(other.availablePermits()).isEqualTo(MOST);
    }

    @Test
    void closingEndsTheWaitsOfThreadsThatWantAllPermits() {
        DistributedSemaphore held = most(undisturbed());
        held.acquireUninterruptibly();
        Interlock session = session();
        DistributedSemaphore wanted = most(session);
        CompletableFuture<Boolean> first = actor("first").begin(() -> wanted.acquire(MOST));
        CompletableFuture<Boolean> second = actor("second").begin(() -> wanted.acquire(MOST));
        await("they wait").until(() -> wanted.getQueueLength() == 2);

        session.close();

        for (CompletableFuture<Boolean> waiter : List.of(first, second)) {
            assertThat(waiter)
                    .failsWithin(PROMPTLY)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(IllegalStateException.class);
        }
        held.release();
    }
}
