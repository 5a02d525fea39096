package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Contender.Signalled;
import dev.interlock.internal.lock.script.Contender.Status;
import dev.interlock.internal.lock.script.Contender.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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
        Contender a = contender();
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
        assertThat(letters(a)).isEmpty();
    }

    private static long millis() {
        List<String> time = list("TIME");
        return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
    }

    @Test
    void repeatOfARegistrationChangesNothing() throws InterruptedException {
        Contender a = contender();
        Waiting waiter = a.waiter("c", 7, 2_000).begin(1_000);
        Map<String, String> before = signals();
        announcements();
        assertThat(a.releaseAfter(1_000, waiter.plain())).isEqualTo(TENURE);
        assertThat(waiting()).containsExactly(waiter.member());
        assertThat(signals()).isEqualTo(before);
        assertThat(announcements()).isEmpty();
    }

    /** What a tenure had to do is done by its owner or by nobody. */
    @Test
    void lateDuplicatesLeaveNoGhost() throws InterruptedException {
        Contender a = contender();
        Contender b = contender();
        Waiting waiter = a.waiter("c", 7, 2_000).begin(1_000);
        Waiting other = b.waiter("c", 8, 2_000);
        b.own(1_000);
        b.signal(1_000, 1, "c", other.plain(), "sc");
        assertThat(waiting()).containsExactly(other.member());
        b.releaseAfter(1_000, 1, other.plain(), "sc", "sc");
        assertThat(owners()).containsExactly(a.owner(2_001));
        assertThat(tickets()).containsExactly(other.ticket(2_001));
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals());

        assertThat(a.releaseAfter(1_000, waiter.plain())).isEqualTo(TENURE);
        assertThat(b.releaseAfter(1_000, 1, other.plain(), "sc", "sc")).isEqualTo(TENURE);
        assertThat(b.signal(1_000, 1, "c", other.plain(), "sc")).isEqualTo(NOT_THE_OWNER);
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals());
        assertThat(tickets()).containsExactly(other.ticket(2_001));
    }

    @Test
    void onlyTheOwnerSignalsOrHasAWaiterWait() {
        Contender a = contender();
        Contender b = contender();
        Waiting waiter = a.waiter("c", 7, 2_000).begin(1_000);
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
        Contender a = contender();
        Contender b = contender();
        Waiting first = a.waiter("c", 1, 2_000).begin(1_000);
        Waiting second = a.waiter("d", 2, 4_000).begin(3_000);
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
        Contender a = contender();
        List<Waiting> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(a.waiter("c", i, 2_000 + i).begin(1_000 + i));
        }
        Contender b = contender();
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
        Contender a = contender();
        Contender b = contender();
        Waiting first = a.waiter("c", 1, 2_000).begin(1_000);
        Waiting second = a.waiter("c", 2, 4_000).begin(3_000);
        b.own(1_000);
        b.signal(1_000, 1, "c", "sd", "sc");
        assertThat(b.request(2_000).continuing(1_000).send().status()).isEqualTo(Status.GRANTED);
        assertThat(b.signal(1_000, 3, "c", "sc")).isEqualTo(NOT_THE_OWNER);
        assertThat(waiting()).containsExactly(second.member());
        assertThat(b.signal(2_000, 1, "c", "sc").count()).isZero();
        assertThat(tickets()).containsExactly(first.ticket(4_001));
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals());
    }

    @Test
    void operationsAreDoneInTheirOrder() {
        Contender a = contender();
        Waiting before = a.waiter("c", 1, 2_000);
        Waiting after = a.waiter("c", 2, 3_000);
        a.own(1_000);
        a.releaseAfter(1_000, before.fair(), "sc", after.fair());
        assertThat(waiting()).containsExactly(after.member());
        assertThat(owners()).containsExactly(a.owner(2_001));
    }

    // ---- who is signalled

    @Test
    void signalWithoutWaitersIsForgotten() throws InterruptedException {
        Contender a = contender();
        Contender b = contender();
        b.own(1_000);
        assertThat(b.signal(1_000, 1, "c", "sc", "ac", "*")).isEqualTo(new Signalled(true, false, false, 0));
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.token());
        b.releaseAfter(1_000, 4, "sc", "*");
        assertThat(ttls()).containsOnlyKeys(keys.token(), b.mark());
        assertThat(announcements()).containsExactly("0");
        Waiting waiter = a.waiter("c", 7, 2_000).begin(1_000);
        assertThat(waiting()).containsExactly(waiter.member());
    }

    /** The oldest is who began to wait first, whatever its session, and the order in which Redis heard of them. */
    @Test
    void signalGoesToTheOldest() throws InterruptedException {
        Contender a = contender();
        Contender b = contender();
        Contender c = contender();
        Waiting second = a.waiter("c", 20, 2_000).begin(1_000);
        Waiting first = b.waiter("c", 9, 5_000).begin(1_000);
        Waiting third = c.waiter("c", 100, 2_000).begin(1_000);
        Contender signaller = contender();
        for (Waiting expected : List.of(first, second, third)) {
            signaller.own(next());
            signaller.releaseAfter(last, "sc");
            assertThat(owners()).containsExactly(expected.by().owner(expected.number() + 1));
            assertThat(waiting()).doesNotContain(expected.member());
            expected.by().releaseOf(expected, expected.number() + 1);
        }
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals());
    }

    @Test
    void conditionsAreIndependent() {
        Contender a = contender();
        List<Waiting> waiters = new ArrayList<>();
        for (String condition : List.of("c", "c1", "c;", "C", "cc", "%d", "*", "zero\0byte")) {
            waiters.add(a.waiter(condition, 7, next() + 500).begin(last));
        }
        Contender b = contender();
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
        Contender a = contender();
        Contender b = contender();
        Waiting second = a.waiter("c", 20, 2_000);
        Waiting fourth = a.waiter("c", 40, 2_500);
        Waiting other = a.waiter("d", 1, 2_700);
        a.own(1_000);
        a.releaseAfter(1_000, second.fair(), fourth.fair(), other.fair());
        Waiting first = b.waiter("c", 10, 2_000);
        Waiting third = b.waiter("c", 30, 2_500);
        b.own(1_000);
        b.releaseAfter(1_000, first.fair(), third.fair());
        Contender signaller = contender();
        signaller.own(1_000);
        assertThat(signaller.signal(1_000, 1, "c", "ac")).isEqualTo(new Signalled(true, true, true, 0));
        assertThat(tickets())
                .containsExactly(first.ticket(2_501), second.ticket(2_701), third.ticket(2_502), fourth.ticket(2_702));
        assertThat(waiting()).containsExactly(other.member());
    }

    @Test
    void starSignalsAllOfAllConditions() {
        Contender a = contender();
        Waiting first = a.waiter("d", 10, 2_000);
        Waiting second = a.waiter("c", 20, 3_000);
        Waiting third = a.waiter("c", 10, 4_000);
        a.own(1_000);
        a.releaseAfter(1_000, first.fair(), second.fair(), third.fair());
        Contender signaller = contender();
        signaller.own(1_000);
        signaller.releaseAfter(1_000, "*");
        assertThat(owners()).containsExactly(a.owner(4_001));
        assertThat(tickets()).containsExactly(second.ticket(4_002), first.ticket(4_003));
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals());
    }

    @Test
    void waitersOfDeadSessionsArePassedOver() throws InterruptedException {
        Contender dead = contender();
        Contender a = contender();
        Contender signaller = contender();
        dead.waiter("c", 1, 2_000).begin(1_000);
        dead.waiter("c", 2, 4_000).begin(3_000);
        Waiting living = a.waiter("c", 3, 2_000).begin(1_000);
        Waiting next = a.waiter("c", 4, 4_000).begin(3_000);
        Waiting late = dead.waiter("c", 5, 6_000).begin(5_000);
        fallSilent(dead);
        signaller.own(1_000);
        assertThat(signaller.signal(1_000, 1, "c", "sc")).isEqualTo(new Signalled(true, true, true, 2));
        assertThat(tickets()).containsExactly(living.ticket(4_001));
        assertThat(waiting()).containsExactly(next.member(), late.member());
        assertThat(signaller.signal(1_000, 2, "c", "ac").count()).isZero();
        assertThat(tickets()).hasSize(1);
        assertThat(letters(dead)).isEmpty();
        assertThat(ttls()).doesNotContainKeys(keys.conditions(), keys.signals());
    }

    @Test
    void signalToDeadSessionsOnlyIsForgotten() throws InterruptedException {
        Contender dead = contender();
        Contender signaller = contender();
        dead.waiter("c", 1, 2_000).begin(1_000);
        fallSilent(dead);
        announcements();
        signaller.own(1_000);
        signaller.releaseAfter(1_000, "sc");
        assertThat(announcements()).containsExactly("0");
        assertThat(ttls()).containsOnlyKeys(keys.token(), dead.mark(), signaller.mark());
    }

    // ---- what the signalled get, and what they are told

    /** One release, one message: it says which waiter has the lock. */
    @Test
    void signalledWaiterIsGrantedByTheSameRelease() throws InterruptedException {
        Contender a = contender();
        Contender b = contender();
        Contender signaller = contender();
        Waiting first = a.waiter("c", 1, 2_000).begin(1_000);
        Waiting second = b.waiter("c", 2, 5_000).begin(1_000);
        announcements();
        signaller.own(1_000);
        signaller.releaseAfter(1_000, "sc");
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
        assertThat(letters(signaller)).isEmpty();
        assertThat(b.releaseOf(second, 5_001)).isEqualTo(TENURE);
    }

    /** Each session hears of all of its waiters at once, but for the one with the lock. */
    @Test
    void othersAreToldOncePerSession() throws InterruptedException {
        Contender a = contender();
        Contender b = contender();
        Contender signaller = contender();
        Waiting first = a.waiter("c", 10, 2_000);
        Waiting third = a.waiter("c", 30, 3_000);
        Waiting fourth = a.waiter("d", 10, 4_000);
        a.own(1_000);
        a.releaseAfter(1_000, third.fair(), first.fair(), fourth.fair());
        Waiting second = b.waiter("c", 20, 2_000).begin(1_000);
        signaller.own(1_000);
        signaller.releaseAfter(1_000, "sc", "ac", "sd");
        assertThat(tickets()).containsExactly(second.ticket(2_001), third.ticket(4_002), fourth.ticket(4_003));
        List<String> letters = letters(a);
        assertThat(letters).hasSize(2);
        assertThat(letters.get(0)).matches("g 4001 \\d+ \\d{16} 1 0 2000 " + keys.lock());
        assertThat(letters.get(1)).isEqualTo("s 4 3000 4002 4000 4003 " + keys.lock());
        assertThat(letters(b)).containsExactly("s 2 2000 2001 " + keys.lock());
        assertThat(first.by().asks(first).sequence())
                .as("it is none in the queue any more")
                .isZero();
    }

    @Test
    void signalsSentAheadTellAtOnce() throws InterruptedException {
        Contender a = contender();
        Contender signaller = contender();
        a.waiter("c", 10, 2_000).begin(1_000);
        a.waiter("c", 20, 4_000).begin(3_000);
        signaller.own(1_000);
        signaller.signal(1_000, 1, "", "sc", "sc");
        assertThat(letters(a)).containsExactly("s 4 2000 4001 4000 0 " + keys.lock());
        signaller.release(1_000);
        assertThat(letters(a)).singleElement().asString().startsWith("g 4001 ").endsWith(" 0 0 2000 " + keys.lock());
    }

    /** Who gets the lock is told that conditions have waiters, whichever way he gets it. */
    @Test
    void ownersHearThatConditionsHaveWaiters() throws InterruptedException {
        Contender a = contender();
        Contender b = contender();
        a.waiter("c", 10, 2_000).begin(1_000);
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "two words",
                " blanks at both ends ",
                "a:b:1:2",
                "{curly}",
                "schlüssel-鍵-🔑",
                "100%",
                "%d%s%1",
                "tab\tand\nline",
                "s 2 1 2 name",
                "zero\0byte"
            })
    void lettersCarryAnyName(String suffix) throws InterruptedException {
        use(UUID.randomUUID() + suffix);
        Contender a = contender();
        Contender b = contender();
        a.waiter("c", 10, 2_000).begin(1_000);
        b.waiter("c", 20, 2_000).begin(1_000);
        Contender signaller = contender();
        signaller.own(1_000);
        signaller.releaseAfter(1_000, "ac");
        assertThat(letters(a)).singleElement().asString().endsWith(" 1 0 2000 " + keys.lock());
        assertThat(letters(b)).containsExactly("s 2 2000 2001 " + keys.lock());
    }

    /** As many as one likes are registered by one release, and signalled by one operation. */
    @Test
    void thousandWaitersAreSignalledAtOnce() throws InterruptedException {
        Contender a = contender();
        Contender signaller = contender();
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
        Contender a = contender();
        Contender b = contender();
        a.waiter("c", 10, 2_000).begin(1_000);
        b.waiter("d", 10, 2_000).begin(1_000);
        for (String key : List.of(keys.conditions(), keys.signals())) {
            redis("PEXPIRE", key, "5000");
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
        assertThat(ttls())
                .containsOnlyKeys(keys.lock(), keys.token(), keys.queue(), keys.waiters(), a.mark(), b.mark());
        assertThat(ttls().values()).allSatisfy(ttl -> assertThat(ttl).isPositive());
    }

    /** The cheap ways in and out know nothing of conditions. */
    @Test
    void takeAndDropStandAsideWhileAnybodyWaits() {
        Contender a = contender();
        Contender b = contender();
        a.waiter("c", 10, 2_000).begin(1_000);
        assertThat(b.take(1_000)).isZero();
        assertThat(owners()).isEmpty();
        assertThat(b.own(1_000).behind()).isEqualTo(2);
        assertThat(b.drop(1_000)).isFalse();
        assertThat(owners()).containsExactly(b.owner(1_000));
        b.signal(1_000, 1, "", "sc");
        assertThat(b.drop(1_000)).as("the signalled one waits in the queue").isFalse();
        b.release(1_000);
        assertThat(owners()).containsExactly(a.owner(2_001));
        assertThat(a.drop(2_001)).isTrue();
        assertThat(b.take(2_000)).isPositive();
        assertThat(b.drop(2_000)).isTrue();
    }

    /** Where Redis is full, who has the lock can still give it up, and do what was to be done with that. */
    @Test
    void fullRedisLetsOwnersFinish() {
        Contender a = contender();
        Contender b = contender();
        a.waiter("c", 10, 2_000).begin(1_000);
        Waiting next = b.waiter("c", 20, 2_000);
        b.own(1_000);
        redis("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThat(b.releaseAfter(1_000, "sc", next.plain())).isEqualTo(TENURE);
            assertThat(owners()).containsExactly(a.owner(2_001));
            assertThat(waiting()).containsExactly(next.member());
        } finally {
            redis("CONFIG", "SET", "maxmemory", "0");
        }
    }
}
