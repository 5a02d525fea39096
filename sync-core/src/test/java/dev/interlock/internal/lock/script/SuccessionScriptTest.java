package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How the requests of a session follow each other: the next one ends a tenure or continues it. One that continues a
 * tenure of a fair lock is granted before others with lower sequences.
 */
class SuccessionScriptTest extends LockScriptTest {

    @Test
    void nextRequestEndsTheTenureBeforeIt() {
        long first = a.own(1).token();
        assertThat(a.own(2).token()).isGreaterThan(first);
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(2), "1");
        assertThat(a.renew(1).owned()).isFalse();
        assertThat(a.acquire(1).status()).isEqualTo(Status.OVER);
    }

    @Test
    void nextRequestEndsTheTenureBeforeItInFavourOfTheHeadOfTheQueue() throws InterruptedException {
        inLine(a, b);
        a.queue(2);
        assertOwner(b, 1);
        assertQueue(a.ticket(2));
        assertThat(letters(b)).singleElement().asString().startsWith("g 1 ").endsWith(" 1 0 0 " + keys.lock());
    }

    @Test
    void requestThatContinuesATenureKeepsTheLockThoughOthersQueue() throws InterruptedException {
        long first = a.own(1).token();
        b.queue(1);
        letters(a);
        Answer answer = a.request(2).continuing(1).lease(20_000).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.token()).isGreaterThan(first);
        assertThat(answer.ttlMillis()).isBetween(10_000L, 20_000L);
        assertThat(answer.behind()).isEqualTo(1);
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(2), "1");
        assertQueue(b.ticket(1));
        Answer repeat = a.request(2).continuing(1).lease(20_000).send();
        assertThat(repeat.token()).isEqualTo(answer.token());
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertOwner(a, 2);
        assertNoLetters(a, b);
    }

    @Test
    void continuedGrantOfAQueuedRequestLeavesNoQueue() {
        inLine(b, a);
        assertThat(a.request(2).continuing(1).send().status()).isEqualTo(Status.QUEUED);
        b.release(1);
        assertOwner(a, 1);
        assertThat(a.request(2).continuing(1).send().status()).isEqualTo(Status.GRANTED);
        assertOwner(a, 2);
        assertNoQueue();
    }

    /** Any other tenure may be in use by a thread of a fair lock. Its session is told of it. */
    @Test
    void requestContinuesNoTenureButTheOneItNames() {
        a.own(2);
        b.queue(1);
        Answer answer = a.request(3).continuing(1).send();
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        assertThat(answer.owner()).isEqualTo(2);
        assertOwner(a, 2);
        assertQueue(b.ticket(1), a.ticket(3));
    }

    /** The lease of a request is for who gets a free lock at once; who has queued gets the one in his ticket. */
    @Test
    void ticketIsGrantedWithItsOwnLease() {
        Request first = a.requests(1L).granting(3_000);
        assertThat(first.send().ttlMillis()).isEqualTo(LEASE);
        b.requests(1L, 2L).granting(20_000).send();
        a.release(1, 3_000, 1);
        assertOwner(b, 1);
        assertThat(ttl(keys.lock())).isBetween(1L, 20_000L);
        Answer continued =
                b.requests(3L).continuing(1).lease(90_000).granting(3_000).send();
        assertThat(continued.ttlMillis()).isBetween(60_000L, 90_000L);
        b.release(3, 3_000, 1);
        assertOwner(b, 2);
        assertThat(ttl(keys.lock())).isBetween(1L, 20_000L);
    }

    /** A ticket served on a tenure that was lost meanwhile may be granted before Redis knows; nobody waits with it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void usedTicketThatIsGrantedIsGivenUpWithItsTenure(boolean othersWait) {
        a.requests(1L, 2L).send();
        b.requests(1L).send();
        expire();
        b.requests(1L).send();
        assertOwner(a, 2);
        if (!othersWait) {
            b.release(1);
        }
        assertThat(a.releaseWith(1, 2L)).as("it was lost").isEqualTo(NOTHING);
        assertThat(owners()).doesNotContain(a.owner(2));
        assertThat(tickets()).isEmpty();
    }

    /** The same if its use is told with a request; the lock goes on at once, even if nothing of the request stands. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void usedTicketThatIsGrantedIsGivenUpWithTheNextRequest(boolean isOver) throws InterruptedException {
        a.requests(1L, 2L).send();
        b.requests(1L).send();
        expire();
        b.requests(1L).send();
        assertOwner(a, 2);
        if (isOver) {
            a.release(3);
        }
        Answer answer = a.requests(3L).using(2L).send();
        assertThat(answer.status()).isEqualTo(isOver ? Status.OVER : Status.QUEUED);
        assertThat(answer.owner()).isZero();
        assertOwner(b, 1);
        assertThat(tickets()).isEqualTo(isOver ? List.of() : List.of(a.ticket(3)));
        assertGranted(b, 1);
    }

    /** A repeated release answers the same, though a tenure of a lower sequence has been dropped since. */
    @Test
    void dropLowersNoMarkOfARelease() {
        a.requests(5L, 7L).send();
        a.requests(8L).continuing(5).send();
        assertThat(a.release(8)).isEqualTo(TENURE);
        assertThat(a.drop(7)).isTrue();
        assertThat(a.release(8)).isEqualTo(TENURE);
        assertThat(redis("GET", a.mark())).isEqualTo("8:8");
    }
}
