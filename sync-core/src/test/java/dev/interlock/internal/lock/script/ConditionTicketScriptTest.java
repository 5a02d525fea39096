package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender.Signalled;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tickets waiters of conditions get when they are signalled, and what becomes of these. */
class ConditionTicketScriptTest extends LockScriptTest {
    /** A session with one ticket for all of its threads needs no second one. */
    @Test
    void plainSessionThatStandsInTheQueueGetsNoTicket() throws InterruptedException {
        a.waits("c", 10);
        signaller.own(1_000);
        a.queue(3_000);
        signaller.releaseAfter(1_000, "sc");
        assertOwner(a, 3_000);
        assertThat(tickets()).isEmpty();
        List<String> letters = letters(a);
        assertThat(letters).hasSize(2);
        assertThat(letters.get(0)).startsWith("g 3000 ").endsWith(" 0 0 0 " + keys.lock());
        assertThat(letters.get(1)).isEqualTo("s 2 2000 0 " + keys.lock());
    }

    @Test
    void plainSessionThatOwnsTheLockGetsNoTicket() throws InterruptedException {
        a.waits("c", 10);
        a.own(3_000);
        assertThat(a.signal(3_000, 1, "c", "sc")).isEqualTo(new Signalled(true, false, false, 0));
        assertSignalled(a, 2_000, 0);
        assertThat(tickets()).isEmpty();
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), a.mark());
    }

    /** With its release, it owns the lock no more: what was signalled stands in the queue for it. */
    @Test
    void plainSessionThatSignalsItselfByItsReleaseGetsATicket() throws InterruptedException {
        a.waits("c", 10);
        a.own(3_000);
        b.queue(1_000);
        a.waiter("c", 20, 4_000);
        letters(a);
        a.releaseAfter(3_000, "ac");
        assertOwner(b, 1_000);
        assertThat(tickets()).singleElement().asString().startsWith(a.owner(3_001) + ":");
        assertSignalled(a, 2_000, 3_001);
    }

    /** A fair session's waiters line up behind its tickets and its tenure, one each. */
    @Test
    void fairSessionGetsATicketForEach() throws InterruptedException {
        List<Waiting> waiters = a.waitTogether("c", "c");
        a.requests(4_000L, 5_000L).send();
        assertOwner(a, 4_000);
        a.signal(4_000, 1, "c", "sc", "sc");
        assertQueue(
                a.ticket(5_000), waiters.get(0).ticket(5_001), waiters.get(1).ticket(5_002));
        assertThat(letters(a)).containsExactly("s 4 2000 5001 3000 5002 " + keys.lock());
        a.release(4_000);
        assertThat(letters(a)).singleElement().asString().matches("g 5000 \\d+ \\d{16} 0 5002 0 " + keys.lock());
    }

    /**
     * Tickets of a session stand in the order of their sequences, so those of waiters lie above all that it has used,
     * and below the next that it will use.
     */
    @Test
    void ticketsOfWaitersLieBetweenTheSequencesOfTheirSession() {
        List<Waiting> waiters = a.waitTogether("c", "c", "c");
        signaller.own(1_000);
        a.requests(5_000L).send();
        signaller.signal(1_000, 1, "c", "sc");
        a.requests(6_000L).send();
        signaller.signal(1_000, 2, "c", "sc", "sc");
        assertThat(tickets())
                .containsExactly(
                        a.ticket(5_000),
                        waiters.get(0).ticket(5_001),
                        a.ticket(6_000),
                        waiters.get(1).ticket(6_001),
                        waiters.get(2).ticket(6_002));
        a.requests(7_000L).send();
        assertThat(tickets()).last().isEqualTo(a.ticket(7_000));
    }

    /**
     * A thread that waits has its number before others of its session queue, who may do so before Redis hears of it.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ticketOfAWaiterThatRegistersLateLiesAboveTheQueue(boolean sentAhead) {
        Waiting waiter = a.waiter("c", 10, 2_000);
        a.own(1_000);
        b.queue(1_000);
        a.requests(3_000L).send();
        if (sentAhead) {
            a.signal(1_000, 1, "c", waiter.fair(), "sc");
        } else {
            a.releaseAfter(1_000, waiter.fair(), "sc");
        }
        assertThat(tickets()).endsWith(a.ticket(3_000), waiter.ticket(3_001));
    }

    /** A waiter may be older than others that were signalled and have left nobody behind who waits. */
    @Test
    void ticketOfAWaiterThatRegistersLateLiesAboveThoseOfOthers() {
        Waiting first = a.waiter("c", 10, 4_000);
        Waiting second = a.waiter("c", 20, 2_000);
        a.own(1_000);
        a.signal(1_000, 1, "", first.fair(), "sc");
        assertNoWaiters();
        a.signal(1_000, 3, "", second.fair(), "sc");
        assertQueue(first.ticket(4_001), second.ticket(4_002));
    }

    /**
     * Whether a tenure was lost, its release says by the sequences that were released: later ones have to be higher.
     */
    @ParameterizedTest
    @ValueSource(strings = {"once", "continued", "registering"})
    void ticketOfAWaiterLiesAboveEarlierTenures(String way) {
        Waiting waiter = a.waiter("c", 10, 2_000);
        a.own(1_000);
        if (way.equals("registering")) {
            a.request(3_000).continuing(1_000).send();
            a.releaseAfter(3_000, waiter.plain());
        } else {
            a.releaseAfter(1_000, waiter.plain());
            if (way.equals("continued")) {
                a.own(2_500);
                a.request(3_000).continuing(2_500).send();
            } else {
                a.request(3_000).once().send();
            }
            assertThat(a.release(3_000)).isEqualTo(TENURE);
        }
        b.signals("sc");
        assertOwner(a, 3_001);
        expire();
        assertThat(a.releaseOf(waiter, 3_001)).as("it was lost").isEqualTo(NOTHING);
    }

    /** A poll for a waiter's ticket is like any other, and so is its grant. */
    @Test
    void ticketOfAWaiterIsAskedForAndCancelledLikeAnyOther() {
        Waiting waiter = a.waits("c", 10);
        b.signalsAhead("sc");
        assertThat(a.polls(waiter, 2_001).status()).isEqualTo(Status.QUEUED);
        assertThat(b.release(1_000)).isEqualTo(TENURE);
        Answer granted = a.polls(waiter, 2_001);
        assertThat(granted.status()).isEqualTo(Status.GRANTED);
        assertThat(granted.behind()).as("conditions have no waiters").isZero();
        assertThat(a.releaseOf(waiter, 2_001)).isEqualTo(TENURE);

        Waiting other = a.waits("c", 10, 4_000);
        b.own(2_000);
        b.signal(2_000, 1, "", "sc");
        assertThat(a.releaseOf(other, 4_001)).isEqualTo(Contender.TICKET);
        assertThat(tickets()).isEmpty();
        assertNoQueue();
    }

    /**
     * Where its grant has expired, or its ticket was lost, it is over, and never queues or owns by that sequence again.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ticketOfAWaiterIsGrantedOnce(boolean isFree) {
        Waiting waiter = a.waits("c", 10);
        b.signals("sc");
        assertOwner(a, 2_001);
        expire();
        if (!isFree) {
            b.own(2_000);
        }
        assertThat(a.polls(waiter, 2_001).status()).isEqualTo(Status.OVER);
        assertThat(tickets()).isEmpty();
        assertThat(owners()).hasSize(isFree ? 0 : 1);
    }
}
