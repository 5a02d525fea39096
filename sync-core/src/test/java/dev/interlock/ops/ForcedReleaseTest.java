package dev.interlock.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator takes a lock from the thread that is meant, and from no other one. */
class ForcedReleaseTest extends FaultFixture {
    private static final String NAME = "order:42";
    private static final LockOptions KEPT = LockOptions.retain(Duration.ofMinutes(1));

    private Recorder recorder = new Recorder();

    /** On another connection than those that a test disturbs. */
    private Operator operator;

    @BeforeEach
    void look() {
        recorder = new Recorder();
        operator = undisturbed().operator();
    }

    private Interlock recorded() {
        return session(builder -> builder.listener(recorder));
    }

    private long token() {
        return operator.inspect(NAME).get(0).holders().get(0).token();
    }

    /** Tells a session to release, as if the operator had seen this token a moment ago. */
    private void evict(Interlock session, long token) {
        server().command("PUBLISH", "interlock:mailbox:" + session.id(), "f 1 " + token + " nobody " + NAME);
        // The session reads its messages one by one: what it answers now it answers afterwards.
        assertThat(operator.sessions()).extracting(SessionView::id).contains(session.id());
        assertThat(operator.sessions()).noneMatch(SessionView::isSilent);
    }

    @Test
    void theOwnerIsToldAndTheNextOneEnters() {
        DistributedReentrantLock lock = recorded().lock(NAME);
        DistributedReentrantLock wanted = session().lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Actor waiter = actor("waiter");
        var entered = queue(waiter, wanted);
        long token = token();

        assertThat(operator.forceRelease(NAME, token + 1)).isFalse();
        assertThat(operator.forceRelease(NAME, 1)).isFalse();
        assertThat(token()).isEqualTo(token);
        assertThat(operator.forceRelease(NAME, token)).isTrue();

        assertThat(entered).succeedsWithin(PATIENCE);
        await("the owner is told").until(() -> recorder.count(Recorder.Kind.LOST) == 1);
        assertThatThrownBy(() -> holder.run(lock::unlock))
                .hasRootCauseInstanceOf(LeaseLostException.class)
                .hasStackTraceContaining("an operator has released it");
        assertThat(waiter.<Boolean>get(wanted::isHeldByCurrentThread)).isTrue();
        assertThat(operator.forceRelease(NAME, token)).isFalse();
        waiter.run(wanted::unlock);
    }

    @Test
    void aNameThatIsOnlyKeptIsNotLost() {
        Interlock session = recorded();
        DistributedReentrantLock lock = session.lock(NAME, KEPT);
        Actor user = actor("user");
        user.run(lock::lock);
        long token = token();
        user.run(lock::unlock);

        assertThat(operator.forceRelease(NAME, token)).isFalse();
        evict(session, token);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        user.run(lock::lock);
        assertThat(token()).isEqualTo(token + 1);
        user.run(lock::unlock);
        session.close();
    }

    /** The thread has the local half, and the tenure of the one before it, but waits for Redis. */
    @Test
    void aThreadThatIsNotInsideYetLosesNothing() {
        Interlock session = recorded();
        DistributedReentrantLock lock = session.lock(NAME, KEPT);
        Actor user = actor("user");
        user.run(lock::lock);
        long token = token();
        user.run(lock::unlock);
        long lost = proxy().droppedRequests();
        proxy().dropRequests(Requests.acquire(NAME), FaultProxy.ALWAYS, Loss.CUT);
        Actor other = actor("other");
        var entered = other.begin(() -> lock.lock(1, TimeUnit.MINUTES));
        await("the request").until(() -> proxy().droppedRequests() > lost);

        evict(session, token);
        assertThat(entered).isNotDone();
        proxy().heal();
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        other.run(lock::unlock);
    }
}
