package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.Request;
import dev.interlock.internal.lock.script.Waiting;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of an owner that goes on as a reader, and of those who wait. */
class DowngradeScriptTest extends SharedLockScriptTest {

    @Test
    void ownerGoesOnAsAReader() throws InterruptedException {
        long token = a.own(1).token();
        assertThat(a.downgrade(1)).isTrue();
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.id + ":r", "1");
        assertAlmostLease(leaseOf(a));
        assertAlmostLease(ttl(keys.lock()));
        assertAlmostLease(ttl(keys.readers()));
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.readers(), keys.token());
        assertThat(number("GET", keys.token())).as("it is the same tenure").isEqualTo(token);
        assertThat(announcements()).isEmpty();
        assertThat(b.read(1).behind()).isZero();
        assertReaders(a.owner(1), b.owner(1));
        assertThat(a.renew(1).owned()).isTrue();
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertReaders(b.owner(1));
    }

    @Test
    void readerHasAtLeastWhatWasLeftOfItsLease() {
        a.request(1).lease(200_000).send();
        assertThat(a.downgrade(1, 10_000, 1)).isTrue();
        assertThat(leaseOf(a)).isBetween(190_000L, 200_000L);
        assertThat(ttl(keys.lock())).isBetween(190_000L, 200_000L);
        assertThat(ttl(keys.readers())).isBetween(190_000L, 200_000L);
        a.release(1);
        b.own(1);
        redis("PEXPIRE", keys.lock(), "9000");
        assertThat(b.downgrade(1)).isTrue();
        assertAlmostLease(leaseOf(b));
        assertAlmostLease(ttl(keys.lock()));
        assertAlmostLease(ttl(keys.readers()));
    }

    /** A session that got a waiter's ticket withdraws the one that it had asked for. */
    @Test
    void ticketThatTheOwnerWithdrawsDoesNotReplaceWhatItReadsOn() throws InterruptedException {
        a.own(1);
        Request withdrawn = a.request(2).continuing(-1).reading();
        assertThat(withdrawn.send().status()).isEqualTo(Status.QUEUED);
        b.queueToRead(1);
        letters(a);
        assertThat(a.downgrade(1)).isTrue();
        assertReaders(a.owner(1));
        assertNoLetters(a, b);
        assertThat(withdrawn.release()).isEqualTo(TICKET);
        assertReaders(a.owner(1), b.owner(1));
        assertGrantedFreely(b, 1);
    }

    @Test
    void readersAtTheHeadAreLetInAtOnce() throws InterruptedException {
        Contender late = contender();
        inLineToRead(a, b, c);
        writer.queue(1);
        late.queueToRead(1);
        letters(a);
        assertThat(a.downgrade(1)).isTrue();
        assertReaders(a.owner(1), b.owner(1), c.owner(1));
        assertQueue(writer.ticket(1), late.readingTicket(1));
        assertGranted(b, 1, 1);
        assertGranted(c, 1, 1);
        assertNoLetters(a, writer, late);
        assertThat(b.read(1).token()).isEqualTo(number("GET", keys.token()));
    }

    @Test
    void repeatChangesNothing() throws InterruptedException {
        inLineToRead(a, b);
        a.downgrade(1);
        letters(b);
        shorten(a, 9_000);
        long token = number("GET", keys.token());
        assertThat(a.downgrade(1)).isTrue();
        assertThat(leaseOf(a)).isLessThanOrEqualTo(9_000);
        assertReaders(a.owner(1), b.owner(1));
        assertThat(number("GET", keys.token())).isEqualTo(token);
        assertNoLetters(b);
    }

    /** What is over doesn't come back to life. */
    @ParameterizedTest
    @ValueSource(
            strings = {"released", "released as a reader", "expired", "expired as a reader", "continued", "not yet"})
    void downgradeOfWhatIsOverIsRefused(String state) throws InterruptedException {
        if (!state.equals("not yet")) {
            a.own(1);
        }
        if (state.endsWith("as a reader")) {
            a.downgrade(1);
            b.read(1);
        }
        switch (state) {
            case "released", "released as a reader" -> a.release(1);
            case "expired" -> expire();
            case "expired as a reader" -> {
                lapse(a);
                b.read(2);
            }
            case "continued" -> a.request(2).continuing(1).send();
            default -> {}
        }
        List<String> before = list("HGETALL", keys.lock());
        assertThat(a.downgrade(1)).isFalse();
        assertThat(list("HGETALL", keys.lock())).isEqualTo(before);
        writer.waiter("c", 10, 2_000);
        assertThat(a.downgrade(1, "ac")).isFalse();
        assertThat(list("HGETALL", keys.lock())).isEqualTo(before);
        assertThat(tickets()).isEmpty();
    }

    @Test
    void downgradeOfAnotherSequenceDoesNothing() {
        a.own(2);
        assertThat(a.downgrade(1)).isFalse();
        assertThat(a.downgrade(3)).isFalse();
        assertThat(b.downgrade(2)).isFalse();
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(2), "1");
        a.release(2);
        a.read(4);
        assertThat(a.downgrade(2)).isFalse();
        assertReaders(a.owner(4));
    }

    // ---- operations on conditions

    @Test
    void operationsAreCarriedOut() throws InterruptedException {
        Waiting waiter = b.waits("c", 10);
        a.own(1_000);
        Waiting next = a.waiter("d", 20, 2_000);
        assertThat(a.downgrade(1_000, "sc", next.plain())).isTrue();
        assertReaders(a.owner(1_000));
        assertQueue(waiter.ticket(2_001));
        assertThat(waiting()).containsExactly(next.member());
        assertSignalled(b, 2_000, 2_001);
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
        assertThat(a.downgrade(1_000, "sc", next.plain())).as("a repeat").isTrue();
        assertQueue(waiter.ticket(2_001));
        assertNoLetters(b);
        assertThat(a.release(1_000)).isEqualTo(TENURE);
        assertOwner(b, 2_001);
    }

    @Test
    void operationsDoneBeforeAreNotRepeated() {
        List<Waiting> waiters = b.waitTogether("c", "c", "c");
        a.signalsAhead("sc");
        assertThat(a.downgrade(1_000, Contender.LEASE, 1, "sc", "sc")).isTrue();
        assertQueue(waiters.get(0).ticket(4_001), waiters.get(1).ticket(4_002));
        assertThat(waiting()).containsExactly(waiters.get(2).member());
        assertThat(a.releaseAfter(1_000, "sc", "sc", "sc"))
                .as("a reader has no operations")
                .isEqualTo(TENURE);
        assertThat(waiting()).containsExactly(waiters.get(2).member());
    }

    /** A signalled waiter is to write, and has to wait for those who read. */
    @Test
    void waiterOfTheSameSessionGetsATicket() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        a.own(3_000);
        assertThat(a.downgrade(3_000, "sc")).isTrue();
        assertQueue(waiter.ticket(3_001));
        assertSignalled(a, 2_000, 3_001);
        a.release(3_000);
        assertOwner(a, 3_001);
    }
}
