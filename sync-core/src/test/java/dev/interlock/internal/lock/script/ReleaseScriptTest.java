package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static dev.interlock.internal.lock.script.Contender.TICKET;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What release gives up, to whom the lock goes, and who is told. */
class ReleaseScriptTest extends LockScriptTest {

    @Test
    void releaseByTheOwnerFreesTheLockAndTellsPlainClients() throws InterruptedException {
        a.own(1);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(announcements()).containsExactly("0");
        assertThat(ttls()).containsOnlyKeys(keys.token(), a.mark());
        assertThat(ttl(a.mark())).isGreaterThan(LEASE + 120_000);
    }

    @Test
    void repeatOfAReleaseAnswersTheSameAndDoesNothing() throws InterruptedException {
        a.own(1);
        a.release(1);
        announcements();
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(announcements()).isEmpty();
        b.own(1);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertOwner(b, 1);
        assertThat(announcements()).isEmpty();
    }

    @Test
    void releaseOfALostTenureSaysSo() throws InterruptedException {
        a.own(1);
        expire();
        b.own(1);
        assertThat(a.release(1)).isEqualTo(NOTHING);
        assertThat(a.release(1)).isEqualTo(NOTHING);
        assertOwner(b, 1);
        assertThat(announcements()).isEmpty();
    }

    @Test
    void cancelTakesTheTicketOutOfTheQueue() throws InterruptedException {
        inLine(a, b, c);
        assertThat(b.release(1)).isEqualTo(TICKET);
        assertQueue(c.ticket(1));
        a.release(1);
        assertOwner(c, 1);
        assertNoLetters(b);
    }

    @Test
    void cancelOfTheLastTicketLeavesNoQueue() {
        inLine(a, b);
        assertThat(b.release(1)).isEqualTo(TICKET);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token(), b.mark());
    }

    /** The mark is a high-water mark: an old release doesn't lower it, and leaves it its TTL. */
    @Test
    void oldReleaseDoesNotLowerTheMark() {
        b.own(1);
        a.queue(5);
        a.release(5);
        a.release(2);
        a.release(4);
        assertThat(a.acquire(5).status()).isEqualTo(Answer.Status.OVER);
        assertThat(a.acquire(3).status()).isEqualTo(Answer.Status.OVER);
        assertThat(ttl(a.mark())).isGreaterThan(LEASE);
    }

    /** The lock goes to the waiter who came first, for as long as he asked for, with a greater token. */
    @Test
    void releaseHandsOverForTheLeaseOfTheWaiter() throws InterruptedException {
        long first = a.own(1).token();
        b.request(7).lease(90_000).send();
        c.request(3).lease(20_000).send();
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(list("HGETALL", keys.lock())).containsExactly(b.owner(7), "1");
        assertThat(ttl(keys.lock())).isBetween(60_000L, 90_000L);
        assertThat(tickets()).hasSize(1);
        assertThat(announcements()).as("nobody but the waiter is told").isEmpty();
        long token = number("GET", keys.token());
        assertThat(token).isGreaterThan(first);
        assertThat(b.request(7).lease(90_000).send().token()).isEqualTo(token);
        assertThat(letters(b)).singleElement().asString().startsWith("g 7 " + token + " ");
        assertThat(b.release(7, 90_000, 1)).isEqualTo(TENURE);
        assertThat(ttl(keys.lock())).isBetween(10_000L, 20_000L);
    }

    @Test
    void deadWaitersArePassedOver() throws InterruptedException {
        inLine(a, b, c, d);
        die(b);
        die(c);
        a.release(1);
        assertOwner(d, 1);
        assertNoLetters(b, c);
        assertNoQueue();
    }

    /** A waiter without any heartbeat is dead. */
    @Test
    void waitersWithoutAHeartbeatArePassedOver() {
        inLine(a, b);
        redis("DEL", keys.waiters());
        a.release(1);
        assertThat(owners()).isEmpty();
    }

    @Test
    void whereAllWaitersAreDeadTheLockIsFreeAndPlainClientsAreTold() throws InterruptedException {
        inLine(a, b);
        die(b);
        assertThat(a.release(1)).isEqualTo(TENURE);
        assertThat(announcements()).containsExactly("0");
        assertThat(ttls()).containsOnlyKeys(keys.token(), a.mark(), b.mark());
    }

    /** A grant says sequence, token, Redis' time, how many wait behind, and the name, whatever that is made of. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "two words",
                "a:b:1:2",
                "{curly}",
                "schlüssel-鍵-🔑",
                "%d%s%1",
                "tab\tand\nline",
                "g 1 2 3 4 name",
                "zero\0byte"
            })
    void lettersCarryAnyName(String suffix) throws InterruptedException {
        use(UUID.randomUUID() + suffix);
        a.own(3);
        b.queue(4);
        c.queue(5);
        assertDemand(a, 3);
        List<String> before = list("TIME");
        a.release(3);
        List<String> letters = letters(b);
        assertThat(letters).hasSize(1);
        assertThat(letters.get(0))
                .matches("(?s)g 4 [1-9]\\d* [1-9]\\d{15} 1 0 0 .*")
                .endsWith(" 1 0 0 " + keys.lock());
        List<String> fields = List.of(letters.get(0).split(" ", 8));
        assertThat(fields.get(2)).isEqualTo(redis("GET", keys.token()));
        assertThat(Long.parseLong(fields.get(3)))
                .isGreaterThanOrEqualTo(Long.parseLong(before.get(0)) * 1_000_000 + Long.parseLong(before.get(1)));
        assertThat(fields.get(7)).isEqualTo(keys.lock());
        b.release(4);
        assertThat(letters(c)).singleElement().asString().endsWith(" 0 0 0 " + keys.lock());
        c.release(5);
        assertThat(announcements()).containsExactly("0");
    }
}
