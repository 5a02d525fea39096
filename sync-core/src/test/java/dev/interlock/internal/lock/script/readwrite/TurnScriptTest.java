package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer;
import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How a session turns from reading to writing and back. Who reads has to queue before it writes, and gives up its share
 * for that; what it reads on, it may read on for longer; and who writes may go on as a reader.
 */
class TurnScriptTest extends SharedLockScriptTest {

    // ---- from reading to writing

    @ParameterizedTest
    @CsvSource({"0, false", "1, false", "0, true", "1, true"})
    void onlyReaderWritesAtOnceIfNobodyWaits(long earlier, boolean once) throws InterruptedException {
        long first = a.read(1).token();
        Request request = a.request(2).continuing(earlier);
        Answer answer = (once ? request.once() : request).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.token()).isGreaterThan(first);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.behind()).isZero();
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(2), "1");
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), a.mark());
        assertThat((once ? request.once() : request).send().token())
                .as("a repeat")
                .isEqualTo(answer.token());
        assertThat(a.request(1).reading().send().status())
                .as("a late duplicate")
                .isEqualTo(Status.OVER);
        assertThat(a.release(1)).as("it was released by the request").isEqualTo(TENURE);
        assertOwner(a, 2);
        assertNoLetters(a);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void readerThatWantsToWriteStandsBehindOtherReaders(long earlier) throws InterruptedException {
        share(a, b);
        Request request = a.request(2).continuing(earlier);
        Answer answer = request.send();
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        assertThat(answer.owner()).as("it reads no more").isZero();
        assertAlmostLease(answer.ttlMillis());
        assertReaders(b.owner(1));
        assertQueue(a.ticket(2));
        assertThat(request.send().status()).as("a repeat").isEqualTo(Status.QUEUED);
        assertReaders(b.owner(1));
        assertQueue(a.ticket(2));
        assertThat(a.renew(1).owned()).isFalse();
        assertThat(b.release(1)).isEqualTo(TENURE);
        assertOwner(a, 2);
        assertGranted(a, 2, 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void readerThatWantsToWriteStandsBehindEarlierWriters(long earlier) throws InterruptedException {
        a.read(1);
        writer.queue(1);
        b.queueToRead(1);
        letters(a);
        Request request = a.request(2).continuing(earlier);
        assertThat(request.send().status()).isEqualTo(Status.QUEUED);
        assertThat(owners()).as("nobody reads any more").containsExactly(writer.owner(1));
        assertQueue(b.readingTicket(1), a.ticket(2));
        assertGranted(writer, 1, 1);
        assertThat(request.send().status()).as("a repeat").isEqualTo(Status.QUEUED);
        assertQueue(b.readingTicket(1), a.ticket(2));
        assertNoLetters(a);
    }

    /** It is refused, and its share is gone all the same. */
    @Test
    void readerThatDoesNotWaitToWriteGivesUpItsShare() {
        share(a, b);
        assertThat(a.request(2).continuing(1).once().send().status()).isEqualTo(Status.BUSY);
        assertReaders(b.owner(1));
        assertThat(tickets()).isEmpty();
        assertThat(a.release(1)).as("it was released by the request").isEqualTo(TENURE);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 2})
    void requestThatLeavesTheShareAloneQueuesBesideIt(long earlier) {
        a.read(1);
        Answer answer = a.request(3).continuing(earlier).send();
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        assertThat(answer.owner()).isEqualTo(1);
        assertReaders(a.owner(1));
        assertQueue(a.ticket(3));
        a.release(1);
        assertOwner(a, 3);
    }

    // ---- from reading to reading

    @Test
    void readerReadsOnThoughWritersWait() throws InterruptedException {
        long first = a.read(1).token();
        writer.queue(1);
        letters(a);
        shorten(a, 9_000);
        Request request = a.request(2).reading().continuing(1);
        Answer answer = request.send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.token()).isGreaterThan(first);
        assertThat(answer.behind()).isEqualTo(1);
        assertReaders(a.owner(2));
        assertQueue(writer.ticket(1));
        assertThat(request.send().token()).as("a repeat").isEqualTo(answer.token());
        assertThat(a.request(1).reading().send().status()).isEqualTo(Status.OVER);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertReaders(a.owner(2));
        assertNoLetters(a, writer);
        a.release(2);
        assertOwner(writer, 1);
    }

    @Test
    void readerThatContinuesWhatItHadQueuedForKeepsNoPlace() {
        inLineToRead(writer, a);
        a.request(2).reading().continuing(1).send();
        assertQueue(a.readingTicket(1), a.readingTicket(2));
        assertThat(a.request(1).reading().release()).isEqualTo(TICKET);
        writer.release(1);
        assertReaders(a.owner(2));
        assertNoQueue();
    }

    // ---- from writing to reading

    @Test
    void ownerThatReadsOnLetsWaitingReadersIn() throws InterruptedException {
        long first = a.own(1).token();
        b.queueToRead(1);
        writer.queue(1);
        letters(a);
        Request request = a.request(2).reading().continuing(1);
        Answer answer = request.send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.token()).isGreaterThan(first);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.behind()).isEqualTo(1);
        assertReaders(a.owner(2), b.owner(1));
        assertQueue(writer.ticket(1));
        assertGranted(b, 1, 1);
        assertThat(request.send().status()).as("a repeat").isEqualTo(Status.GRANTED);
        assertReaders(a.owner(2), b.owner(1));
        assertNoLetters(a, b);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(a.release(2)).isEqualTo(TENURE);
        assertReaders(b.owner(1));
    }
}
