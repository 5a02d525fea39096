package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Contender.Stand;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What waiters of conditions learn and do by asking. */
class AwaitScriptTest extends LockScriptTest {
    // ---- how waiters stand

    @Test
    void questionTellsWhichWaitersAreSignalled() {
        Waiting first = a.waiter("c", 10, 2_000);
        Waiting second = a.waiter("c", 20, 3_000);
        Waiting third = a.waiter("d", 30, 4_000);
        Waiting stranger = a.waiter("d", 40, 5_000);
        a.beginAll(first, second, third);
        b.own(1_000);
        List<Waiting> all = List.of(third, stranger, second, first);
        assertThat(a.await(all, List.of(), List.of(), false)).containsExactly(WAITS, UNKNOWN, WAITS, WAITS);
        b.signal(1_000, 1, "", "sc", "sd");
        assertThat(a.await(all, List.of(), List.of(), false))
                .containsExactly(signalled(4_002), UNKNOWN, WAITS, signalled(4_001));
        assertThat(b.releaseAfter(1_000)).isEqualTo(TENURE);
        assertThat(a.asks(first))
                .as("it owns the lock, and is none in the queue")
                .isEqualTo(UNKNOWN);
        assertThat(a.asks(third)).isEqualTo(signalled(4_002));
    }

    /** The same number, of another session or for another place, is another waiter. */
    @Test
    void waitersAreKnownByTheirSession() {
        a.waits("c", 10);
        assertThat(b.asks(b.waiter("c", 10, 2_000))).isEqualTo(UNKNOWN);
        assertThat(a.asks(a.waiter("c", 11, 2_000))).isEqualTo(UNKNOWN);
        assertThat(waiting()).hasSize(1);
    }

    @Test
    void askingRenewsTheHeartbeatAndAllTtls() {
        Waiting waiter = a.waits("c", 10);
        fallSilent(a);
        redis("PEXPIRE", keys.conditions(), "9000");
        redis("PEXPIRE", keys.signals(), "9000");
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(ttl(keys.conditions())).isGreaterThan(20_000);
        assertThat(ttl(keys.signals())).isGreaterThan(20_000);
        b.signals("sc");
        assertThat(owners()).as("it is alive").containsExactly(a.owner(2_001));
    }

    /** A session that has tickets is kept alive by asking for its waiters too; one that has none gets nothing by it. */
    @Test
    void askingRenewsTheHeartbeatOfTickets() {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(ttls()).doesNotContainKeys(keys.waiters(), keys.queue());
        a.queue(3_000);
        die(a);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        b.release(1_000);
        assertOwner(a, 3_000);
    }

    /** After a loss of data nobody waits; whoever asks learns that, and goes on as if signalled. */
    @Test
    void waiterThatRedisHasForgottenIsUnknown() {
        Waiting waiter = a.waits("c", 10);
        redis("FLUSHALL");
        assertThat(a.asks(waiter)).isEqualTo(UNKNOWN);
        assertThat(a.leaves(waiter)).isEqualTo(UNKNOWN);
        assertThat(ttls()).isEmpty();
    }

    /** It is looked for from the back of the queue, many tickets at a time, while others are taken out. */
    @Test
    void ticketIsFoundBehindAndBeforeManyOthers() {
        List<Waiting> waiters = a.waitTogether("c", "c");
        b.own(1_000);
        b.signal(1_000, 1, "", "sc");
        owner.requests(LongStream.range(0, 499).mapToObj(i -> 1_000 * (i + 1)).toArray(Long[]::new))
                .send();
        b.signal(1_000, 2, "", "sc");
        assertThat(a.asks(waiters.get(0))).isEqualTo(signalled(3_001));
        assertThat(a.await(List.of(waiters.get(0)), List.of(), List.of(waiters.get(1)), false))
                .containsExactly(signalled(3_001));
        assertThat(tickets()).hasSize(500).last().isEqualTo(owner.ticket(499_000));
    }

    // ---- leaving

    @Test
    void waiterThatLeavesQueuesForTheLock() throws InterruptedException {
        List<Waiting> waiters = a.waitTogether("c", "c");
        b.own(1_000);
        assertThat(a.leaves(waiters.get(1))).isEqualTo(left(3_001));
        assertThat(waiting()).containsExactly(waiters.get(0).member());
        assertQueue(a.ticket(3_001) + ":-3000");
        assertSignalled(a, -3_000, 3_001);
        assertThat(letters(b)).as("the owner learns that somebody waits").containsExactly("d 1000 " + keys.lock());
        assertThat(a.leaves(waiters.get(1))).as("a repeat").isEqualTo(left(3_001));
        assertThat(tickets()).hasSize(1);
        assertNoLetters(a);
        b.releaseAfter(1_000, "sc");
        assertThat(letters(a))
                .anySatisfy(letter -> assertThat(letter).matches("g 3001 \\d+ \\d{16} 0 3002 -3000 " + keys.lock()))
                .contains("s 2 2000 3002 " + keys.lock())
                .hasSize(2);
        assertQueue(waiters.get(0).ticket(3_002));
    }

    /** Redis decides between signal and leave. */
    @Test
    void signalledWaiterCannotLeave() {
        Waiting first = a.waits("c", 10);
        Waiting second = b.waits("c", 20, 4_000);
        b.own(5_000);
        b.signal(5_000, 1, "", "sc");
        assertThat(a.leaves(first)).isEqualTo(signalled(2_001));
        assertThat(b.leaves(second)).as("it owns the lock").isEqualTo(left(0));
        assertQueue(first.ticket(2_001));
    }

    @Test
    void freeLockIsGrantedToAWaiterThatLeaves() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        assertThat(a.leaves(waiter)).isEqualTo(left(2_001));
        assertOwner(a, 2_001);
        assertThat(letters(a))
                .anySatisfy(letter -> assertThat(letter).matches("g 2001 \\d+ \\d{16} \\d 0 -2000 " + keys.lock()));
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals(), keys.queue(), keys.waiters());
        assertThat(a.releaseOf(waiter, 2_001)).isEqualTo(TENURE);
    }

    @Test
    void plainSessionThatStandsInTheQueueNeedsNoTicketToLeave() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        a.queue(3_000);
        assertThat(a.leaves(waiter)).isEqualTo(left(0));
        assertQueue(a.ticket(3_000));
        assertSignalled(a, -2_000, 0);
    }

    /** Who leaves before Redis has heard of him is unknown then, and waits once it has; so he has to come again. */
    @Test
    void leaveThatOvertakesItsRegistrationHasToBeRepeated() {
        Waiting waiter = a.waiter("c", 10, 2_000);
        a.own(1_000);
        assertThat(a.leaves(waiter)).isEqualTo(UNKNOWN);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token());
        assertThat(a.releaseAfter(1_000, waiter.plain())).isEqualTo(TENURE);
        assertThat(waiting()).containsExactly(waiter.member());
        assertThat(a.leaves(waiter)).isEqualTo(left(2_001));
        assertThat(a.releaseAfter(1_000, waiter.plain())).isEqualTo(TENURE);
        assertNoWaiters();
    }

    @ParameterizedTest
    @ValueSource(strings = {"two words", "a:b:1:2", "{curly}", "schlüssel-鍵-🔑", "100%", "%d%s%1", "zero\0byte"})
    void lettersCarryAnyName(String suffix) throws InterruptedException {
        use(UUID.randomUUID() + suffix);
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        assertThat(a.leaves(waiter)).isEqualTo(left(2_001));
        assertSignalled(a, -2_000, 2_001);
        assertDemand(b, 1_000);
    }

    @Test
    void thousandWaitersLeaveAtOnce() throws InterruptedException {
        List<Waiting> waiters = IntStream.range(0, 1_000)
                .mapToObj(i -> a.waiter("c", i, 2_000 + i))
                .toList();
        a.own(1_000);
        a.releaseAfter(1_000, waiters.stream().map(Waiting::fair).toArray(String[]::new));
        b.own(1_000);
        List<Stand> expected =
                IntStream.range(0, 1_000).mapToObj(i -> left(3_000 + i)).toList();
        assertThat(a.await(List.of(), waiters, List.of(), false)).containsExactlyElementsOf(expected);
        assertThat(a.await(List.of(), waiters, List.of(), false)).containsExactlyElementsOf(expected);
        assertThat(tickets()).hasSize(1_000);
        assertThat(letters(a)).singleElement().asString().startsWith("s 2000 -2000 3000 -2001 3001 ");
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
    }
}
