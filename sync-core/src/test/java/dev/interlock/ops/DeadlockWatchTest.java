package dev.interlock.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A session looks for deadlocks by itself, whatever a look meets, until it is closed. */
class DeadlockWatchTest extends FaultFixture {
    private final List<Deadlock> told = new CopyOnWriteArrayList<>();

    @AfterEach
    void allow() {
        server().command("ACL", "SETUSER", "default", "+pubsub");
        told.clear();
    }

    private Interlock watching() {
        return session(builder -> builder.deadlockWatch(Duration.ofSeconds(1)).listener(new SyncListener() {
            @Override
            public void deadlocked(Deadlock deadlock) {
                told.add(deadlock);
            }
        }));
    }

    private static boolean looks() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("interlock-deadlocks"));
    }

    @Test
    void aLookThatIsRefusedIsNotTheLast() {
        server().command("ACL", "LOG", "RESET");
        server().command("ACL", "SETUSER", "default", "-pubsub");
        Interlock watching = watching();
        DistributedReentrantLock first = session().lock("first");
        DistributedReentrantLock second = session().lock("second");
        Actor one = actor("one");
        Actor other = actor("other");
        one.run(first::lock);
        other.run(second::lock);
        one.begin(second::lockInterruptibly);
        other.begin(first::lockInterruptibly);
        await("a refusal")
                .until(() -> String.valueOf(server().command("ACL", "LOG")).contains("pubsub"));
        assertThat(told).isEmpty();

        server().command("ACL", "SETUSER", "default", "+pubsub");
        await("the deadlock").until(() -> !told.isEmpty());
        assertThat(told)
                .singleElement()
                .satisfies(deadlock -> assertThat(deadlock.steps())
                        .extracting(Deadlock.Step::thread)
                        .containsExactly("one", "other"));
        one.interrupt();
        one.run(first::unlock);
        other.run(first::unlock);
        other.run(second::unlock);
        watching.close();
        await("the end of the last look").until(() -> !looks());
    }

    /** A thread that hears late of its loss goes on for so long without the lock. */
    @Test
    void aLookDelaysNoListener() {
        Recorder recorder = new Recorder();
        Interlock watching = session(builder -> builder.deadlockWatch(Duration.ofSeconds(1))
                .commandTimeout(PATIENCE.multipliedBy(2))
                .lease(Duration.ofSeconds(3))
                .listener(recorder));
        DistributedReentrantLock lock = watching.lock("order");
        Actor holder = actor("holder");
        holder.run(lock::lock);
        proxy().stall();
        // A look that only waits for sessions ends before the loss; the next one waits for Redis until after it.
        await("the loss, while a look waits").until(() -> recorder.count(Recorder.Kind.LOST) == 1 && looks());
        proxy().resume();
        assertThatThrownBy(() -> holder.run(lock::unlock)).hasRootCauseInstanceOf(LeaseLostException.class);
    }
}
