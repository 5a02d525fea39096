package dev.interlock.internal.lock.script.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is told that somebody waits for what he has. */
class DemandScriptTest extends SharedLockScriptTest {

    private String demand(long sequence) {
        return "d " + sequence + " " + keys.lock();
    }

    private void assertToldNobody() throws InterruptedException {
        assertNoLetters(a, b, writer);
    }

    @Test
    void readersAreToldOfTheFirstWriterOnly() throws InterruptedException {
        a.read(7);
        b.read(8);
        writer.queue(1);
        assertThat(letters(a)).containsExactly(demand(7));
        assertThat(letters(b)).containsExactly(demand(8));
        contender().queue(1);
        assertToldNobody();
    }

    /** A message may be lost: who stands first repeats it by his polls. The others don't. */
    @Test
    void pollByTheHeadOfTheQueueTellsReadersAgain() throws InterruptedException {
        Contender second = contender();
        a.read(7);
        b.read(8);
        writer.queue(1);
        second.queue(1);
        letters(a);
        letters(b);
        second.queue(1);
        assertToldNobody();
        writer.queue(1);
        assertThat(letters(a)).containsExactly(demand(7));
        assertThat(letters(b)).containsExactly(demand(8));
        assertNoLetters(second);
    }

    /** An owner is told once: his renewals tell him, too. */
    @Test
    void pollByTheHeadOfTheQueueTellsNoOwner() throws InterruptedException {
        writer.own(7);
        a.queueToRead(1);
        assertThat(letters(writer)).containsExactly(demand(7));
        a.queueToRead(1);
        b.queueToRead(1);
        b.queueToRead(1);
        assertToldNobody();
    }

    @Test
    void readerThatJoinsTellsNobody() throws InterruptedException {
        a.read(7);
        b.read(8);
        b.read(8);
        contender().request(1).reading().once().send();
        assertToldNobody();
    }

    /** Who doesn't wait asks whether somebody is inside. */
    @Test
    void refusedWriterAsksAllReaders() throws InterruptedException {
        a.read(7);
        b.read(8);
        assertThat(writer.request(1).once().send().status()).isEqualTo(Status.BUSY);
        assertAsked(a, 7, writer, 1);
        assertAsked(b, 8, writer, 1);
        writer.request(1).once().send();
        assertToldNobody();
    }

    /** Readers don't refuse each other: a writer that waits does, and may be about to leave. */
    @Test
    void refusedReaderAsksTheWriterInFront() throws InterruptedException {
        a.read(7);
        writer.queue(1);
        letters(a);
        assertThat(b.request(5).reading().once().send().asked()).isTrue();
        assertAsked(writer, 1, b, 5);
        assertToldNobody();
    }

    /** A release of its own session may be on its way. */
    @Test
    void refusedReaderAsksItsOwnSession() throws InterruptedException {
        a.read(7);
        b.read(8);
        assertThat(a.request(9).reading().continuing(-1).once().send().asked()).isTrue();
        assertAsked(a, 7, a, 9);
        assertToldNobody();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusedRequestAsksAnOwner(boolean reads) throws InterruptedException {
        writer.own(7);
        Request request = a.request(1).once();
        assertThat((reads ? request.reading() : request).send().status()).isEqualTo(Status.BUSY);
        assertAsked(writer, 7, a, 1);
    }

    /** A reader that wants to write waits for the others, and not for himself. */
    @Test
    void readerThatWantsToWriteTellsTheOthers() throws InterruptedException {
        a.read(7);
        b.read(8);
        a.request(9).continuing(7).send();
        assertNoLetters(a);
        assertThat(letters(b)).containsExactly(demand(8));
    }
}
