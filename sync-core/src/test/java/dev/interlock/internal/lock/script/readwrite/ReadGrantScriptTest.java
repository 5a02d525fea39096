package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer;
import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.Request;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** To whom the lock goes when somebody leaves, and who is told. */
class ReadGrantScriptTest extends SharedLockScriptTest {

    // ---- release of an owner

    @Test
    void releaseOfAWriterLetsInTheReadersAtTheHead() throws InterruptedException {
        Contender next = contender();
        inLineToRead(writer, a, b);
        next.queue(1);
        c.queueToRead(1);
        assertThat(writer.release(1)).isEqualTo(TENURE);
        assertReaders(a.owner(1), b.owner(1));
        assertQueue(next.ticket(1), c.readingTicket(1));
        assertAlmostLease(leaseOf(a));
        assertAlmostLease(leaseOf(b));
        assertAlmostLease(ttl(keys.lock()));
        assertGranted(a, 1, 1);
        assertGranted(b, 1, 1);
        assertNoLetters(next, c);
        assertThat(announcements()).as("it was not free").isEmpty();
        assertThat(writer.release(1)).as("a repeat").isEqualTo(TENURE);
        assertNoLetters(a);
    }

    /** Others wait if somebody stands behind the last of them: not because the next reader stood behind the first. */
    @Test
    void readersGrantedTogetherAreNotToldOfEachOther() throws InterruptedException {
        inLineToRead(writer, a, b);
        writer.release(1);
        assertGranted(a, 1, 0);
        assertGranted(b, 1, 0);
        assertNoQueue();
    }

    @Test
    void releaseOfAWriterGrantsTheWriterAtTheHeadAlone() throws InterruptedException {
        inLine(writer, a);
        b.queueToRead(1);
        writer.release(1);
        assertOwner(a, 1);
        assertThat(ttls()).doesNotContainKey(keys.readers());
        assertGranted(a, 1, 1);
        assertNoLetters(b);
    }

    @Test
    void grantedReadersHaveTheLeasesOfTheirTickets() {
        writer.own(1);
        Request brief = a.request(1).granting(9_000).reading();
        assertThat(brief.send().status()).isEqualTo(Status.QUEUED);
        b.queueToRead(1);
        assertQueue(a.owner(1) + ":9000:r", b.readingTicket(1));
        writer.release(1);
        assertThat(leaseOf(a)).isBetween(1L, 9_000L);
        assertAlmostLease(leaseOf(b));
        assertAlmostLease(ttl(keys.lock()));
        assertThat(brief.send().ttlMillis()).isBetween(1L, 9_000L);
    }

    @Test
    void expiredWriterLeavesTheLockToTheReadersAtTheHead() throws InterruptedException {
        inLineToRead(writer, a, b);
        c.queue(1);
        expire();
        Answer answer = b.read(1);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.behind()).isEqualTo(1);
        assertReaders(a.owner(1), b.owner(1));
        assertGranted(a, 1, 1);
        assertThat(letters(b)).as("who learns it from the reply gets no letter").isEmpty();
        assertNoLetters(c);
    }

    @Test
    void pollByAWriterLetsInTheReadersBeforeHim() throws InterruptedException {
        inLineToRead(writer, a);
        b.queue(1);
        expire();
        Answer answer = b.queue(1);
        assertAlmostLease(answer.ttlMillis());
        assertReaders(a.owner(1));
        assertGranted(a, 1, 1);
    }

    // ---- release of readers

    @ParameterizedTest
    @CsvSource({"0, 1, 2", "0, 2, 1", "1, 0, 2", "1, 2, 0", "2, 0, 1", "2, 1, 0"})
    void writerIsGrantedWhenTheLastReaderLeaves(int first, int second, int third) throws InterruptedException {
        List<Contender> all = List.of(a, b, c);
        all.forEach(reader -> reader.read(1));
        writer.queue(1);
        assertThat(all.get(first).release(1)).isEqualTo(TENURE);
        assertThat(readers())
                .containsExactlyInAnyOrder(
                        all.get(second).owner(1), all.get(third).owner(1));
        assertThat(all.get(second).release(1)).isEqualTo(TENURE);
        assertThat(all.get(first).release(1)).as("a repeat").isEqualTo(TENURE);
        assertReaders(all.get(third).owner(1));
        assertNoLetters(writer);
        assertThat(all.get(third).release(1)).isEqualTo(TENURE);
        assertOwner(writer, 1);
        assertGranted(writer, 1, 0);
        assertThat(ttls()).doesNotContainKey(keys.readers());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nothingRemainsAfterTheLastReader(boolean conditionsHaveWaiters) {
        if (conditionsHaveWaiters) {
            c.waits("c", 10);
        }
        share(a, b);
        a.release(1);
        b.release(1);
        assertThat(owners()).isEmpty();
        assertThat(ttls()).doesNotContainKeys(keys.lock(), keys.readers(), keys.queue(), keys.waiters());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void plainClientsHearOfTheLastReader(boolean conditionsHaveWaiters) throws InterruptedException {
        if (conditionsHaveWaiters) {
            c.waits("c", 10);
        }
        share(a, b);
        announcements();
        a.release(1);
        assertThat(announcements()).isEmpty();
        b.release(1);
        assertThat(announcements()).containsExactly("0");
        assertThat(b.release(1)).isEqualTo(TENURE);
        assertThat(announcements()).as("a repeat").isEmpty();
    }

    @Test
    void releaseOfAReaderOfAnotherSequenceDoesNothing() {
        a.read(2);
        assertThat(a.release(1)).isEqualTo(Contender.NOTHING);
        assertThat(a.release(3)).isEqualTo(Contender.NOTHING);
        assertThat(b.release(2)).isEqualTo(Contender.NOTHING);
        assertReaders(a.owner(2));
    }

    // ---- cancel

    @Test
    void cancelOfTheWriterAtTheHeadLetsInTheReadersBehindHim() throws InterruptedException {
        Contender next = contender();
        a.read(1);
        writer.queue(1);
        b.queueToRead(1);
        next.queue(1);
        c.queueToRead(1);
        letters(a);
        assertThat(writer.release(1)).isEqualTo(TICKET);
        assertReaders(a.owner(1), b.owner(1));
        assertQueue(next.ticket(1), c.readingTicket(1));
        assertGranted(b, 1, 1);
        assertNoLetters(a, c);
        assertThat(next.release(1)).isEqualTo(TICKET);
        assertReaders(a.owner(1), b.owner(1), c.owner(1));
        assertGrantedFreely(c, 1);
        assertThat(letters(a)).containsExactly("n 1 " + keys.lock());
        assertNoQueue();
    }

    /** Readers need not wait for their next beat to let others in again. */
    @Test
    void cancelOfTheOnlyWriterIsToldToReaders() throws InterruptedException {
        share(a, b);
        writer.queue(1);
        letters(a);
        letters(b);
        assertThat(writer.release(1)).isEqualTo(TICKET);
        assertThat(letters(a)).containsExactly("n 1 " + keys.lock());
        assertThat(letters(b)).containsExactly("n 1 " + keys.lock());
        assertNoQueue();
    }

    @Test
    void cancelBehindTheHeadLetsInNobody() throws InterruptedException {
        Contender second = contender();
        a.read(1);
        writer.queue(1);
        second.queue(1);
        b.queueToRead(1);
        second.release(1);
        assertQueue(writer.ticket(1), b.readingTicket(1));
        assertNoLetters(b);
    }

    @Test
    void cancelDoesNotLetReadersInToAnOwner() throws InterruptedException {
        inLine(owner, writer);
        a.queueToRead(1);
        assertThat(writer.release(1)).isEqualTo(TICKET);
        assertOwner(owner, 1);
        assertQueue(a.readingTicket(1));
        assertNoLetters(a);
    }

    @Test
    void cancelOfAReaderThatWaitsTakesItsTicketOut() throws InterruptedException {
        inLineToRead(writer, a, b);
        assertThat(a.request(1).reading().release()).isEqualTo(TICKET);
        writer.release(1);
        assertReaders(b.owner(1));
        assertNoLetters(a);
        assertThat(a.request(1).reading().send().status()).isEqualTo(Status.OVER);
    }

    /** A cancel of what was granted meanwhile gives the tenure up. */
    @Test
    void cancelOfAGrantedReaderLetsTheWriterIn() throws InterruptedException {
        inLineToRead(owner, a);
        writer.queue(1);
        owner.release(1);
        assertThat(a.request(1).reading().release()).isEqualTo(TENURE);
        assertOwner(writer, 1);
        assertGranted(writer, 1);
    }

    // ---- the dead

    @Test
    void pollPassesADeadWriterAndLetsInTheReadersBehindHim() throws InterruptedException {
        a.read(1);
        writer.queue(1);
        b.queueToRead(1);
        c.queueToRead(1);
        die(writer);
        Answer answer = c.read(1);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.behind()).isZero();
        assertReaders(a.owner(1), b.owner(1), c.owner(1));
        assertGrantedFreely(b, 1);
        assertThat(letters(c)).containsExactly("n 1 " + keys.lock());
        assertNoLetters(writer);
        assertThat(writer.acquire(1).status()).isEqualTo(Status.OVER);
        assertNoQueue();
    }

    /** Whoever polls, be it for writing. */
    @Test
    void pollOfAWriterBehindLetsReadersPassADeadOne() throws InterruptedException {
        Contender next = contender();
        a.read(1);
        writer.queue(1);
        b.queueToRead(1);
        next.queue(1);
        die(writer);
        next.queue(1);
        assertReaders(a.owner(1), b.owner(1));
        assertQueue(next.ticket(1));
        assertThat(letters(b)).first().asString().startsWith("g 1 ").endsWith(" 1 0 0 " + keys.lock());
    }

    @Test
    void deadReadersAreNotLetIn() throws InterruptedException {
        inLineToRead(writer, a, b, c);
        die(a);
        die(b);
        writer.release(1);
        assertReaders(c.owner(1));
        assertNoLetters(a, b);
        assertGranted(c, 1, 0);
        assertThat(a.request(1).reading().send().status()).isEqualTo(Status.OVER);
    }

    /** A dead writer between readers divides them no more. */
    @Test
    void deadTicketsBetweenReadersAreDropped() throws InterruptedException {
        Contender next = contender();
        inLineToRead(writer, a);
        dead.queue(1);
        b.queueToRead(1);
        next.queue(1);
        die(dead);
        writer.release(1);
        assertReaders(a.owner(1), b.owner(1));
        assertQueue(next.ticket(1));
        assertGranted(a, 1, 1);
        assertGranted(b, 1, 1);
    }

    // ---- order

    /** A reader that joins at once, though writers wait, could be followed by others for ever. */
    @Test
    void orderIsThatOfArrival() {
        Contender other = contender();
        inLineToRead(writer, a);
        b.queue(1);
        c.queueToRead(1);
        other.queueToRead(1);
        writer.queue(2);
        assertReaders(a.owner(1));
        a.queue(2);
        assertOwner(b, 1);
        b.queueToRead(2);
        assertReaders(c.owner(1), other.owner(1));
        c.release(1);
        other.release(1);
        assertOwner(writer, 2);
        writer.release(2);
        assertOwner(a, 2);
        a.release(2);
        assertReaders(b.owner(2));
        assertThat(tickets()).isEmpty();
    }
}
