package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Redis forgets scripts, or everything, while readers and writers are inside. */
class ReadWriteDataLossTest extends ReadWriteFaultFixture {
    private static final Duration LEASE = Duration.ofSeconds(3);

    /** Every command may be the first that Redis hears of its script. */
    @Test
    void forgottenScriptsCostNothing() {
        Interlock session = session();
        Interlock other = session();
        DistributedReadWriteLock lock = of(session);
        DistributedReadWriteLock rival = of(other);
        Actor second = actor("second");
        forgetScripts();
        lock.readLock().lock();
        forgetScripts();
        second.run(rival.readLock()::lock);
        assertRead(session, other);
        forgetScripts();
        lock.readLock().unlock();
        await("its share ended").until(() -> !holder(KEY).contains(session.id()));
        CompletableFuture<Boolean> writes = actor("first").begin(() -> {
            lock.writeLock().lock();
            lock.readLock().lock();
            forgetScripts();
            lock.writeLock().unlock();
            lock.readLock().assertHeld();
            forgetScripts();
            lock.readLock().unlock();
        });
        awaitWaiting(1);
        forgetScripts();
        second.run(rival.readLock()::unlock);
        assertThat(writes).succeedsWithin(PATIENCE);
        awaitFree(KEY);
        assertAvailable();
    }

    /** Readers of two sessions, and a writer who waits, when Redis comes back with nothing. */
    @Test
    void readersHearThatTheirDataIsLost() {
        Recorder recorder = new Recorder();
        Recorder others = new Recorder();
        DistributedReadWriteLock first = of(session(b -> b.lease(LEASE).listener(recorder)));
        DistributedReadWriteLock second = of(session(b -> b.lease(LEASE).listener(others)));
        DistributedReadWriteLock wanted = of(session());
        Actor reader = actor("reader");
        Actor another = actor("another");
        Actor writer = actor("writer");
        long token = writer.get(() -> {
            wanted.writeLock().lock();
            long drawn = wanted.writeLock().fencingToken();
            wanted.writeLock().unlock();
            return drawn;
        });
        reader.run(first.readLock()::lock);
        another.run(second.readLock()::lock);
        CompletableFuture<Boolean> writes = queue(writer, wanted.writeLock()::lock, 1);
        server().restart();
        assertThat(writes).succeedsWithin(PATIENCE);
        assertThat(writer.get(wanted.writeLock()::fencingToken)).isGreaterThan(token);
        await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 1 && others.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(() -> reader.run(first.readLock()::assertHeld)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> reader.run(first.readLock()::unlock)).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> another.run(second.readLock()::unlock)).isInstanceOf(LeaseLostException.class);
        assertThat(first.getReadLockCount() + second.getReadLockCount()).isZero();
        writer.run(wanted.writeLock()::assertHeld);
        CompletableFuture<Boolean> readsAgain = queue(reader, first.readLock()::lock, 1);
        writer.run(wanted.writeLock()::unlock);
        assertThat(readsAgain).succeedsWithin(PATIENCE);
        reader.run(first.readLock()::assertHeld);
        reader.run(first.readLock()::unlock);
        assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(1);
        assertThat(others.count(Recorder.Kind.LOST)).isEqualTo(1);
    }

    /** The same for a writer who reads, too. */
    @Test
    void aWriterHearsThatItsDataIsLost() {
        Recorder recorder = new Recorder();
        DistributedReadWriteLock lock = of(session(b -> b.lease(LEASE).listener(recorder)));
        DistributedReadWriteLock wanted = of(session());
        Actor writer = actor("writer");
        Actor reader = actor("reader");
        writer.run(lock.writeLock()::lock);
        writer.run(lock.readLock()::lock);
        CompletableFuture<Boolean> reads = queue(reader, wanted.readLock()::lock, 1);
        server().restart();
        assertThat(reads).succeedsWithin(PATIENCE);
        await("told").until(() -> recorder.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(() -> writer.run(lock.writeLock()::fencingToken)).isInstanceOf(LeaseLostException.class);
        writer.run(lock.readLock()::unlock);
        assertThatThrownBy(() -> writer.run(lock.writeLock()::unlock)).isInstanceOf(LeaseLostException.class);
        assertThat(lock.isWriteLocked()).isFalse();
        reader.run(wanted.readLock()::assertHeld);
        reader.run(wanted.readLock()::unlock);
        writer.run(lock.writeLock()::lock);
        writer.run(lock.writeLock()::unlock);
        assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(1);
    }
}
