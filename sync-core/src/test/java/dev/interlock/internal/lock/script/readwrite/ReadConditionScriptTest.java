package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.Contender.Signalled;
import dev.interlock.internal.lock.script.Contender.Stand;
import dev.interlock.internal.lock.script.Contender.State;
import dev.interlock.internal.lock.script.Waiting;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who waits for a condition is to write, and so waits for readers; these neither signal nor wait. */
class ReadConditionScriptTest extends SharedLockScriptTest {
    private Contender waiting;

    @Override
    @BeforeEach
    void begin() {
        a = contender();
        b = contender();
        waiting = contender();
    }

    /** A waiter whose ticket stands in the queue while {@link #a} reads by 1000. */
    private Waiting signalled() throws InterruptedException {
        Waiting waiter = waiting.waits("c", 10);
        a.own(1_000);
        a.downgrade(1_000, "sc");
        assertQueue(waiter.ticket(2_001));
        letters(waiting);
        return waiter;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void waiterThatIsSignalledIsGrantedWhenReadersHaveLeft(boolean isLost) throws InterruptedException {
        Waiting waiter = signalled();
        assertThat(waiting.asks(waiter)).isEqualTo(new Stand(State.SIGNALLED, 2_001));
        assertThat(waiting.polls(waiter, 2_001).status()).isEqualTo(Status.QUEUED);
        assertReaders(a.owner(1_000));
        assertNoLetters(waiting);
        if (isLost) {
            lapse(a);
            waiting.asks(waiter);
        } else {
            assertThat(a.release(1_000)).isEqualTo(TENURE);
        }
        assertOwner(waiting, 2_001);
        assertThat(letters(waiting))
                .singleElement()
                .asString()
                .startsWith("g 2001 ")
                .endsWith(" 0 2000 " + keys.lock());
        assertThat(waiting.releaseOf(waiter, 2_001)).isEqualTo(TENURE);
    }

    /** It tells the readers so, as any writer does. */
    @Test
    void waiterThatLeavesQueuesBehindReaders() throws InterruptedException {
        Waiting waiter = waiting.waits("c", 10);
        a.read(7);
        b.read(8);
        assertThat(waiting.leaves(waiter)).isEqualTo(new Stand(State.LEFT, 2_001));
        assertReaders(a.owner(7), b.owner(8));
        assertQueue(waiting.ticket(2_001) + ":-2000");
        assertDemand(a, 7);
        assertDemand(b, 8);
        a.release(7);
        assertSignalled(waiting, -2_000, 2_001);
        b.release(8);
        assertOwner(waiting, 2_001);
        assertThat(letters(waiting)).singleElement().asString().endsWith(" 0 0 -2000 " + keys.lock());
    }

    @Test
    void readersHearThatConditionsHaveWaiters() throws InterruptedException {
        waiting.waits("c", 10);
        inLineToRead(owner, a, b);
        owner.release(1);
        assertGranted(a, 1, 2);
        assertGranted(b, 1, 2);
    }

    @Test
    void readerSignalsNobody() {
        Waiting waiter = waiting.waits("c", 10);
        a.read(1);
        assertThat(a.signal(1, 1, "c", "ac")).isEqualTo(new Signalled(false, false, false, 0));
        assertThat(a.releaseAfter(1, "ac", "*")).isEqualTo(TENURE);
        assertThat(waiting()).containsExactly(waiter.member());
        assertThat(tickets()).isEmpty();
    }

    // ---- losses

    /** An owner that is lost may have had something to signal; a reader finds that out, too. */
    @Test
    void readerThatFindsALostTenureSignalsAllAndReadsFirst() throws InterruptedException {
        Waiting waiter = waiting.waits("c", 10);
        b.own(1);
        expire();
        assertThat(a.read(1).behind()).as("the waiter").isEqualTo(1);
        assertReaders(a.owner(1));
        assertQueue(waiter.ticket(2_001));
        assertSignalled(waiting, 2_000, 2_001);
        assertNoWaiters();
        assertThat(b.release(1)).isEqualTo(NOTHING);
        a.release(1);
        assertOwner(waiting, 2_001);
    }

    /** A signal may have died with a dead ticket; readers behind it are let in, and all waiters follow. */
    @Test
    void deadTicketBeforeReadersSignalsAll() throws InterruptedException {
        Waiting waiter = waiting.waits("c", 10);
        a.read(1);
        dead.queue(1);
        b.queueToRead(1);
        die(dead);
        assertThat(b.read(1).behind()).isEqualTo(1);
        assertReaders(a.owner(1), b.owner(1));
        assertQueue(waiter.ticket(2_001));
        assertSignalled(waiting, 2_000, 2_001);
    }

    @Test
    void ticketsOfTheSignalledHaveATtlWhereTheDeadOneWasTheLast() {
        Waiting waiter = waiting.waits("c", 10);
        a.read(1);
        dead.queue(1);
        die(dead);
        assertThat(b.request(1).reading().once().send().status()).isEqualTo(Status.BUSY);
        assertReaders(a.owner(1));
        assertQueue(waiter.ticket(2_001));
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
        assertNoWaiters();
    }

    /** Who turns from reading to writing loses nothing of it. */
    @Test
    void endOfAShareIsNoLossOfSignals() {
        Waiting waiter = waiting.waits("c", 10);
        a.read(1);
        a.request(2).continuing(1).send();
        assertOwner(a, 2);
        a.release(2);
        b.read(1);
        a.read(3);
        a.release(3);
        b.release(1);
        b.own(2);
        assertThat(waiting()).containsExactly(waiter.member());
    }

    /**
     * A reader that is lost may have had a waiter that was signalled and needed no ticket of its own, whatever other
     * readers do then.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void readerThatIsLostBesideOthersSignalsAll(boolean isFirst) throws InterruptedException {
        Waiting waiter = waiting.waits("c", 10);
        a.read(1);
        b.read(1);
        letters(waiting);
        if (isFirst) {
            lapse(b);
            assertThat(a.release(1)).isEqualTo(TENURE);
        } else {
            assertThat(a.release(1)).isEqualTo(TENURE);
            lapseAll();
            waiting.asks(waiter);
        }
        assertNoWaiters();
        assertOwner(waiting, 2_001);
    }

    @Test
    void readerThatIsLostWhileAnotherReadsSignalsAll() throws InterruptedException {
        Waiting waiter = waiting.waits("c", 10);
        a.read(1);
        b.read(1);
        lapse(b);
        assertThat(waiting.asks(waiter).state()).isNotEqualTo(State.LEFT);
        assertReaders(a.owner(1));
        assertQueue(waiter.ticket(2_001));
        assertSignalled(waiting, 2_000, 2_001);
        a.release(1);
        assertOwner(waiting, 2_001);
    }
}
