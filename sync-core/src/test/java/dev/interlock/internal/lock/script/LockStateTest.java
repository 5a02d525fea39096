package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.busy;
import static dev.interlock.internal.lock.script.LockReplies.foreign;
import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockReplies.grantedFor;
import static dev.interlock.internal.lock.script.LockReplies.mail;
import static dev.interlock.internal.lock.script.LockReplies.over;
import static dev.interlock.internal.lock.script.LockReplies.owned;
import static dev.interlock.internal.lock.script.LockReplies.queued;
import static dev.interlock.internal.lock.script.LockStateRig.FIXED_MILLIS;
import static dev.interlock.internal.lock.script.LockStateRig.LEASE_MILLIS;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.Status;
import dev.interlock.internal.lock.script.LockState.Advance;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a session knows of a plain or read-write lock, by its events alone. */
class LockStateTest {
    private final Thread a = thread("a");
    private final LockStateRig rig = new LockStateRig(false);

    private void own() {
        rig.advance(a);
        rig.answer(granted(step(1), 10));
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.effects();
    }

    // ---- grants by a reply

    @Test
    void freeNameIsGrantedByTheReply() {
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("pin", "ask 1");
        rig.answer(granted(step(1), 10));
        assertThat(rig.effects()).containsExactly("begin 1");
        assertThat(rig.view.ticket).isNull();
        assertThat(rig.view.hasHeardSince(rig.now() - 1)).isTrue();
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1", "unpin");
        assertThat(rig.view.tenure).isNull();
    }

    /** Messages come by another connection than replies. */
    @Test
    void demandThatOvertakesTheReplyCounts() {
        rig.advance(a);
        rig.event(() -> rig.state.ownership.demanded(step(1), rig.now()));
        rig.answer(granted(step(1), 10));
        assertThat(rig.tenure().demand).isTrue();
    }

    @Test
    void tenureGoesOnForTheNextThread() {
        own();
        assertThat(rig.view.serves(rig.tenure())).isTrue();
        long token = rig.tenure().tokens.current();
        rig.tenure().free();
        assertThat(rig.advance(thread("b"))).isEqualTo(Advance.ENTERED);
        assertThat(rig.tenure().tokens.current()).isGreaterThan(token);
        assertThat(rig.effects()).isEmpty();
    }

    /** Redis has that ticket in its queue again if a failover has undone the grant. */
    @Test
    void tenureIsReleasedAsTheTicketThatItWas() {
        Ticket ofWaiter = Ticket.of(step(1), FIXED_MILLIS, false, false, 7);
        Ticket ofReader = Ticket.of(step(2), LEASE_MILLIS, true, true, 0);
        for (Ticket ticket : List.of(ofWaiter, ofReader)) {
            long validUntil = rig.now() + TimeUnit.SECONDS.toNanos(10);
            LockTenure tenure = new LockTenure(rig.settings, ticket, 10, rig.now(), rig.now(), validUntil);
            assertThat(tenure.ticket().text()).isEqualTo(ticket.text());
        }
    }

    @Test
    void givesBackWhatNoTicketWants() {
        rig.advance(a);
        rig.answer(owned(Status.QUEUED, step(9), 0));
        assertThat(rig.effects()).contains("give back 9");
        // Once.
        rig.pulse();
        rig.answer(owned(Status.QUEUED, step(9), 0));
        assertThat(rig.effects()).containsExactly("ask 1");
    }

    @Test
    void leavesTheLastTenuresSequenceToItsRelease() {
        own();
        rig.giveUp();
        rig.advance(a);
        rig.effects();
        rig.answer(owned(Status.QUEUED, step(1), 0));
        assertThat(rig.effects()).isEmpty();
    }

    // ---- a session that waits for many names

    private void waitForNames(int names) {
        for (int i = 0; i < 100; i++) {
            rig.pace.beat(names);
        }
    }

    @Test
    void aNameOfManyIsAskedAboutOnceInAnInterval() {
        waitForNames(5);
        rig.advance(a);
        rig.answer(queued(5));
        rig.effects();
        rig.pass(4_000);
        rig.pulse();
        rig.advance(a);
        assertThat(rig.effects()).isEmpty();
        rig.pass(1_000);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask 1");
    }

    /** Or each grant would need a round trip of its own. */
    @Test
    void theLeaseOfAGrantGrowsWithTheInterval() {
        waitForNames(5);
        rig.advance(a);
        assertThat(Objects.requireNonNull(rig.view.ticket).grantMillis).isEqualTo(15_000);
        rig.answer(queued(5));
        rig.pass(5_000);
        assertThat(rig.grant(mail(step(1), 10, 6))).isTrue();
    }

    /** Redis has a ticket with the lease that it was sent with. */
    @Test
    void aTicketKeepsItsTermsWhenTheIntervalChanges() {
        rig.advance(a);
        String text = Objects.requireNonNull(rig.view.ticket).text();
        waitForNames(5);
        assertThat(Objects.requireNonNull(rig.view.ticket).text()).isEqualTo(text);
        rig.answer(granted(step(1), 10));
        assertThat(rig.tenure().ticket().text()).isEqualTo(text);
    }

    // ---- a machine that was suspended

    @Test
    void nobodyEntersOnATenureInDoubtBeforeItIsRenewed() {
        own();
        rig.suspend();
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("renew");
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).as("that is under way").isEmpty();
        assertThat(rig.state.untilDue(rig.now())).isEqualTo(TicketQueue.POLL_NANOS);
        rig.answerRenewal(true);
        assertThat(rig.effects()).containsExactly("changed");
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
    }

    @Test
    void aTenureInDoubtThatIsLostIsAskedForAnew() {
        own();
        rig.suspend();
        rig.advance(a);
        rig.answerRenewal(false);
        assertThat(rig.effects()).containsExactly("renew", "lost");
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
    }

    // ---- turns

    @Test
    void aTurnThatIsOverIsNotContinued() {
        own();
        rig.tenure().demand = true;
        rig.pass(9);
        assertThat(rig.advance(thread("b"), FIXED_MILLIS, false, false)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
        rig.answer(granted(step(2), 11, 0, true, false));
        rig.pass(1);
        rig.effects();
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("release 2", "ask 3");
    }

    // ---- times that are looked at

    @Test
    void aShortFixedLeaseIsLostAsSoonAsItIsOver() {
        rig.advance(a, 2_000, false, false);
        rig.answer(grantedFor(step(1), 10, 2_000));
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "begin 1", "look in 1900");
        rig.pass(1_899);
        rig.due();
        assertThat(rig.effects()).containsExactly("look in 1");
        rig.pass(1);
        rig.due();
        assertThat(rig.effects()).containsExactly("lost");
        rig.due();
        assertThat(rig.effects()).as("a loss is told once").isEmpty();
    }

    @Test
    void aNameThatIsKeptIsGivenUpWhenThatTimeIsOver() {
        own();
        rig.view.keep.keepsForReaders(rig.tenure(), rig.now());
        rig.event(() -> rig.state.retain(rig.tenure()));
        rig.pass(5);
        rig.view.keep.keepsForReaders(rig.tenure(), rig.now());
        rig.pass(5);
        rig.due();
        assertThat(rig.effects()).as("a thread has been inside meanwhile").containsExactly("look in 10", "look in 5");
        rig.pass(5);
        rig.due();
        assertThat(rig.effects()).containsExactly("clean up");
        assertThat(rig.tenure().retained).isFalse();
    }

    @Test
    void aTenureOnWhichReadersStayIsSharedWhenItsTurnIsOver() {
        own();
        rig.event(() -> rig.state.endTurnInTime(rig.tenure(), rig.now()));
        rig.pass(9);
        rig.due();
        assertThat(rig.effects()).containsExactly("look in 10", "look in 1");
        rig.pass(1);
        rig.due();
        assertThat(rig.effects()).containsExactly("share");
    }

    // ---- requests behind a release

    @Test
    void aRequestWaitsForTheReleaseBefore() {
        own();
        LockTenure ended = rig.release();
        rig.effects();
        rig.advance(a);
        rig.pulse();
        rig.advance(a, RemoteLock.RENEWED, true, false);
        assertThat(rig.effects()).containsExactly("pin");
        rig.released(ended);
        assertThat(rig.effects()).containsExactly("ask 2");
    }

    @Test
    void aReleaseThatIsSilentIsNotWaitedForAnyLonger() {
        own();
        LockTenure ended = rig.release();
        rig.advance(a);
        rig.effects();
        long left = rig.state.untilDue(rig.now());
        assertThat(left).isBetween(1L, TimeUnit.SECONDS.toNanos(1));
        rig.pass(TimeUnit.NANOSECONDS.toMillis(left));
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("ask 2");
        rig.released(ended);
        assertThat(rig.effects()).isEmpty();
    }

    @Test
    void aReleaseForWhichOthersWaitDelaysNoRequest() {
        own();
        rig.tenure().demand = true;
        rig.release();
        rig.effects();
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("pin", "ask 2");
    }

    // ---- waiting

    @Test
    void asksAgainWhenTheOwnersLeaseMayBeOver() {
        rig.advance(a);
        rig.answer(owned(Status.QUEUED, 0, 0));
        rig.effects();
        rig.pass(1_499);
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).isEmpty();
        rig.pass(1);
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("ask 1");
        // Without an answer the command counts as silent after a while.
        rig.advance(a);
        assertThat(rig.effects()).isEmpty();
        rig.pass(1_000);
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("ask 1");
    }

    @Test
    void listensToForeignOwners() {
        rig.advance(a);
        rig.answer(foreign());
        assertThat(rig.effects()).contains("listen");
        rig.pulse();
        rig.answer(queued(8));
        assertThat(rig.effects()).contains("don't listen");
    }

    @Test
    void standsBackForPlainClients() {
        own();
        rig.tenure().foreignDemand = true;
        rig.giveUp();
        rig.effects();
        rig.advance(a);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("pin");
        rig.pass(LockScripts.YIELD_MILLIS);
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("ask 2");
    }

    @Test
    void asksOnceAndIsRefused() {
        assertThat(rig.tryOnce(a, true)).isEqualTo(Advance.WAITING);
        rig.answer(busy(false));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.REFUSED);
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "unpin");
    }

    @Test
    void attemptLeavesTheRequestOfAnotherThread() {
        rig.advance(a);
        rig.answer(queued(7));
        rig.pass(1);
        rig.effects();
        assertThat(rig.tryOnce(a, true)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 1");
        rig.view.heardNanos = rig.now() + 1;
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.REFUSED);
    }

    @Test
    void ticketThatIsOverIsAskedForAnew() {
        rig.advance(a);
        rig.answer(over(step(1)));
        assertThat(rig.view.ticket).isNull();
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "unpin", "pin", "ask 2");
    }

    @Test
    void withdrawnTicketIsReleased() {
        rig.advance(a);
        Ticket ticket = Objects.requireNonNull(rig.view.ticket);
        rig.effects();
        rig.withdraw();
        assertThat(rig.effects()).containsExactly("release 1", "unpin");
        rig.event(() -> rig.state.ownership.withdraw(ticket, rig.now()));
        assertThat(rig.effects()).isEmpty();
        // The next request tells of it, since it may overtake the release.
        rig.forget();
        rig.advance(a);
        assertThat(rig.effects()).containsExactly("pin", "ask 2 used 1");
    }

    @Test
    void refusalIsThrownOnce() {
        rig.advance(a);
        rig.refuse(new IllegalStateException("WRONGTYPE"));
        assertThatThrownBy(() -> rig.advance(a)).hasMessageContaining("WRONGTYPE");
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "unpin");
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        rig.withdraw();
        rig.refuse(new IllegalStateException("for nobody"));
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
    }

    @Test
    void refusalIsNotForThreadsThatComeLater() {
        rig.advance(a);
        rig.refuse(new IllegalStateException("WRONGTYPE"));
        rig.withdraw();
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        rig.refuse(new IllegalStateException("WRONGTYPE"));
        rig.ask();
        rig.answer(queued(7));
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
    }

    // ---- continuing a tenure

    @Test
    void otherLeaseContinuesTheTenure() {
        own();
        long turn = rig.tenure().turnNanos;
        rig.pass(5);
        assertThat(rig.advance(a, FIXED_MILLIS, false, false)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
        rig.answer(granted(step(2), 11));
        assertThat(rig.tenure().renewed).isFalse();
        assertThat(rig.tenure().turnNanos).isEqualTo(turn);
        assertThat(rig.advance(a, FIXED_MILLIS, false, false)).isEqualTo(Advance.ENTERED);
        // What is left of a fixed lease is less.
        assertThat(rig.advance(a, FIXED_MILLIS, false, false)).isEqualTo(Advance.WAITING);
        rig.withdraw();
        assertThat(rig.effects()).containsSequence("release 3", "release 2", "unpin");
    }

    @Test
    void continuationThatIsOverReleasesTheTenure() {
        own();
        rig.advance(a, FIXED_MILLIS, false, false);
        rig.effects();
        rig.answer(over(step(2)));
        assertThat(rig.effects()).containsExactly("release 1", "unpin");
    }

    @Test
    void forgottenTokensAreContinuedWithTheirFloor() {
        own();
        assertThat(rig.state.ownership.floor()).isEqualTo(11);
        rig.giveUp();
        rig.advance(a);
        rig.answer(granted(step(2), 10));
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).contains("ask 3 from 2");
        rig.answer(granted(step(3), FencingTokens.REMOTE_LIMIT));
        assertThat(rig.state.ownership.floor()).isEqualTo(11);
        assertThat(rig.advance(a)).isEqualTo(Advance.WAITING);
    }

    // ---- grants by a message

    @Test
    void messageGrantsATicketWithinItsLease() {
        rig.advance(a);
        rig.answer(queued(7));
        rig.pass(1_300);
        assertThat(rig.grant(mail(step(1), 10, 8))).isTrue();
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "begin 1");
    }

    @Test
    void lateOldOrReplicatedMessagesAreAskedAbout() {
        rig.advance(a);
        rig.answer(queued(7));
        rig.effects();
        rig.grant(mail(step(1), 10, 7));
        assertThat(rig.effects()).containsExactly("ask 1");
        rig.grant(mail(step(1), 0, 8));
        rig.grant(mail(step(1), FencingTokens.REMOTE_LIMIT, 8));
        rig.event(() -> rig.state.ownership.granted(mail(step(1), 10, 8), true, rig.now()));
        rig.pass(1_351);
        rig.grant(mail(step(1), 10, 8));
        assertThat(rig.effects()).containsOnly("ask 1").hasSize(4);
        assertThat(rig.view.tenure).isNull();
    }

    @Test
    void messagesTeachNoTokens() {
        rig.advance(a);
        rig.answer(queued(7));
        rig.grant(mail(step(1), 1_000, 8));
        assertThat(rig.view.tenure).isNotNull();
        assertThat(rig.state.ownership.floor()).isEqualTo(1);
    }

    @Test
    void messageForNoTicketIsGivenBackOnce() {
        assertThat(rig.grant(mail(step(5), 10, 8))).isFalse();
        assertThat(rig.effects()).containsExactly("give back 5");
        assertThat(rig.grant(mail(step(5), 10, 8))).isFalse();
        assertThat(rig.effects()).isEmpty();
    }

    @Test
    void messageThatComesTwiceTellsOfTheRun() {
        own();
        assertThat(rig.grant(mail(step(1), 10, 8, step(3), 0))).isFalse();
        assertThat(rig.tenure().run).isEqualTo(step(3));
        assertThat(rig.effects()).isEmpty();
    }

    // ---- the end

    @Test
    void closingReleasesTenureOrTicket() {
        own();
        rig.close();
        assertThat(rig.effects()).containsExactly("release 1");
        LockStateRig waiting = new LockStateRig(false);
        waiting.advance(a);
        waiting.close();
        assertThat(waiting.effects()).containsExactly("pin", "ask 1", "release 1", "unpin");
        LockStateRig unsent = new LockStateRig(false);
        unsent.closed = true;
        assertThat(unsent.advance(a)).isEqualTo(Advance.WAITING);
        assertThat(unsent.view.ticket).isNull();
        assertThat(unsent.effects()).containsExactly("pin", "unpin");
    }
}
