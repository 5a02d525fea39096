package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Redis goes back to an older copy of its data: after a crash, or because a replica takes over that has lagged. */
@Tag("proof")
class OlderCopyTest extends FaultFixture {
    private static final String NAME = "orders";
    private static final int ACQUISITIONS = 20;

    @SuppressWarnings("ImmutableEnumChecker") // their functions keep nothing
    enum Kind {
        PLAIN((session, name) -> session.lock(name, LockOptions.releaseAtOnce())),
        FAIR(Interlock::fairLock);

        private final BiFunction<Interlock, String, DistributedReentrantLock> maker;

        Kind(BiFunction<Interlock, String, DistributedReentrantLock> maker) {
            this.maker = maker;
        }

        DistributedReentrantLock of(Interlock session) {
            return maker.apply(session, NAME);
        }
    }

    private Interlock patient() {
        return session(builder -> builder.commandTimeout(PATIENCE));
    }

    /** Returns the last of many tokens, of which the copy knows nothing. The lock is still held, and valid. */
    private static long acquire(DistributedReentrantLock lock) {
        lock.lock();
        for (int i = 1; i < ACQUISITIONS; i++) {
            lock.unlock();
            lock.lock();
        }
        return lock.fencingToken();
    }

    private void assertEntersWithAGreaterToken(DistributedReentrantLock other, long token) {
        Actor thread = actor("other");
        assertThat(thread.<Boolean>get(() -> other.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)))
                .isTrue();
        assertThat(thread.<Long>get(other::fencingToken)).isGreaterThan(token);
        thread.run(other::unlock);
    }

    // One that doesn't wait for the answer hears of the loss in another way.
    private static void unlockThoughLost(DistributedReentrantLock lock) {
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            assertThat(lock.isHeldByCurrentThread()).isFalse();
        }
    }

    /** The session that has had them is still valid: its store refuses it only if no token comes again. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void noTokenComesAgainAfterACrash(Kind kind) {
        DistributedReentrantLock lock = free(kind.of(patient()));
        DistributedReentrantLock other = free(kind.of(patient()));
        lock.lock();
        lock.unlock();
        awaitFree(NAME);
        saveCopy();
        long token = acquire(lock);
        goBack();
        lock.assertHeld();
        assertEntersWithAGreaterToken(other, token);
        unlockThoughLost(lock);
    }

    /** The same where no connection is cut. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void noTokenComesAgainAfterAReplicaHasLagged(Kind kind) {
        DistributedReentrantLock lock = free(kind.of(patient()));
        DistributedReentrantLock other = free(kind.of(patient()));
        lock.lock();
        lock.unlock();
        awaitFree(NAME);
        try (RedisServer replica = launchReplica()) {
            replica.command("REPLICAOF", "NO", "ONE");
            long token = acquire(lock);
            server().command("REPLICAOF", replica.host(), Integer.toString(replica.port()));
            await("an older copy")
                    .until(() -> String.valueOf(server().command("INFO", "replication"))
                            .contains("master_link_status:up"));
            server().command("REPLICAOF", "NO", "ONE");
            lock.assertHeld();
            assertEntersWithAGreaterToken(other, token);
        }
        unlockThoughLost(lock);
    }

    /** What a session has released, however long its lease, is released again as soon as another one wants it. */
    @Test
    void aLockThatWasReleasedIsFreeForOthers() {
        Interlock session = patient();
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor thread = actor("other");
        for (boolean tries : new boolean[] {true, false}) {
            lock.lock(1, TimeUnit.HOURS);
            saveCopy();
            lock.unlock();
            awaitFree(NAME);
            goBack();
            assertThat(holder(NAME)).startsWith(session.id());
            awaitMailbox(session);
            if (tries) {
                // It is refused for the silence of a slow machine.
                await("given up").until(() -> thread.<Boolean>get(other::tryLock));
            } else {
                assertThat(thread.begin(other::lock)).succeedsWithin(PATIENCE);
            }
            thread.run(other::unlock);
        }
    }
}
