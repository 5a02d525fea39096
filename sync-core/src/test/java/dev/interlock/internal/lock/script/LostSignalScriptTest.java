package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RTopic;
import org.redisson.client.codec.StringCodec;

/** No signal dies with those who should have given or taken it. */
class LostSignalScriptTest extends LockScriptTest {
    // ---- those that nobody waits with any more

    @Test
    void abandonedWaiterIsForgotten() throws InterruptedException {
        Waiting first = a.waits("c", 10);
        Waiting second = b.waits("c", 20);
        a.abandons(first);
        assertThat(waiting()).containsExactly(second.member());
        b.abandons(second);
        assertThat(ttls()).containsOnlyKeys(keys.token(), a.mark(), b.mark());
        assertNoLetters(a, b);
    }

    /** It was signalled: its ticket is given up, and the signal goes to all. */
    @Test
    void signalOfAnAbandonedWaiterGoesToAll() {
        Waiting first = a.waits("c", 10);
        Waiting second = b.waits("c", 20);
        Waiting third = b.waits("d", 30, 4_000);
        signaller.signalsAhead("sc");
        a.abandons(first);
        assertQueue(second.ticket(4_001));
        assertThat(b.asks(third)).isEqualTo(UNKNOWN);
        a.abandons(first);
        assertQueue(second.ticket(4_001));
    }

    /** It had left, so there was no signal; its ticket goes with it. */
    @Test
    void abandonedWaiterThatHadLeftHasNoSignal() {
        Waiting first = a.waits("c", 10);
        Waiting second = b.waits("c", 20);
        owner.own(1_000);
        assertThat(a.leaves(first)).isEqualTo(left(2_001));
        a.abandons(first);
        assertThat(tickets()).isEmpty();
        assertThat(waiting()).containsExactly(second.member());
    }

    @Test
    void lostSignalGoesToAll() throws InterruptedException {
        Waiting first = a.waits("c", 10);
        a.waits("d", 20, 4_000);
        owner.own(1_000);
        b.losesASignal();
        assertQueue(first.ticket(4_001));
        assertThat(letters(a)).containsExactly("s 4 2000 4001 4000 0 " + keys.lock());
        assertDemand(owner, 1_000);
        b.losesASignal();
        assertThat(tickets()).hasSize(1);
    }

    // ---- a free lock, and tenures that ended without a release

    /** Who asks hands a lock that was lost to the first who stands in the queue. */
    @Test
    void askingHandsAFreeLockOn() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        c.queue(1_000);
        expire();
        a.asks(waiter);
        assertOwner(c, 1_000);
        assertGranted(c, 1_000);
        assertQueue(waiter.ticket(2_001));
    }

    /** It may have had something to signal, of which nobody knows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tenureThatEndsWithoutItsReleaseSignalsAll(boolean isAwait) throws InterruptedException {
        Waiting first = a.waits("c", 10);
        Waiting second = b.waits("d", 20);
        c.request(1_000).lease(20).send();
        Awaitility.await().atMost(PATIENCE).until(() -> owners().isEmpty());
        letters(a);
        if (isAwait) {
            assertThat(a.asks(first)).as("so it was before").isEqualTo(WAITS);
            assertOwner(a, 2_001);
            assertQueue(second.ticket(2_001));
        } else {
            assertThat(c.own(2_000).behind()).isEqualTo(1);
            assertQueue(first.ticket(2_001), second.ticket(2_001));
            assertSignalled(a, 2_000, 2_001);
        }
        assertSignalled(b, 2_000, 2_001);
        assertNoWaiters();
    }

    /** While plain clients have their turn, who is signalled is told so, and that he has to come back. */
    @Test
    void plainClientsHaveTheirTurnBeforeTheSignalled() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        redis("HSET", keys.turns(), "count", "15");
        RTopic topic = redisson.getTopic(keys.channel(), StringCodec.INSTANCE);
        int listener = topic.addListener(String.class, (channel, text) -> {});
        b.releaseAfter(1_000, "sc");
        topic.removeListener(listener);
        assertThat(owners()).isEmpty();
        assertQueue(waiter.ticket(2_001));
        assertThat(letters(a)).containsExactly("p 10 " + keys.lock(), "s 2 2000 2001 " + keys.lock());
        Awaitility.await().atMost(PATIENCE).until(() -> {
            a.asks(waiter);
            return !owners().isEmpty();
        });
        assertOwner(a, 2_001);
    }

    /** A message that its waiter has got the lock is for the session whose request has brought that about, too. */
    @Test
    void requestMayBringItsOwnSessionAGrantOfWhichItHears() throws InterruptedException {
        a.waits("c", 10);
        a.own(3_000);
        expire();
        Answer answer = a.request(4_000).once().send();
        assertThat(answer.status()).isEqualTo(Status.BUSY);
        assertThat(answer.ttlMillis()).isEqualTo(-1);
        assertThat(answer.owner()).isEqualTo(4_001);
        assertThat(letters(a))
                .containsExactly("s 2 2000 4001 " + keys.lock(), "i 4001 4000 " + a.id + " " + keys.lock());
    }

    @Test
    void releaseThatIsNoneSignalsNobodyByItself() {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        expire();
        assertThat(b.release(1_000)).isEqualTo(NOTHING);
        assertThat(waiting()).as("that is for who comes next").containsExactly(waiter.member());
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertOwner(a, 2_001);
    }

    /** By its own release, a later request that implies it, or one that continues it and is released. */
    @Test
    void tenureThatEndsWellSignalsNobody() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        b.own(1_000);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(b.own(2_000).behind()).isEqualTo(2);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        b.request(3_000).continuing(2_000).send();
        b.releaseAfter(3_000, "sd");
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(b.own(4_000).behind()).isEqualTo(2);
        b.release(4_000);
        b.request(5_000).once().send();
        b.release(5_000);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(waiting()).containsExactly(waiter.member());
        assertNoLetters(a);
    }

    /** So does one that came by hand-over, and one that was given up with tickets served on it. */
    @Test
    void tenuresThatAreHandedOverSignalNobody() {
        Waiting waiter = a.waits("c", 10);
        b.requests(1_000L, 2_000L).send();
        c.queue(1_000);
        b.releaseWith(1_000, 2_000L);
        assertOwner(c, 1_000);
        c.release(1_000);
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(waiting()).containsExactly(waiter.member());
    }

    /** Plain clients can't signal, so nothing is lost with their tenures. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void plainLockInBetweenSignalsNobody(boolean isReleased) {
        Waiting waiter = a.waits("c", 10);
        RLock plain = redisson.getLock(keys.lock());
        plain.lock();
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        if (isReleased) {
            plain.unlock();
        } else {
            expire();
        }
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(contender().own(1_000).behind()).isEqualTo(2);
        assertThat(waiting()).containsExactly(waiter.member());
    }

    /** A lost tenure is found out after the plain client that came next. */
    @Test
    void tenureThatWasLostToAPlainClientSignalsAll() {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        expire();
        RLock plain = redisson.getLock(keys.lock());
        plain.lock();
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertThat(waiting()).hasSize(1);
        plain.unlock();
        assertThat(a.asks(waiter)).isEqualTo(WAITS);
        assertOwner(a, 2_001);
    }

    /** Who can't know whether a tenure was lost takes it to be. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lossOfWhatIsKnownSignalsAll(boolean isToken) {
        Waiting waiter = a.waits("c", 10);
        if (isToken) {
            redis("DEL", keys.token());
        } else {
            redis("HDEL", keys.signals(), "released");
        }
        a.asks(waiter);
        assertOwner(a, 2_001);
    }

    // ---- tenures that something else has ended before their release

    /** Nobody knows any more whom its operations would have signalled. */
    @Test
    void releaseOfWhatWasGivenBackBeforeSignalsAll() {
        Waiting first = a.waits("c", 10);
        Waiting second = a.waits("d", 20, 4_000);
        b.own(1_000);
        assertThat(b.release(1_000)).isEqualTo(TENURE);
        assertThat(a.asks(first)).isEqualTo(WAITS);
        assertThat(b.releaseAfter(1_000, "sc")).isEqualTo(TENURE);
        assertThat(waiting()).isEmpty();
        assertOwner(a, 4_001);
        assertThat(a.asks(second).sequence()).isZero();
        assertThat(a.releaseOf(first, 4_001)).isEqualTo(TENURE);
    }

    /** The one that has got the lock meanwhile is told that others wait. */
    @Test
    void releaseOfWhatWasHandedOnBeforeSignalsAll() throws InterruptedException {
        Waiting waiter = a.waits("c", 10);
        b.own(1_000);
        c.queue(1_000);
        b.release(1_000);
        letters(c);
        assertThat(b.releaseAfter(1_000, "sc")).isEqualTo(TENURE);
        assertOwner(c, 1_000);
        assertQueue(waiter.ticket(2_001));
        assertSignalled(a, 2_000, 2_001);
        assertDemand(c, 1_000);
        c.release(1_000);
        assertThat(a.releaseOf(waiter, 2_001)).isEqualTo(TENURE);
    }

    /** A release that has done its operations, or had none, signals nobody when it comes again. */
    @ParameterizedTest
    @ValueSource(
            strings = {"at once", "after a cancel", "after a tenure", "after a contended tenure", "after a request"})
    void releaseThatComesAgainSignalsNobody(String when) {
        Waiting first = a.waits("c", 10);
        Waiting second = a.waits("c", 20, 4_000);
        b.signals("sc");
        assertOwner(a, 4_001);
        switch (when) {
            case "after a cancel" -> b.release(2_000);
            case "after a tenure" -> {
                a.releaseOf(first, 4_001);
                b.own(2_000);
                b.release(2_000);
            }
            case "after a contended tenure" -> {
                a.releaseOf(first, 4_001);
                b.own(2_000);
                contender().queue(1_000);
                b.release(2_000);
            }
            case "after a request" -> b.queue(2_000);
            default -> assertThat(when).isEqualTo("at once");
        }
        assertThat(b.releaseAfter(1_000, "sc")).isEqualTo(TENURE);
        assertThat(waiting()).containsExactly(second.member());
    }

    // ---- tickets of the dead

    /** He may have been signalled, and a ticket doesn't tell for certain. */
    @ParameterizedTest
    @ValueSource(strings = {"release", "await", "acquire"})
    void deadTicketAtTheHeadSignalsAll(String way) throws InterruptedException {
        Waiting signalled = dead.waits("c", 1);
        Waiting first = a.waits("c", 10);
        Waiting second = b.waits("d", 20);
        c.signalsAhead("sc");
        assertQueue(signalled.ticket(2_001));
        die(dead);
        fallSilentIfKnown(dead);
        if (way.equals("release")) {
            assertThat(c.release(1_000)).isEqualTo(TENURE);
        } else {
            // As if it had been released, and nobody had been there to take it.
            redis("HSET", keys.signals(), "released", redis("GET", keys.token()).toString());
            expire();
            if (way.equals("await")) {
                assertThat(a.asks(first)).isEqualTo(WAITS);
            } else {
                c.own(2_000);
            }
        }
        assertThat(waiting()).isEmpty();
        assertThat(letters(dead)).singleElement().asString().startsWith("s 2 2000 2001 ");
        if (way.equals("acquire")) {
            assertOwner(c, 2_000);
        } else {
            assertOwner(a, 2_001);
            assertQueue(second.ticket(2_001));
        }
        assertThat(letters(a)).isNotEmpty();
        assertSignalled(b, 2_000, 2_001);
        assertNoWaiters();
    }

    private void fallSilentIfKnown(Contender contender) {
        if (number("HEXISTS", keys.signals(), contender.id) == 1) {
            fallSilent(contender);
        }
    }

    /** Waiters of the dead are dropped as their tickets are; the lock is free then, and plain clients are told. */
    @Test
    void lockIsFreeWhereAllWaitersAreDead() throws InterruptedException {
        dead.waits("c", 10);
        owner.own(1_000);
        dead.queue(3_000);
        die(dead);
        fallSilent(dead);
        announcements();
        assertThat(owner.releaseAfter(1_000, "sd")).isEqualTo(TENURE);
        assertThat(announcements()).containsExactly("0");
        assertThat(ttls()).containsOnlyKeys(keys.token(), dead.mark(), owner.mark());
    }
}
