package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender.Signalled;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a tenure does with the conditions of its lock: who waits, who is signalled, what he gets and who tells him. */
class ConditionScriptTest extends LockScriptTest {
    private static final Signalled NOT_THE_OWNER = new Signalled(false, false, false, 0);

    private Map<String, String> signals() {
        List<String> fields = list("HGETALL", keys.signals());
        return IntStream.range(0, fields.size() / 2)
                .boxed()
                .collect(Collectors.toMap(i -> fields.get(2 * i), i -> fields.get(2 * i + 1)));
    }

    // ---- registration

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void releaseHasAWaiterWait(boolean isFair) throws InterruptedException {
        Waiting waiter = a.waiter("c", 7, 2_000);
        long token = a.own(1_000).token();
        long before = millis();
        assertThat(a.releaseAfter(1_000, isFair ? waiter.fair() : waiter.plain()))
                .isEqualTo(TENURE);
        assertThat(owners()).isEmpty();
        assertThat(announcements()).containsExactly("0");
        assertThat(list("ZRANGE", keys.conditions(), "0", "-1", "WITHSCORES")).containsExactly(waiter.member(), "0");
        assertThat(signals()).containsOnlyKeys(a.id, "released").containsEntry("released", Long.toString(token));
        List<String> known = List.of(signals().getOrDefault(a.id, "").split(":"));
        assertThat(known.get(0)).isEqualTo("2000");
        assertThat(Long.parseLong(known.get(1))).isBetween(before + 3_000, before + 20_000);
        assertThat(known.get(2)).isEqualTo(isFair ? "1" : "0");
        assertThat(ttls()).containsOnlyKeys(keys.conditions(), keys.signals(), keys.token(), a.mark());
        assertThat(ttl(keys.conditions())).isBetween(20_000L, 30_000L);
        assertThat(ttl(keys.signals())).isBetween(20_000L, 30_000L);
        assertNoLetters(a);
    }

    private static long millis() {
        List<String> time = list("TIME");
        return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
    }

    /** What a tenure had to do is done by its owner or by nobody. */
    @Test
    void lateDuplicatesLeaveNoGhost() throws InterruptedException {
        Waiting waiter = a.waits("c", 7);
        Waiting other = b.waiter("c", 8, 2_000);
        b.own(1_000);
        b.signal(1_000, 1, "c", other.plain(), "sc");
        assertThat(waiting()).containsExactly(other.member());
        b.releaseAfter(1_000, 1, other.plain(), "sc", "sc");
        assertOwner(a, 2_001);
        assertQueue(other.ticket(2_001));
        assertNoWaiters();

        assertThat(a.releaseAfter(1_000, waiter.plain())).isEqualTo(TENURE);
        assertThat(b.releaseAfter(1_000, 1, other.plain(), "sc", "sc")).isEqualTo(TENURE);
        assertThat(b.signal(1_000, 1, "c", other.plain(), "sc")).isEqualTo(NOT_THE_OWNER);
        assertNoWaiters();
        assertQueue(other.ticket(2_001));
    }

    @Test
    void onlyTheOwnerSignalsOrHasAWaiterWait() {
        Waiting waiter = a.waits("c", 7);
        a.own(3_000);
        assertThat(b.signal(1_000, 1, "c", "ac")).isEqualTo(NOT_THE_OWNER);
        assertThat(b.releaseAfter(1_000, b.waiter("c", 8, 2_000).plain(), "ac")).isEqualTo(NOTHING);
        expire();
        assertThat(a.releaseAfter(3_000, "ac", "*")).isEqualTo(NOTHING);
        assertThat(waiting()).containsExactly(waiter.member());
        assertThat(tickets()).isEmpty();
    }

    /** A ticket has nothing to do with conditions, but for the signal that may have come with it. */
    @Test
    void cancelOfATicketSignalsAllOrNobody() {
        Waiting first = a.waits("c", 1);
        Waiting second = a.waits("d", 2, 4_000);
        a.own(5_000);
        b.queue(1_000);
        b.releaseAfter(1_000, "sc");
        assertThat(waiting()).hasSize(2);
        b.queue(2_000);
        b.releaseAfter(2_000, "*");
        assertThat(waiting()).isEmpty();
        assertThat(a.asks(first).sequence()).isZero();
        assertThat(a.asks(second).sequence()).isZero();
    }

    // ---- operations are numbered

    @Test
    void operationsAreDoneOnce() {
        List<Waiting> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(a.waiter("c", i, 2_000 + i).begin(1_000 + i));
        }
        b.own(1_000);
        assertThat(b.signal(1_000, 1, "c", "sc")).isEqualTo(new Signalled(true, true, true, 3));
        assertThat(list("HGETALL", keys.lock())).containsExactly(b.owner(1_000), "2");
        assertThat(b.signal(1_000, 1, "c", "sc")).isEqualTo(new Signalled(true, true, true, 3));
        assertThat(b.signal(1_000, 1, "c", "sc", "sc")).isEqualTo(new Signalled(true, true, true, 2));
        assertThat(b.signal(1_000, 1, "c", "sc")).as("a late one").isEqualTo(new Signalled(true, true, true, 2));
        assertThat(b.signal(1_000, 3, "c")).isEqualTo(new Signalled(true, true, true, 2));
        assertThat(list("HGETALL", keys.lock())).containsExactly(b.owner(1_000), "3");
        assertThat(b.releaseAfter(1_000, 2, "sc", "sc")).isEqualTo(TENURE);
        assertThat(waiting()).containsExactly(waiters.get(3).member());
        assertThat(b.signal(1_000, 3, "c", "sc")).isEqualTo(NOT_THE_OWNER);
        assertThat(waiting()).containsExactly(waiters.get(3).member());
    }

    /** A tenure that continues another one begins to count anew; what comes late from the other one is refused. */
    @Test
    void operationsAreCountedByTenure() {
        Waiting first = a.waits("c", 1);
        Waiting second = a.waits("c", 2, 4_000);
        b.own(1_000);
        b.signal(1_000, 1, "c", "sd", "sc");
        assertThat(b.request(2_000).continuing(1_000).send().status()).isEqualTo(Status.GRANTED);
        assertThat(b.signal(1_000, 3, "c", "sc")).isEqualTo(NOT_THE_OWNER);
        assertThat(waiting()).containsExactly(second.member());
        assertThat(b.signal(2_000, 1, "c", "sc").count()).isZero();
        assertQueue(first.ticket(4_001));
        assertNoWaiters();
    }

    // ---- who is signalled

    @Test
    void signalWithoutWaitersIsForgotten() throws InterruptedException {
        b.own(1_000);
        assertThat(b.signal(1_000, 1, "c", "sc", "ac", "*")).isEqualTo(new Signalled(true, false, false, 0));
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token());
        b.releaseAfter(1_000, 4, "sc", "*");
        assertThat(ttls()).containsOnlyKeys(keys.token(), b.mark());
        assertThat(announcements()).containsExactly("0");
        Waiting waiter = a.waits("c", 7);
        assertThat(waiting()).containsExactly(waiter.member());
    }

    /** The oldest is who began to wait first, whatever its session, and the order in which Redis heard of them. */
    @Test
    void signalGoesToTheOldest() throws InterruptedException {
        Waiting second = a.waits("c", 20);
        Waiting first = b.waiter("c", 9, 5_000).begin(1_000);
        Waiting third = c.waits("c", 100);
        for (Waiting expected : List.of(first, second, third)) {
            signaller.own(next());
            signaller.releaseAfter(last, "sc");
            assertThat(owners()).containsExactly(expected.by().owner(expected.number() + 1));
            assertThat(waiting()).doesNotContain(expected.member());
            expected.by().releaseOf(expected, expected.number() + 1);
        }
        assertNoWaiters();
    }

    @Test
    void conditionsAreIndependent() {
        List<Waiting> waiters = new ArrayList<>();
        for (String condition : List.of("c", "c1", "c;", "C", "cc", "%d", "*", "zero\0byte")) {
            waiters.add(a.waiter(condition, 7, next() + 500).begin(last));
        }
        b.own(1_000);
        int first = 1;
        for (Waiting waiter : waiters) {
            String condition = waiter.condition();
            assertThat(b.signal(1_000, first, condition).count()).isEqualTo(1);
            String signal = first % 2 == 0 ? "s" + condition : "a" + condition;
            assertThat(b.signal(1_000, first, condition, signal).count()).isZero();
            first++;
            assertThat(waiting()).hasSize(waiters.size() - first + 1).doesNotContain(waiter.member());
        }
    }

    @Test
    void signalAllTakesAllOfACondition() {
        Waiting second = a.waiter("c", 20, 2_000);
        Waiting fourth = a.waiter("c", 40, 2_500);
        Waiting other = a.waiter("d", 1, 2_700);
        a.beginAll(second, fourth, other);
        Waiting first = b.waiter("c", 10, 2_000);
        Waiting third = b.waiter("c", 30, 2_500);
        b.beginAll(first, third);
        signaller.own(1_000);
        assertThat(signaller.signal(1_000, 1, "c", "ac")).isEqualTo(new Signalled(true, true, true, 0));
        assertThat(tickets())
                .containsExactly(first.ticket(2_501), second.ticket(2_701), third.ticket(2_502), fourth.ticket(2_702));
        assertThat(waiting()).containsExactly(other.member());
    }

    @Test
    void starSignalsAllOfAllConditions() {
        Waiting first = a.waiter("d", 10, 2_000);
        Waiting second = a.waiter("c", 20, 3_000);
        Waiting third = a.waiter("c", 10, 4_000);
        a.beginAll(first, second, third);
        signaller.signals("*");
        assertOwner(a, 4_001);
        assertQueue(second.ticket(4_002), first.ticket(4_003));
        assertNoWaiters();
    }

    @Test
    void waitersOfDeadSessionsArePassedOver() throws InterruptedException {
        dead.waits("c", 1);
        dead.waits("c", 2, 4_000);
        Waiting living = a.waits("c", 3);
        Waiting next = a.waits("c", 4, 4_000);
        Waiting late = dead.waits("c", 5, 6_000);
        fallSilent(dead);
        signaller.own(1_000);
        assertThat(signaller.signal(1_000, 1, "c", "sc")).isEqualTo(new Signalled(true, true, true, 2));
        assertQueue(living.ticket(4_001));
        assertThat(waiting()).containsExactly(next.member(), late.member());
        assertThat(signaller.signal(1_000, 2, "c", "ac").count()).isZero();
        assertThat(tickets()).hasSize(1);
        assertNoLetters(dead);
        assertNoWaiters();
    }

    // ---- what the signalled get, and what they are told

    /** One release, one message: it says which waiter has the lock. */
    @Test
    void signalledWaiterIsGrantedByTheSameRelease() throws InterruptedException {
        Waiting first = a.waits("c", 1);
        Waiting second = b.waiter("c", 2, 5_000).begin(1_000);
        announcements();
        signaller.signals("sc");
        assertThat(announcements()).isEmpty();
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.owner(2_001), "1");
        assertThat(ttl(keys.lock())).isBetween(LEASE - 10_000, LEASE);
        String token = redis("GET", keys.token()).toString();
        assertThat(letters(a))
                .singleElement()
                .asString()
                .matches("g 2001 " + token + " \\d{16} 2 0 2000 " + keys.lock());
        assertThat(a.releaseOf(first, 2_001, "sc")).isEqualTo(TENURE);
        assertThat(letters(b)).singleElement().asString().matches("g 5001 \\d+ \\d{16} 0 0 5000 " + keys.lock());
        assertNoLetters(signaller);
        assertThat(b.releaseOf(second, 5_001)).isEqualTo(TENURE);
    }

    /** Each session hears of all of its waiters at once, but for the one with the lock. */
    @Test
    void othersAreToldOncePerSession() throws InterruptedException {
        Waiting first = a.waiter("c", 10, 2_000);
        Waiting third = a.waiter("c", 30, 3_000);
        Waiting fourth = a.waiter("d", 10, 4_000);
        a.beginAll(third, first, fourth);
        Waiting second = b.waits("c", 20);
        signaller.signals("sc", "ac", "sd");
        assertQueue(second.ticket(2_001), third.ticket(4_002), fourth.ticket(4_003));
        List<String> letters = letters(a);
        assertThat(letters).hasSize(2);
        assertThat(letters.get(0)).matches("g 4001 \\d+ \\d{16} 1 0 2000 " + keys.lock());
        assertThat(letters.get(1)).isEqualTo("s 4 3000 4002 4000 4003 " + keys.lock());
        assertSignalled(b, 2_000, 2_001);
        assertThat(first.by().asks(first).sequence())
                .as("it is none in the queue any more")
                .isZero();
    }

    /** Who gets the lock is told that conditions have waiters, whichever way he gets it. */
    @Test
    void ownersHearThatConditionsHaveWaiters() throws InterruptedException {
        a.waits("c", 10);
        assertThat(b.own(1_000).behind()).isEqualTo(2);
        assertThat(b.acquire(1_000).behind()).isEqualTo(2);
        assertThat(b.request(2_000).continuing(1_000).send().behind()).isEqualTo(2);
        a.queue(3_000);
        contender().queue(1_000);
        b.release(2_000);
        assertThat(letters(a)).singleElement().asString().matches("g 3000 \\d+ \\d{16} 3 0 0 " + keys.lock());
        assertThat(a.acquire(3_000).behind()).isEqualTo(3);
        expire();
        assertThat(a.releaseAfter(3_000)).isEqualTo(NOTHING);
    }

    // ---- names, numbers, and what is left

    /** As many as one likes are registered by one release, and signalled by one operation. */
    @Test
    void thousandWaitersAreSignalledAtOnce() throws InterruptedException {
        int count = 1_000;
        List<Waiting> waiters = IntStream.range(0, count)
                .mapToObj(i -> a.waiter("c", i, 2_000 + i))
                .toList();
        a.own(1_000);
        a.releaseAfter(1_000, waiters.stream().map(Waiting::fair).toArray(String[]::new));
        assertThat(waiting()).hasSize(count);
        signaller.own(1_000);
        assertThat(signaller.signal(1_000, 1, "c").count()).isEqualTo(count);
        assertThat(signaller.signal(1_000, 1, "c", "ac").count()).isZero();
        List<String> expected = IntStream.range(0, count)
                .mapToObj(i -> waiters.get(i).ticket(2_000 + count + i))
                .toList();
        assertThat(tickets()).containsExactlyElementsOf(expected);
        assertThat(letters(a)).singleElement().asString().startsWith("s 2000 2000 3000 2001 3001 ");
    }

    /** What is known of those who wait lives as long as any of them does. */
    @Test
    void everyKeyHasATtlAndTheLastWaiterLeavesNone() {
        a.waits("c", 10);
        b.waits("d", 10);
        for (String key : List.of(keys.conditions(), keys.signals())) {
            redis("PEXPIRE", key, "9000");
        }
        b.own(3_000);
        b.release(3_000);
        assertThat(ttl(keys.conditions())).as("a release prolongs it").isGreaterThan(20_000);
        assertThat(ttl(keys.signals())).isGreaterThan(20_000);
        b.own(4_000);
        b.signal(4_000, 1, "", "sc");
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
        assertThat(ttls()).containsKeys(keys.conditions(), keys.signals(), keys.queue(), keys.waiters());
        b.signal(4_000, 2, "", "sd");
        assertNoWaiters();
        assertThat(ttl(keys.signals())).as("their tickets stand in the queue").isGreaterThan(290_000);
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
    }

    /** The cheap ways in and out know nothing of conditions. */
    @Test
    void takeAndDropStandAsideWhileAnybodyWaits() {
        a.waits("c", 10);
        assertThat(b.take(1_000)).isZero();
        assertThat(owners()).isEmpty();
        assertThat(b.own(1_000).behind()).isEqualTo(2);
        assertThat(b.drop(1_000)).isFalse();
        assertOwner(b, 1_000);
        b.signal(1_000, 1, "", "sc");
        assertThat(b.drop(1_000)).as("the signalled one waits in the queue").isFalse();
        b.release(1_000);
        assertOwner(a, 2_001);
        assertThat(a.drop(2_001)).isTrue();
        assertThat(b.take(2_000)).isPositive();
        assertThat(b.drop(2_000)).isTrue();
    }
}
