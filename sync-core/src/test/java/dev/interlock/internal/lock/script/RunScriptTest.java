package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions with several tickets: how these stand, which of them are served on one tenure, and how they leave. */
class RunScriptTest extends LockScriptTest {

    /** The first of several takes a free lock, with the lease in its ticket; the others are its run. */
    @Test
    void freeLockIsGrantedToTheFirstOfSeveral() throws InterruptedException {
        Answer answer = a.requests(1L, 2L, 3L).granting(20_000).send();
        assertStands(answer, Status.GRANTED, 1, 3);
        assertThat(answer.behind()).isZero();
        assertThat(answer.ttlMillis()).isBetween(1L, 20_000L);
        assertOwner(a, 1);
        assertQueue(a.owner(2) + ":20000", a.owner(3) + ":20000");
        assertNoLetters(a);
    }

    @Test
    void ticketOfAnotherSessionEndsTheRun() throws InterruptedException {
        b.own(1);
        a.requests(1L, 2L).send();
        b.requests(2L).send();
        a.requests(1L, 2L, 3L).send();
        b.release(1);
        assertThat(lastOfRun(a)).isEqualTo(2);
        assertStands(a.requests(1L, 2L, 3L).send(), Status.GRANTED, 1, 2);
        assertThat(b.release(2)).isEqualTo(TICKET);
        assertStands(a.requests(2L, 3L).send(), Status.QUEUED, 1, 3);
    }

    /** A grant tells of so many tickets behind its own at most; a poll tells of more, once those are used. */
    @Test
    void runIsBounded() throws InterruptedException {
        b.own(1);
        a.requests(sequences(1, 50)).send();
        b.release(1);
        long last = lastOfRun(a);
        assertThat(last).isBetween(32L, 33L);
        assertStands(a.requests(sequences(1, 50)).send(), Status.GRANTED, 1, last);
        Request next = a.requests(sequences(12, 50)).using(sequences(2, 11));
        assertStands(next.send(), Status.QUEUED, 1, last + 10);
    }

    /** A tenure goes on while its session announces others, and has no use for a letter about them. */
    @Test
    void pollOfTheOwnerExtendsTheRunInOrder() throws InterruptedException {
        assertStands(a.requests(1L).send(), Status.GRANTED, 1, 0);
        assertStands(a.requests(2L, 3L).send(), Status.QUEUED, 1, 3);
        assertStands(a.requests(2L, 3L, 4L).send(), Status.QUEUED, 1, 4);
        assertNoLetters(a);
        b.requests(1L, 2L).send();
        assertThat(letters(a)).as("one command, one letter").containsExactly("d 1 " + keys.lock());
        assertStands(a.requests(2L, 3L, 4L, 5L).send(), Status.QUEUED, 1, 4);
        assertOwner(a, 1);
        assertThat(tickets())
                .containsExactly(a.ticket(2), a.ticket(3), a.ticket(4), b.ticket(1), b.ticket(2), a.ticket(5));
        assertThat(redis("GET", a.mark())).isEqualTo("5:0");
    }

    @Test
    void requestThatDoesNotWaitLeavesTheTenureAlone() throws InterruptedException {
        a.requests(1L, 2L).send();
        assertStands(a.requests(3L).once().send(), Status.BUSY, 1, 2);
        assertAsked(a, 1, a, 3);
        assertStands(b.requests(1L).once().send(), Status.BUSY, 0, 0);
        assertAsked(a, 1, b, 1);
        assertOwner(a, 1);
        assertQueue(a.ticket(2));
    }

    @Test
    void usedTicketsLeaveWithTheNextRequest() {
        a.requests(1L, 2L, 3L, 4L).send();
        b.requests(1L).send();
        Request next = a.requests(4L, 5L).using(2L, 3L);
        assertStands(next.send(), Status.QUEUED, 1, 4);
        assertQueue(a.ticket(4), b.ticket(1), a.ticket(5));
        assertStands(next.send(), Status.QUEUED, 1, 4);
        assertOver(a.requests(2L, 3L).send(), 2L, 3L);
        assertQueue(a.ticket(4), b.ticket(1), a.ticket(5));
        a.release(1);
        assertOwner(a, 4);
    }

    @Test
    void usedTicketsLeaveWithTheReleaseAndAreNotGranted() throws InterruptedException {
        a.requests(1L, 2L, 3L).send();
        b.requests(1L).send();
        assertThat(a.releaseWith(1, 2L, 3L)).isEqualTo(TENURE);
        assertOwner(b, 1);
        assertThat(redis("GET", a.mark())).isEqualTo("3:1");
        assertGranted(b, 1);
        assertThat(a.releaseWith(1, 2L, 3L)).as("once more").isEqualTo(TENURE);
        assertOwner(b, 1);
        assertOver(a.requests(1L, 2L, 3L).send(), 1L, 2L, 3L);
    }

    @Test
    void lastUsedTicketLeavesNoQueue() throws InterruptedException {
        a.requests(1L, 2L, 3L).send();
        assertStands(a.requests(1L, 3L).using(2L).send(), Status.GRANTED, 1, 3);
        assertThat(ttls()).containsKeys(keys.queue(), keys.waiters());
        assertStands(a.requests(1L).using(2L, 3L).send(), Status.GRANTED, 1, 0);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), a.mark());
        a.requests(4L, 5L).send();
        assertThat(a.releaseWith(1, 4L, 5L)).isEqualTo(TENURE);
        assertThat(announcements()).containsExactly("0");
        assertThat(ttls()).containsOnlyKeys(keys.token(), a.mark());
    }

    /**
     * Whatever has become of its tickets, a request that comes again changes nothing, and tells which of them are over.
     */
    @Test
    void lateDuplicateRevivesNothing() {
        b.own(1);
        Request late = a.requests(1L, 2L, 3L, 4L);
        late.send();
        assertThat(a.release(2)).isEqualTo(TICKET);
        assertStands(late.send(), Status.QUEUED, 0, 0, 2L);
        assertQueue(a.ticket(1), a.ticket(3), a.ticket(4));
        assertThat(a.release(4)).isEqualTo(TICKET);
        assertStands(late.send(), Status.QUEUED, 0, 0, 2L, 4L);
        b.release(1);
        assertStands(late.send(), Status.GRANTED, 1, 3, 2L, 4L);
        b.requests(2L).send();
        a.releaseWith(1, 3L);
        assertOver(late.send(), 1L, 2L, 3L, 4L);
        b.release(2);
        assertOver(late.send(), 1L, 2L, 3L, 4L);
        assertThat(owners()).isEmpty();
        assertThat(tickets()).isEmpty();
    }

    /** A cancel that overtakes its request ends all tickets up to its own; those after it stand, in order. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void requestThatComesAfterACancelStandsOnlyWithWhatIsBehindThat(long cancelled) {
        b.own(1);
        assertThat(a.release(cancelled)).isEqualTo(NOTHING);
        Answer answer = a.requests(1L, 2L, 3L).send();
        assertThat(answer.status()).isEqualTo(cancelled == 3 ? Status.OVER : Status.QUEUED);
        assertThat(answer.over()).containsExactly(sequences(1, cancelled));
        assertThat(tickets())
                .isEqualTo(Stream.of(sequences(cancelled + 1, 3)).map(a::ticket).toList());
        assertThat(redis("GET", a.mark())).isEqualTo("3:0");
    }

    @Test
    void allTicketsOfADeadSessionArePassedOver() throws InterruptedException {
        c.own(1);
        a.requests(1L, 2L, 3L).send();
        b.requests(1L, 2L).send();
        die(a);
        c.release(1);
        assertOwner(b, 1);
        assertQueue(b.ticket(2));
        assertNoLetters(a);
        assertThat(lastOfRun(b)).isEqualTo(2);
        assertStands(a.requests(1L, 2L, 3L, 4L).send(), Status.QUEUED, 0, 0, 1L, 2L, 3L);
        assertQueue(b.ticket(2), a.ticket(4));
    }

    private static Long[] sequences(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toArray(Long[]::new);
    }

    /** The end of the run in the one grant that a session was told of. */
    private static long lastOfRun(Contender receiver) throws InterruptedException {
        List<String> grants = letters(receiver).stream()
                .filter(letter -> letter.startsWith("g "))
                .toList();
        assertThat(grants).hasSize(1);
        return Long.parseLong(List.of(grants.get(0).split(" ", 7)).get(5));
    }

    private static void assertStands(Answer answer, Status status, long owner, long run, Long... over) {
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.owner()).as("owner").isEqualTo(owner);
        assertThat(answer.run()).as("last of the run").isEqualTo(run);
        assertThat(answer.over()).as("over").containsExactly(over);
    }

    private static void assertOver(Answer answer, Long... over) {
        assertThat(answer.status()).isEqualTo(Status.OVER);
        assertThat(answer.over()).containsExactly(over);
    }
}
