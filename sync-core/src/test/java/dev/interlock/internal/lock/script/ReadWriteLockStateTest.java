package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockReplies.mail;
import static dev.interlock.internal.lock.script.LockReplies.queued;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockState.Advance;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a session knows of a read-write lock, by its events alone. */
class ReadWriteLockStateTest {
    private final Thread a = thread("a");
    private final LockStateRig rig = new LockStateRig(false);

    private void own() {
        rig.advance(a);
        rig.answer(granted(step(1), 10));
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.effects();
    }

    private LockTenure read() {
        rig.read(a);
        rig.answer(granted(step(1), 10));
        assertThat(rig.read(a)).isEqualTo(Advance.ENTERED);
        rig.effects();
        return rig.tenure();
    }

    @Test
    void readersShareATenureWhichAWriterContinues() {
        assertThat(read().shared).isTrue();
        assertThat(rig.read(thread("b"))).isEqualTo(Advance.ENTERED);
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
    }

    @Test
    void announcedWriterContinuesWithItsOwnTicket() {
        LockTenure tenure = read();
        rig.event(() -> rig.state.announceWriter(rig.now()));
        rig.event(() -> rig.state.announceWriter(rig.now()));
        assertThat(rig.effects()).containsExactly("ask 2");
        rig.answer(queued(9));
        rig.pass(3);
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
        rig.answer(granted(step(2), 11));
        assertThat(rig.tenure()).isNotSameAs(tenure);
        assertThat(rig.tenure().turnNanos).isEqualTo(rig.now());
    }

    /** The reply to an earlier request doesn't say that there is nothing to continue. */
    @Test
    void announcedWriterThatLeavesGivesUpWhatItWasToContinue() {
        read();
        rig.event(() -> rig.state.announceWriter(rig.now()));
        LockScripts.Request earlier = Objects.requireNonNull(rig.inFlight);
        assertThat(rig.effects()).containsExactly("ask 2");
        rig.forget();
        rig.pass(3);
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
        rig.answer(earlier, queued(9), false);
        rig.withdraw();
        assertThat(rig.effects()).containsExactly("release 2", "release 1", "unpin");
    }

    @Test
    void announcedWriterDeparts() {
        rig.event(() -> rig.state.announceWriter(rig.now()));
        rig.event(() -> rig.state.departWriter(rig.now()));
        assertThat(rig.effects()).isEmpty();
        read();
        rig.event(() -> rig.state.departWriter(rig.now()));
        rig.event(() -> rig.state.announceWriter(rig.now()));
        rig.event(() -> rig.state.departWriter(rig.now()));
        assertThat(rig.effects()).containsExactly("ask 2", "release 2");
    }

    @Test
    void grantThatComesBesideATenureIsGivenBack() {
        read();
        rig.event(() -> rig.state.announceWriter(rig.now()));
        rig.effects();
        rig.grant(mail(step(2), 11, 8));
        assertThat(rig.effects()).containsExactly("give back 2");
        assertThat(rig.view.ticket).isNull();
    }

    @Test
    void readerLeavesTheRequestOfAWriterThatHasLeft() {
        rig.advance(a);
        rig.effects();
        rig.read(thread("b"));
        assertThat(rig.effects()).containsExactly("release 1");
        rig.answer(queued(7));
        rig.read(thread("b"));
        assertThat(Objects.requireNonNull(rig.view.ticket).reads).isTrue();
    }

    @Test
    void downgradeMakesTheTenureShared() {
        own();
        LockTenure tenure = rig.tenure();
        rig.downgrade(tenure);
        assertThat(tenure.shared).isTrue();
        assertThat(rig.read(thread("b"))).isEqualTo(Advance.ENTERED);
        assertThat(rig.state.ownership.downgraded(tenure, Released.TENURE)).isTrue();
        assertThat(rig.state.ownership.downgraded(tenure, Released.NOTHING)).isFalse();
        rig.giveUp();
        assertThat(rig.state.ownership.downgraded(tenure, Released.NOTHING)).isTrue();
    }

    @Test
    void writerEndsATenureWhoseDowngradeHasThingsToDo() {
        own();
        rig.tenure().awaited = true;
        rig.signal("c", false);
        LockTenure tenure = rig.tenure();
        rig.downgrade(tenure);
        rig.effects();
        assertThat(rig.advance(a, RemoteLock.RENEWED, false, false)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("release 1 sc", "ask 2");
    }

    @Test
    void closingDoesWhatADowngradeHadToDo() {
        own();
        rig.tenure().awaited = true;
        rig.signal("c", true);
        rig.downgrade(rig.tenure());
        rig.effects();
        rig.close();
        assertThat(rig.effects()).containsExactly("release 1 ac");
    }
}
