package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a hold of several names promises: all of them or none, whatever their number and order. */
@DisplayName("a hold of several names")
class ManyNamesTest extends HoldFixture {

    /** More than twice as many as are asked for at a time. */
    private static final int MANY = 250;

    private String prefix;
    private String a;
    private String b;
    private String c;

    @BeforeEach
    void begin() {
        prefix = freshName() + ":";
        a = prefix + "a";
        b = prefix + "b";
        c = prefix + "c";
    }

    /** Returns names in the order of their text. */
    private List<String> manyNames() {
        return IntStream.range(0, MANY)
                .mapToObj(i -> String.format("%s%03d", prefix, i))
                .toList();
    }

    private static <T> List<T> without(List<T> all, T one) {
        return all.stream().filter(each -> !each.equals(one)).toList();
    }

    private static void assertRefused(CompletableFuture<Optional<Hold>> asked) {
        assertThat(asked).succeedsWithin(PATIENCE).isEqualTo(Optional.empty());
    }

    private void assertFree(Interlock session, Collection<String> names) {
        released(acquired(session.holds().acquireAll(names)));
    }

    // ---- all or none

    @Test
    @DisplayName("has all of them, in the order of their text, whatever the order in which they are given")
    void hasAll() {
        List<String> names = new ArrayList<>(manyNames());
        Collections.shuffle(names, new Random(7));
        Hold hold = acquired(mine.holds().acquireAll(names));
        assertThat(hold.names()).containsExactlyElementsOf(manyNames());
        assertThat(hold.isValid()).isTrue();
        hold.assertValid();
        assertThat(mine.heldLocks()).isEqualTo(MANY);
        for (String name : List.of(names.get(0), names.get(MANY / 2), names.get(MANY - 1))) {
            assertRefused(mine.holds().tryAcquire(name));
            assertRefused(other.holds().tryAcquire(name));
            assertThat(mine.lock(name).tryLock()).isFalse();
        }
        released(hold);
        assertThat(hold.isValid()).isFalse();
        assertFree(other, names);
    }

    @Test
    @DisplayName("isn't granted within a wait in which one name is taken, and keeps none")
    void isAllOrNone() {
        List<String> names = manyNames();
        for (int missing : List.of(0, 99, 100, 201, MANY - 1)) {
            String taken = names.get(missing);
            for (Interlock session : List.of(mine, other)) {
                Hold hold = acquired(session.holds().acquire(taken));
                assertRefused(mine.holds().tryAcquireAll(names, SHORT));
                assertFree(other, without(names, taken));
                assertRefused(mine.holds().tryAcquireAll(names, Duration.ZERO));
                assertFree(other, without(names, taken));
                assertThat(hold.isValid()).isTrue();
                released(hold);
            }
        }
    }

    @Test
    @DisplayName("isn't granted while a thread has the drop-in lock of one name")
    void excludesTheDropIn() {
        for (Interlock session : List.of(mine, other)) {
            session.lock(b).lock();
            assertRefused(mine.holds().tryAcquireAll(List.of(a, b, c), SHORT));
            CompletableFuture<Hold> asked = mine.holds().acquireAll(List.of(c, b, a));
            assertWaits(asked);
            session.lock(b).unlock();
            released(acquired(asked));
        }
    }

    @Test
    @DisplayName("is granted in the end if one name becomes free within the wait")
    void waits() {
        Hold hold = acquired(other.holds().acquire(b));
        CompletableFuture<Optional<Hold>> asked = mine.holds().tryAcquireAll(List.of(a, b, c), PATIENCE);
        assertWaits(asked);
        released(hold);
        assertThat(asked).succeedsWithin(PATIENCE).matches(Optional::isPresent);
        released(asked.join().orElseThrow());
    }

    @Test
    @DisplayName("has the names before the first that is taken while it waits for that one, and none after it")
    void waitsForTheFirstMissing() {
        Hold hold = acquired(other.holds().acquire(b));
        CompletableFuture<Hold> asked = mine.holds().acquireAll(List.of(c, b, a));
        assertWaits(asked);
        assertRefused(other.holds().tryAcquire(a, SHORT));
        assertFree(other, List.of(c));
        Hold last = acquired(other.holds().acquire(c));
        released(hold);
        assertWaits(asked);
        assertRefused(other.holds().tryAcquire(b, SHORT));
        released(last);
        Hold all = acquired(asked);
        assertThat(all.names()).containsExactly(a, b, c);
        released(all);
    }

    @Test
    @DisplayName("waits for several names in turn, of several hundreds")
    void waitsInTurn() {
        List<String> names = manyNames();
        List<Hold> holds = new ArrayList<>();
        for (int taken : List.of(0, 99, 100, 180, 249)) {
            holds.add(acquired((taken % 2 == 0 ? mine : other).holds().acquire(names.get(taken))));
        }
        CompletableFuture<Hold> asked = mine.holds().acquireAll(names);
        for (Hold each : holds) {
            assertWaits(asked);
            released(each);
        }
        released(acquired(asked));
    }

    @Test
    @DisplayName("whose request is cancelled while it waits gives everything back")
    void isCancelled() {
        List<String> names = manyNames();
        String taken = names.get(137);
        for (Interlock session : List.of(mine, other)) {
            Hold hold = acquired(session.holds().acquire(taken));
            CompletableFuture<Hold> asked = mine.holds().acquireAll(names);
            assertWaits(asked);
            asked.cancel(false);
            assertFree(other, without(names, taken));
            released(hold);
            assertFree(other, names);
        }
    }

    @Test
    @DisplayName("whose request is cancelled at any moment gives everything back")
    void isCancelledAtAnyMoment() {
        List<String> names = manyNames();
        Random random = new Random(11);
        for (int i = 0; i < 60; i++) {
            CompletableFuture<Hold> asked = (i % 2 == 0 ? mine : other).holds().acquireAll(names);
            int most = random.nextInt(2 * MANY);
            long begun = System.nanoTime();
            // Until so many are held; or for a moment, if others have them.
            await().pollInSameThread()
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofNanos(100_000))
                    .until(() -> asked.isDone()
                            || mine.heldLocks() + other.heldLocks() >= most
                            || System.nanoTime() - begun > 20_000_000);
            asked.cancel(false);
            if (!asked.isCancelled()) {
                asked.join().close();
            }
        }
        assertFree(mine, names);
        assertFree(other, names);
    }

    @Test
    @DisplayName("isn't granted to a thread that is interrupted, which keeps none")
    void isInterrupted() {
        Hold hold = acquired(other.holds().acquire(b));
        try (TestThreads threads = new TestThreads(PATIENCE)) {
            Running<Boolean> waiting = threads.start("waiting", () -> {
                assertThatThrownBy(() -> mine.holds().holdAll(List.of(a, b, c)))
                        .isInstanceOf(InterruptedException.class);
            });
            assertThat(waiting.endsWithin(SHORT)).isFalse();
            waiting.thread().interrupt();
            waiting.result();
        }
        assertFree(other, List.of(a, c));
        released(hold);
    }

    @Test
    @DisplayName("that a thread waits for is granted to it, or isn't within the wait")
    void isWaitedFor() throws InterruptedException {
        Hold hold = mine.holds().holdAll(List.of(b, a));
        assertThat(hold.names()).containsExactly(a, b);
        assertThat(mine.holds().tryHoldAll(List.of(c, b), SHORT)).isEmpty();
        assertThat(other.holds().tryHoldAll(List.of(c, b), SHORT)).isEmpty();
        hold.close();
        Hold next = other.holds().tryHoldAll(List.of(c, b), PATIENCE).orElseThrow();
        released(next);
    }

    @Test
    @DisplayName("is refused to a thread that has the drop-in lock of one name")
    void isRefusedToTheOwnerOfALock() {
        mine.lock(b).lock();
        assertThatThrownBy(() -> mine.holds().holdAll(List.of(a, b, c)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(b);
        assertThatThrownBy(() -> mine.holds().tryHoldAll(List.of(a, b, c), SHORT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(b);
        mine.lock(b).unlock();
        assertFree(other, List.of(a, b, c));
    }

    @Test
    @DisplayName("and another with the same names in another order are granted one after the other")
    void orderDoesNotMatter() {
        List<String> names = manyNames();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            List<String> shuffled = new ArrayList<>(names);
            Collections.shuffle(shuffled, new Random(i));
            Interlock session = i % 2 == 0 ? mine : other;
            all.add(session.holds().acquireAll(shuffled.subList(0, 150)).thenCompose(Hold::release));
        }
        all.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
    }

    // ---- what it says of itself

    @Test
    @DisplayName("has a name once that is given twice")
    void duplicatesCountOnce() {
        Hold hold = acquired(mine.holds().acquireAll(List.of(b, a, b, b)));
        assertThat(hold.names()).containsExactly(a, b);
        released(hold);
        Hold single = acquired(mine.holds().acquireAll(List.of(c, c)));
        assertThat(single.name()).isEqualTo(c);
        assertThat(single.fencingToken()).isPositive();
        released(single);
    }

    @Test
    @DisplayName("has no name and no token of its own, but a token for each name")
    void hasSeveralTokens() {
        Map<String, Long> last = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            Interlock session = i % 2 == 0 ? mine : other;
            // One more of this name's than of the others'.
            Hold single = acquired(session.holds().acquire(b));
            last.put(b, single.fencingToken());
            released(single);
            Hold hold = acquired(session.holds().acquireAll(Set.of(a, b, c)));
            for (String name : hold.names()) {
                assertThat(hold.fencingToken(name)).isGreaterThan(last.getOrDefault(name, 0L));
                last.put(name, hold.fencingToken(name));
            }
            assertThatThrownBy(hold::name).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(hold::fencingToken).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> hold.fencingToken(prefix + "d"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(prefix + "d");
            released(hold);
            assertThatThrownBy(() -> hold.fencingToken(a))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("released");
        }
    }

    // ---- loss

    @Test
    @DisplayName("is lost with one of its names, which it tells, and gives the others back")
    void isLostWithOneName() {
        Hold hold = acquired(quick.holds().acquireAll(List.of(a, b, c)));
        redis.command("DEL", b);
        assertThat(hold.lost().toCompletableFuture())
                .succeedsWithin(PATIENCE)
                .extracting(LeaseLostException::lockName)
                .isEqualTo(b);
        assertThat(hold.isValid()).isFalse();
        assertThatThrownBy(hold::assertValid).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> hold.fencingToken(a)).isInstanceOf(LeaseLostException.class);
        // They are held until they are released.
        assertRefused(other.holds().tryAcquireAll(List.of(a, c), SHORT));
        for (int i = 0; i < 2; i++) {
            assertThat(hold.release().toCompletableFuture())
                    .failsWithin(PATIENCE)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(
                            LeaseLostException.class,
                            loss -> assertThat(loss.lockName()).isEqualTo(b));
        }
        assertFree(other, List.of(a, b, c));
    }

    @Test
    @DisplayName("that was lost tells so when it is closed")
    void closeTellsTheLoss() {
        Hold hold = acquired(quick.holds().acquireAll(List.of(a, b, c)));
        redis.command("DEL", c);
        assertThat(hold.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        assertThatThrownBy(hold::close)
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        loss -> assertThat(loss.lockName()).isEqualTo(c));
        assertFree(other, List.of(a, b, c));
    }

    @Test
    @DisplayName("doesn't tell a loss after it was released")
    void isReleasedOnce() {
        Hold hold = acquired(mine.holds().acquireAll(List.of(a, b, c)));
        released(hold);
        Hold next = acquired(other.holds().acquireAll(List.of(a, b, c)));
        released(hold);
        hold.close();
        next.assertValid();
        assertThat(hold.lost().toCompletableFuture()).isNotDone();
        released(next);
    }

    // ---- what is refused

    @Test
    @DisplayName("of no names, too many, or an impossible one is refused before anything is asked for")
    void checksItsNames() {
        List<String> tooMany =
                IntStream.rangeClosed(0, 10_000).mapToObj(i -> prefix + i).toList();
        assertThatThrownBy(() -> mine.holds().acquireAll(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 10,000");
        for (List<String> wrong :
                List.of(tooMany, List.of(a, ""), List.of(a, "x".repeat(1_025)), List.of(a, "interlock:{x}:y"))) {
            assertThatThrownBy(() -> mine.holds().acquireAll(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("name");
            assertThatThrownBy(() -> mine.holds().tryAcquireAll(wrong, SHORT))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> mine.holds().holdAll(wrong)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> mine.lockAll(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        for (List<String> wrong : Arrays.asList(Arrays.asList(a, null), null)) {
            assertThatThrownBy(() -> mine.holds().acquireAll(wrong)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> mine.holds().holdAll(wrong)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> mine.lockAll(wrong)).isInstanceOf(NullPointerException.class);
        }
        assertThatThrownBy(() -> mine.holds().tryAcquireAll(List.of(a), Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(redis.keys()).noneMatch(key -> key.contains(prefix));
        assertThat(mine.heldLocks()).isZero();
    }

    @Test
    @DisplayName("may be of 10,000 names")
    void mayBeOfTenThousand() {
        List<String> most = IntStream.range(0, 10_000).mapToObj(i -> prefix + i).toList();
        Hold hold = acquired(mine.holds().acquireAll(most));
        assertThat(mine.heldLocks()).isEqualTo(10_000);
        assertRefused(other.holds().tryAcquire(most.get(9_999)));
        released(hold);
    }

    @Test
    @DisplayName("is valid when it is granted, though a name was lost while others were waited for")
    void aNameThatIsLostMeanwhileIsAcquiredAnew() {
        Hold taken = acquired(other.holds().acquire(b));
        CompletableFuture<Hold> asked = quick.holds().acquireAll(List.of(a, b, c));
        await("the first name").atMost(PATIENCE).until(() -> redis.keys().contains(a));
        redis.command("DEL", a);
        await("its loss").atMost(PATIENCE).until(() -> quick.heldLocks() == 0);
        assertThat(asked).isNotDone();
        released(taken);
        Hold all = acquired(asked);
        assertThat(all.isValid()).isTrue();
        released(all);
    }

    @Test
    @DisplayName("isn't granted if its fixed lease is over before the last name is there")
    void aLeaseThatIsOverBeforeIsToldAsALoss() {
        Hold taken = acquired(other.holds().acquire(b));
        CompletableFuture<Hold> asked =
                mine.holds().lease(Duration.ofMillis(200)).acquireAll(List.of(a, b));
        await("the first name").atMost(PATIENCE).until(() -> mine.heldLocks() == 1);
        await("its end").atMost(PATIENCE).until(() -> mine.heldLocks() == 0);
        released(taken);
        assertThat(asked).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LeaseLostException.class);
    }
}
