package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What acquire answers and leaves behind, by the state in which it finds the lock. */
class AcquireScriptTest extends LockScriptTest {

    @Test
    void freeLockIsGrantedForTheWholeLease() {
        Answer answer = a.acquire(1);
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.ttlMillis()).isEqualTo(LEASE);
        assertThat(answer.behind()).isZero();
        assertThat(answer.token()).isPositive();
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(1), "1");
        assertThat(ttl(keys.lock())).isBetween(LEASE - 10_000, LEASE);
        assertThat(redis("GET", keys.token())).isEqualTo(Long.toString(answer.token()));
    }

    @Test
    void repeatOfAGrantedRequestChangesNothingAndReadsTheTtlAfresh() {
        Answer first = a.own(1);
        redis("PEXPIRE", keys.lock(), "9000");
        Answer repeat = a.own(1);
        assertThat(repeat.token()).isEqualTo(first.token());
        assertThat(repeat.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(repeat.behind()).isZero();
        assertThat(ttl(keys.lock())).isBetween(1L, 9_000L);
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(1), "1");
    }

    @Test
    void takenLockQueuesTheRequestAndTellsTheTtlOfTheHolder() {
        a.own(1);
        redis("PEXPIRE", keys.lock(), "9000");
        long before = redisMicros();
        Answer answer = b.acquire(1);
        long after = redisMicros();
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        assertThat(answer.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(answer.foreign()).isFalse();
        assertThat(answer.micros()).isBetween(before, after);
        assertQueue(b.ticket(1));
        assertThat(redis("GET", b.mark())).isEqualTo("1:0");
        assertThat(number("ZSCORE", keys.waiters(), b.id)).isBetween(before / 1000, after / 1000 + 10_000);
        assertOwner(a, 1);
    }

    /** Redis may evict one of the keys of those who wait, or read. */
    @Test
    void aKeyThatWasEvictedExpiresAgain() {
        a.own(1);
        b.queue(1);
        redis("DEL", keys.waiters());
        c.queue(1);
        assertThat(ttl(keys.waiters())).isPositive();
        redis("DEL", keys.waiters());
        assertThat(d.request(1).reading().send().status()).isEqualTo(Status.QUEUED);
        assertThat(ttl(keys.waiters())).isPositive();
    }

    @Test
    void leasesOfReadersThatWereEvictedExpireAgain() {
        a.read(1);
        redis("DEL", keys.readers());
        b.request(1).reading().lease(1_000).send();
        assertThat(ttl(keys.readers())).isPositive();
        assertThat(ttl(keys.lock())).as("of the other reader").isGreaterThan(LEASE / 2);
        a.release(a.request(1).reading(), 1);
    }

    @Test
    void repeatOfAQueuedRequestRenewsTheHeartbeatAndEveryTtl() {
        inLine(a, b);
        die(b);
        for (String key : List.of(keys.queue(), keys.waiters(), b.mark())) {
            redis("PEXPIRE", key, "9000");
        }
        b.queue(1);
        assertThat(number("ZSCORE", keys.waiters(), b.id)).isGreaterThan(redisMicros() / 1000);
        assertThat(ttl(keys.queue())).isGreaterThan(9_000);
        assertThat(ttl(keys.waiters())).isGreaterThan(9_000);
        assertThat(ttl(b.mark())).isGreaterThan(LEASE);
    }

    @Test
    void takenLockIsBusyForARequestThatDoesNotQueue() {
        a.own(1);
        redis("PEXPIRE", keys.lock(), "9000");
        Answer answer = b.request(1).once().send();
        assertThat(answer.status()).isEqualTo(Status.BUSY);
        assertThat(answer.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(answer.foreign()).isFalse();
        assertThat(tickets()).isEmpty();
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), b.mark());
    }

    @Test
    void requestThatDoesNotQueuePassesNoLiveWaiter() throws InterruptedException {
        inLine(a, b);
        expire();
        assertThat(c.request(1).once().send().status()).isEqualTo(Status.BUSY);
        assertOwner(b, 1);
        assertThat(letters(b))
                .satisfiesExactly(
                        grant -> assertThat(grant).startsWith("g 1 "),
                        question -> assertThat(question).isEqualTo("i 1 1 " + c.id + " " + keys.lock()));
        assertNoLetters(c);
    }

    /** What comes after the release of its sequence is refused, and changes nothing. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lateDuplicateOfAReleasedRequestIsRefused(boolean once) {
        Request request = once ? a.request(1).once() : a.request(1);
        assertThat(request.send().status()).isEqualTo(Status.GRANTED);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertOver(request.send());
        assertThat(owners()).isEmpty();
        assertThat(tickets()).isEmpty();
    }

    @Test
    void requestThatHadQueuedIsNotGrantedAgainAfterItsTenure() {
        inLine(b, a);
        b.release(1);
        a.own(1);
        expire();
        assertOver(a.acquire(1));
        assertThat(owners()).isEmpty();
    }

    /**
     * A lock that was simply free leaves no mark, for the sake of speed. So a duplicate that comes after the end of the
     * lease is granted anew, like a new request; the session, which doesn't want it any more, gives it back for good.
     */
    @Test
    void requestThatHadNotQueuedMayBeGrantedAgainAfterItsTenureAndIsGivenBack() {
        long first = a.own(1).token();
        expire();
        assertThat(a.own(1).token()).isGreaterThan(first);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(owners()).isEmpty();
        assertOver(a.acquire(1));
    }

    /** Requests of one session can overtake each other; the later sequence ends the earlier one even so. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void requestThatComesAfterALaterOneIsRefused(boolean waitersBehind) {
        a.own(2);
        if (waitersBehind) {
            b.queue(1);
        }
        assertOver(a.acquire(1));
        assertOver(a.request(1).once().send());
        assertOver(a.request(1).continuing(2).send());
        assertOwner(a, 2);
        assertThat(tickets()).isEqualTo(waitersBehind ? List.of(b.ticket(1)) : List.of());
        assertThat(a.own(2).behind()).isEqualTo(waitersBehind ? 1 : 0);
    }

    /** A lock whose holder's lease is over goes to the head of the queue when he asks. */
    @Test
    void pollOfTheHeadGrantsItAnExpiredLock() throws InterruptedException {
        long first = a.own(1).token();
        b.queue(1);
        c.queue(1);
        expire();
        Answer answer = b.acquire(1);
        assertThat(answer.token()).isGreaterThan(first);
        assertThat(answer.ttlMillis()).isBetween(LEASE - 10_000, LEASE);
        assertThat(answer.behind()).isEqualTo(1);
        assertThat(letters(b)).as("who learns it from the reply gets no letter").isEmpty();
    }

    /** Whoever polls hands an expired lock over, be it to another. */
    @Test
    void pollOfAnotherWaiterGrantsAnExpiredLockToTheHead() throws InterruptedException {
        a.own(1);
        b.request(1).lease(20_000).send();
        c.queue(1);
        expire();
        Answer answer = c.acquire(1);
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        assertThat(answer.ttlMillis()).isBetween(10_000L, 20_000L);
        assertOwner(b, 1);
        assertGranted(b, 1);
        assertNoLetters(c);
    }

    /** The owner hears of the first who waits, and of nobody twice. */
    @Test
    void ownerIsToldThatItIsWaitedForOnce() throws InterruptedException {
        a.own(7);
        b.queue(1);
        assertDemand(a, 7);
        b.queue(1);
        assertNoLetters(a);
        c.queue(1);
        assertNoLetters(a);
    }

    /** Of everybody who is refused, even if others wait: these may be about to leave. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusedRequestAsksTheOwner(boolean isAwaited) throws InterruptedException {
        a.own(7);
        if (isAwaited) {
            c.queue(1);
            letters(a);
        }
        assertThat(b.request(5).once().send().asked()).isTrue();
        assertAsked(a, 7, b, 5);
        b.request(5).once().send();
        assertNoLetters(a);
    }

    /** What a refused request has made of a ticket may be withdrawn, and that be on its way. */
    @Test
    void refusedRequestAsksTheWaiterThatItGrantsTheLock() throws InterruptedException {
        a.own(7);
        b.queue(3);
        c.queue(1);
        letters(a);
        Answer refused = a.request(8).once().send();
        assertThat(refused.status()).isEqualTo(Status.BUSY);
        assertThat(refused.asked()).isTrue();
        assertOwner(b, 3);
        assertThat(letters(b))
                .satisfiesExactly(
                        grant -> assertThat(grant).startsWith("g 3 "),
                        question -> assertThat(question).isEqualTo("i 3 8 " + a.id + " " + keys.lock()));
        assertNoLetters(a, c);
        b.release(3);
        letters(c);
        assertThat(a.request(9).once().send().asked()).isTrue();
        assertAsked(c, 1, a, 9);
    }

    /** Sequences are compared as numbers, of any size that Lua holds exactly. */
    @Test
    void sequencesMayBeLarge() throws InterruptedException {
        a.own(9);
        a.release(9);
        a.own(10);
        b.queue((1L << 31) + 1);
        assertDemand(a, 10);
        a.release(10);
        assertGranted(b, 2_147_483_649L);
        b.release((1L << 31) + 1);
        long largest = (1L << 53) - 1;
        b.own(largest - 1);
        b.own(largest);
        assertThat(owners()).containsExactly(b.id + ":9007199254740991");
        contender().queue(1);
        assertDemand(b, 9_007_199_254_740_991L);
        assertThat(b.renew(largest).owned()).isTrue();
        assertThat(b.release(largest)).isEqualTo(TENURE);
        assertOver(b.acquire(largest));
        assertOver(b.acquire(largest - 1));
    }

    private void assertOver(Answer answer) {
        assertThat(answer.status()).isEqualTo(Status.OVER);
        assertThat(answer.micros()).isPositive();
        assertThat(answer.third()).isZero();
    }

    private static long redisMicros() {
        List<String> time = list("TIME");
        return TimeUnit.SECONDS.toMicros(Long.parseLong(time.get(0))) + Long.parseLong(time.get(1));
    }
}
