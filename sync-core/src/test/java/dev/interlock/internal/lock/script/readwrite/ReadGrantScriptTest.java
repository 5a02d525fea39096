package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer;
import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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

    // ---- release of readers

    @Test
    void writerIsGrantedWhenTheLastReaderLeaves() throws InterruptedException {
        share(a, b, c);
        writer.queue(1);
        assertThat(b.release(1)).isEqualTo(TENURE);
        assertReaders(a.owner(1), c.owner(1));
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(b.release(1)).as("a repeat").isEqualTo(TENURE);
        assertReaders(c.owner(1));
        assertNoLetters(writer);
        assertThat(c.release(1)).isEqualTo(TENURE);
        assertOwner(writer, 1);
        assertGranted(writer, 1, 0);
        assertThat(ttls()).doesNotContainKey(keys.readers());
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
        assertThat(ttls()).doesNotContainKeys(keys.lock(), keys.readers(), keys.queue(), keys.waiters());
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
    void cancelDoesNotLetReadersInToAnOwner() throws InterruptedException {
        inLine(owner, writer);
        a.queueToRead(1);
        assertThat(writer.release(1)).isEqualTo(TICKET);
        assertOwner(owner, 1);
        assertQueue(a.readingTicket(1));
        assertNoLetters(a);
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
}
