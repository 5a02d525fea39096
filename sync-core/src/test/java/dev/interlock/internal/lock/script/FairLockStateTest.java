package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockReplies.mail;
import static dev.interlock.internal.lock.script.LockReplies.over;
import static dev.interlock.internal.lock.script.LockReplies.queued;
import static dev.interlock.internal.lock.script.LockStateRig.LEASE_MILLIS;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.Request;
import dev.interlock.internal.lock.script.LockState.Advance;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a session knows of a fair lock, by its events alone: a ticket for each thread, and runs. */
class FairLockStateTest {
    private final Thread a = thread("a");
    private final Thread b = thread("b");
    private final Thread c = thread("c");
    private final LockStateRig rig = new LockStateRig(true);

    private void announce(Thread thread) {
        rig.event(() -> rig.state.ownership.announce(thread, RemoteLock.RENEWED, rig.now()));
    }

    private boolean enterAtOnce(Thread thread) {
        return rig.event(() -> rig.state.enterAtOnce(rig.view.tenure, thread, rig.now()));
    }

    /** The first of two threads has entered, and the second one's ticket is queued. */
    private void ownWithOneBehind(long run) {
        announce(a);
        announce(b);
        rig.answer(granted(step(1), 10, run, false, false));
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.ask();
        rig.answer(granted(step(1), 10, run, false, false));
        rig.effects();
    }

    @Test
    void threadsThatComeMeanwhileShareTheNextCommand() {
        announce(a);
        announce(b);
        announce(c);
        announce(c);
        assertThat(rig.effects()).containsExactly("pin", "ask 1");
        rig.answer(queued(7));
        assertThat(rig.effects()).containsExactly("ask later");
        rig.ask();
        assertThat(rig.effects()).containsExactly("ask 1 2 3");
        rig.answer(queued(8));
        // The oldest stands for all that are queued; the pulse asks for all.
        rig.ask();
        rig.answer(queued(9));
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask 1", "ask 1 2 3");
    }

    /** Only the one in front is told of a refusal, so the next one asks anew. */
    @Test
    void theNextThreadAsksAtOnceAfterARefusal() {
        announce(a);
        announce(b);
        rig.answer(queued(7));
        rig.ask();
        rig.refuse(new IllegalStateException("WRONGTYPE"));
        assertThatThrownBy(() -> rig.advance(a)).hasMessageContaining("WRONGTYPE");
        rig.effects();
        assertThat(rig.advance(b)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 2");
    }

    /** Many threads wait, and Redis has said so of each. */
    private void queue(int threads) {
        for (int i = 0; i < threads; i++) {
            announce(thread("waits"));
        }
        List<Integer> sizes = new ArrayList<>();
        for (int unsent = threads; unsent > 0; unsent -= sizes.get(sizes.size() - 1)) {
            sizes.add(Objects.requireNonNull(rig.inFlight).tickets().size() - (sizes.isEmpty() ? 0 : 1));
            rig.answer(queued(sizes.size()));
            rig.ask();
        }
        rig.answer(queued(sizes.size() + 1));
        assertThat(sizes).allMatch(size -> size <= TicketQueue.MOST_ASKED);
    }

    private List<Long> askedByPulse() {
        rig.pulse();
        return Objects.requireNonNull(rig.inFlight).sequences().asList();
    }

    @Test
    void manyTicketsAreAskedForInTurn() {
        queue(250);
        Set<Long> asked = new HashSet<>();
        for (int i = 0; i < 10; i++) {
            List<Long> sequences = askedByPulse();
            rig.answer(queued(100 + i));
            assertThat(sequences)
                    .hasSizeLessThanOrEqualTo(TicketQueue.MOST_ASKED / 2)
                    .isSorted();
            assertThat(sequences).as("those in front").contains(step(1), step(TicketQueue.MOST_ASKED / 4));
            asked.addAll(sequences);
        }
        assertThat(asked).hasSize(250);
        askedByPulse();
        rig.answer(queued(200));
        assertThat(askedByPulse()).as("from the beginning").contains(step(TicketQueue.MOST_ASKED / 4 + 30));
    }

    @Test
    void whatWasLostIsSentAgainHoweverManyStandInFront() {
        queue(250);
        announce(a);
        announce(b);
        assertThat(Objects.requireNonNull(rig.inFlight).sequences().asList()).containsExactly(step(1), step(251));
        rig.fail();
        rig.ask();
        assertThat(Objects.requireNonNull(rig.inFlight).sequences().asList())
                .as("with those of which Redis knows")
                .hasSizeGreaterThan(TicketQueue.MOST_ASKED / 4)
                .endsWith(step(251), step(252));
    }

    @Test
    void whatElseIsOverIsFoundAtOnce() {
        queue(250);
        askedByPulse();
        rig.effects();
        rig.answer(over(step(1), step(2)));
        assertThat(rig.effects()).as("the next ones").containsExactly("ask later");
        rig.ask();
        List<Long> sequences = Objects.requireNonNull(rig.inFlight).sequences().asList();
        assertThat(sequences).contains(step(60)).isSorted();
    }

    @Test
    void runIsServedWithoutRedis() {
        ownWithOneBehind(step(2));
        assertThat(rig.view.serves(rig.tenure())).isTrue();
        rig.tenure().free();
        assertThat(enterAtOnce(b)).isTrue();
        assertThat(rig.effects()).isEmpty();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1 used 2", "unpin");
    }

    @Test
    void usedTicketsAreToldByTheNextCommandToo() {
        ownWithOneBehind(step(2));
        rig.tenure().free();
        assertThat(rig.advance(b)).isEqualTo(Advance.ENTERED);
        announce(c);
        assertThat(rig.effects()).containsExactly("ask 3 used 2");
        Request request = Objects.requireNonNull(rig.inFlight);
        rig.answer(granted(step(1), 10, step(3), false, false));
        assertThat(request.earlier()).isEqualTo(LockScripts.LEFT_ALONE);
        assertThat(rig.view.serves(rig.tenure())).isTrue();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1");
    }

    @Test
    void threadInFrontIsServedFirstAndSwapsItsTicket() {
        announce(a);
        announce(b);
        rig.answer(queued(7));
        rig.ask();
        rig.answer(granted(step(1), 10));
        // Thread b has the local half, and uses the ticket of a, which gets that of b.
        assertThat(rig.advance(b)).isEqualTo(Advance.ENTERED);
        Ticket left = Objects.requireNonNull(rig.view.ticket);
        assertThat(left.sequence).isEqualTo(step(2));
        assertThat(left.thread).isSameAs(a);
    }

    @Test
    void waitsForAnAnswerThatMayProlongTheRun() {
        announce(a);
        announce(b);
        rig.answer(granted(step(1), 10));
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.ask();
        LockTenure tenure = rig.tenure();
        assertThat(rig.view.serves(tenure)).isFalse();
        assertThat(rig.state.isAboutToServe(tenure, rig.now())).isTrue();
        assertThat(rig.advance(b)).isEqualTo(Advance.WAITING);
        rig.effects();
        tenure.demand = true;
        assertThat(rig.advance(b)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("release 1");
        assertThat(rig.view.tenure).isNull();
    }

    @Test
    void givesUpWhenTheThreadsOfTheRunHaveLeft() {
        ownWithOneBehind(0);
        assertThat(rig.advance(b)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).startsWith("release 1");
        assertThat(rig.view.ticket).isNotNull();
    }

    @Test
    void entersAtOnceOnlyOnWhatServesIt() {
        assertThat(enterAtOnce(a)).isFalse();
        ownWithOneBehind(0);
        assertThat(enterAtOnce(b)).isFalse();
        rig.tenure().run = step(2);
        assertThat(enterAtOnce(c)).isFalse();
        rig.pass(LEASE_MILLIS);
        assertThat(enterAtOnce(b)).isFalse();
        assertThat(rig.advance(b)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("ask 3 from 1 used 2");
    }

    @Test
    void cancelWaitsForTheCommandThatAnnouncesTheTicket() {
        announce(a);
        rig.event(() -> rig.state.depart(b, rig.now()));
        rig.event(() -> rig.state.depart(a, rig.now()));
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "unpin");
        rig.answer(queued(7));
        assertThat(rig.effects()).containsExactly("release 1");
    }

    @Test
    void cancelIsSentAtOnceOtherwise() {
        announce(a);
        rig.answer(queued(7));
        rig.effects();
        rig.event(() -> rig.state.depart(a, rig.now()));
        assertThat(rig.effects()).containsExactly("release 1", "unpin");
        announce(b);
        announce(c);
        rig.effects();
        rig.event(() -> rig.state.depart(c, rig.now()));
        assertThat(rig.effects()).isEmpty();
    }

    @Test
    void grantForAThreadThatHasLeftIsGivenBack() {
        announce(a);
        rig.event(() -> rig.state.depart(a, rig.now()));
        rig.effects();
        rig.answer(granted(step(1), 10));
        assertThat(rig.effects()).containsExactly("give back 1", "release 1");
    }

    @Test
    void placeThatIsOverIsSentAnew() {
        announce(a);
        rig.answer(over(step(1)));
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "ask later");
        rig.ask();
        assertThat(rig.effects()).containsExactly("ask 2");
    }

    @Test
    void tenuresOwnTicketIsNeverOver() {
        announce(a);
        Request request = Objects.requireNonNull(rig.inFlight);
        rig.answer(granted(step(1), 10));
        rig.answer(request, over(step(1)), false);
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
    }

    @Test
    void grantThatCantBeTrustedIsConfirmedWithTheNextCommand() {
        announce(a);
        rig.answer(queued(7));
        announce(b);
        rig.effects();
        assertThat(rig.grant(mail(step(1), 10, 7))).isTrue();
        assertThat(rig.effects()).isEmpty();
        rig.answer(queued(8));
        assertThat(rig.effects()).containsExactly("ask later");
        rig.ask();
        assertThat(rig.effects()).containsExactly("ask 1 2");
        rig.pass(1_000);
        rig.grant(mail(step(1), 10, 7));
        assertThat(rig.effects()).containsExactly("ask 1 2");
    }

    @Test
    void grantBesideATenureHasItsThreadQueueAgain() {
        ownWithOneBehind(0);
        assertThat(rig.grant(mail(step(2), 11, 9))).isFalse();
        assertThat(rig.effects()).containsExactly("give back 2");
        Ticket again = Objects.requireNonNull(rig.view.ticket);
        assertThat(again.sequence).isZero();
        assertThat(again.thread).isSameAs(b);
        assertThat(rig.view.serves(rig.tenure())).isFalse();
    }

    @Test
    void ticketsThatRedisHasPassedOverAreSentAnew() {
        announce(a);
        announce(b);
        announce(c);
        rig.answer(queued(7));
        rig.ask();
        rig.answer(queued(8));
        rig.effects();
        assertThat(rig.grant(mail(step(2), 10, 9))).isTrue();
        assertThat(rig.effects()).containsExactly("begin 2", "ask 3 4");
        assertThat(rig.view.serves(rig.tenure())).isTrue();
        assertThat(Objects.requireNonNull(rig.view.ticket).thread).isSameAs(b);
    }

    @Test
    void ticketOfATenureThatIsReleasedUnusedIsSentAnew() {
        announce(a);
        rig.answer(granted(step(1), 10));
        rig.effects();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1", "ask 2");
        rig.answer(queued(7));
        announce(b);
        rig.answer(queued(8));
        rig.tenure(granted(step(2), 11)).foreignDemand = true;
        rig.effects();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 2");
        rig.pass(LockScripts.YIELD_MILLIS);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask 3 4");
    }

    @Test
    void attemptBargesButNotBeforeOthers() {
        assertThat(rig.tryOnce(a, true)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("pin", "ask 1");
        rig.answer(granted(step(1), 10));
        announce(b);
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.ENTERED);
        rig.giveUp();
        rig.answer(queued(7));
        assertThat(rig.tryOnce(a, true)).isEqualTo(Advance.REFUSED);
    }

    @Test
    void attemptContinuesATenureWithoutAPlace() {
        announce(a);
        rig.answer(granted(step(1), 10));
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.pass(LEASE_MILLIS);
        rig.effects();
        assertThat(rig.tryOnce(b, true)).isEqualTo(Advance.WAITING);
        assertThat(Objects.requireNonNull(rig.view.ticket).thread).isNull();
        assertThat(rig.effects()).containsExactly("ask 2 from 1");
    }

    @Test
    void placeThatHasNothingToContinueQueuesByItsSequence() {
        ownWithOneBehind(0);
        rig.tenure().run = step(2);
        rig.pass(LEASE_MILLIS);
        announce(c);
        rig.answer(granted(step(1), 10, step(2), false, false));
        rig.advance(b);
        assertThat(rig.effects()).contains("ask 4 from 1 used 2");
        rig.answer(queued(9));
        rig.pulse();
        assertThat(rig.effects()).contains("ask 3 4");
    }

    @Test
    void waitingThreadSleepsUntilACommandIsDue() {
        assertThat(rig.state.tickets.untilDue(rig.now())).isEqualTo(1);
        announce(a);
        assertThat(rig.state.tickets.isAsking()).isTrue();
        assertThat(rig.state.tickets.untilDue(rig.now())).isEqualTo(1_000_000_000L);
        rig.answer(queued(7));
        assertThat(rig.state.tickets.untilDue(rig.now())).isEqualTo(TicketQueue.POLL_NANOS);
        rig.pass(2_000);
        assertThat(rig.state.tickets.untilDue(rig.now())).isEqualTo(1);
    }

    @Test
    void closingCancelsAllTickets() {
        announce(a);
        announce(b);
        rig.answer(queued(7));
        rig.ask();
        rig.event(() -> rig.state.depart(b, rig.now()));
        rig.effects();
        rig.close();
        assertThat(rig.effects()).containsExactlyInAnyOrder("release 1", "release 2", "unpin");
    }
}
