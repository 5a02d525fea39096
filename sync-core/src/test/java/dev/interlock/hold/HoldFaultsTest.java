package dev.interlock.hold;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Outage;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds keep their promises while answers are lost, Redis is away, or it refuses commands. */
@DisplayName("a hold, under faults of Redis and the network,")
class HoldFaultsTest extends HoldFaultsFixture {
    private static final String OTHER = "other";
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration WAIT = Duration.ofMillis(900);

    /** So short that its end can be awaited. */
    private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    private Recorder recorder = new Recorder();

    @BeforeEach
    void hearOfThisTestOnly() {
        recorder = new Recorder();
    }

    static Stream<Loss> losses() {
        return Stream.of(Loss.CUT, Loss.MUTE);
    }

    /** So that a server that is killed knows everything when it is started again. */
    @Override
    protected List<String> serverArguments() {
        return Outage.serverArguments();
    }

    private void begin(Outage outage) {
        outage.begin(List.of(server()), List.of(proxy()));
    }

    private void end(Outage outage) {
        outage.end(List.of(server()), List.of(proxy()));
    }

    private InterlockBuilder shortLived(InterlockBuilder builder) {
        return builder.lease(SHORT_LEASE).redisTimeout(REDIS_TIMEOUT).listener(recorder);
    }

    private int losts() {
        return recorder.count(Recorder.Kind.LOST);
    }

    // ---- lost replies

    @ParameterizedTest
    @MethodSource("losses")
    @DisplayName("is acquired once if the reply to its request is lost")
    void acquisitionWhoseReplyIsLostCountsOnce(Loss loss) {
        Holds holds = session().holds();
        proxy().dropReplies(Requests.acquire(NAME), 1, loss);
        Hold hold = awaited("the hold", holds.acquire(NAME), REPEATED);
        assertThat(dropped()).isPositive();
        assertThat(holder(NAME)).matches("[^=]+=1");
        hold.assertValid();
        released(hold);
        awaitFree(NAME);
        assertAvailable(NAME);
    }

    @ParameterizedTest
    @MethodSource("losses")
    @DisplayName("keeps its place in the queue if the reply to its request is lost")
    void placeInTheQueueSurvivesLostReply(Loss loss) {
        Hold first = acquired(undisturbed().holds().acquire(NAME));
        Holds holds = session().holds();
        proxy().dropReplies(Requests.acquire(NAME), 1, loss);
        CompletableFuture<Hold> second = holds.acquire(NAME);
        await("lost").until(() -> dropped() > 0);
        awaitTickets(NAME, 1);
        released(first);
        released(awaited("the hold", second, REPEATED));
        awaitFree(NAME);
    }

    @ParameterizedTest
    @MethodSource("losses")
    @DisplayName("goes on with its old lease if the reply to an extension is lost, and can be extended again")
    void extensionWhoseReplyIsLostCanBeRepeated(Loss loss) throws InterruptedException {
        Hold hold = session()
                .holds()
                .lease(Duration.ofMinutes(1))
                .tryHold(NAME, PATIENCE)
                .orElseThrow();
        proxy().dropReplies(Requests.extend(NAME), 1, loss);
        CompletableFuture<Void> extension = hold.extend(Duration.ofHours(1)).toCompletableFuture();
        await("lost").until(() -> dropped() > 0);
        await("an answer, if the connection repeats it").until(extension::isDone);
        if (extension.isCompletedExceptionally()) {
            assertUnavailable(extension);
        }
        assertThat(hold.isValid()).isTrue();
        // While the connection is silent, repetitions fail, too.
        await("an extension").ignoreExceptions().until(() -> {
            hold.extend(Duration.ofMinutes(2)).toCompletableFuture().join();
            return true;
        });
        hold.assertValid();
        released(hold);
        awaitFree(NAME);
        assertThat(losts()).isZero();
    }

    @ParameterizedTest
    @MethodSource("losses")
    @DisplayName("is released once if the reply to that is lost")
    void releaseWhoseReplyIsLostReleasesOnce(Loss loss) {
        Holds holds = session().holds();
        Hold first = acquired(holds.acquire(NAME));
        long token = first.fencingToken();
        proxy().dropReplies(Requests.release(NAME), 1, loss);
        CompletableFuture<Void> release = first.release().toCompletableFuture();
        await("lost").until(() -> dropped() > 0);
        Hold second = awaited("the next hold", holds.acquire(NAME), REPEATED);
        assertThat(release).succeedsWithin(PATIENCE);
        assertThat(second.fencingToken()).isGreaterThan(token);
        // The repeated release must not end what has come next.
        String owner = holder(NAME);
        await("repetitions")
                .during(SHORT_TIMEOUT.multipliedBy(2))
                .until(() -> holder(NAME).equals(owner));
        second.assertValid();
        released(second);
        awaitFree(NAME);
    }

    // ---- silent connections

    @Test
    @DisplayName("is renewed and waited for though connections fall silent")
    void silentConnectionsCostNothing() {
        Holds elsewhere = undisturbed().holds();
        Hold first = acquired(elsewhere.acquire(NAME));
        Holds holds = session(this::shortLived).holds();
        Hold held = acquired(holds.acquire(OTHER));
        List<CompletableFuture<Hold>> waiting = List.of(holds.acquire(NAME), holds.acquire(NAME));
        awaitTickets(NAME, 1);
        proxy().dropReplies(Requests.acquire(NAME), 1, Loss.MUTE);
        proxy().dropReplies(Requests.renew(OTHER), 1, Loss.MUTE);
        await("both lost").until(() -> dropped() >= 2);
        int renewed = recorder.count(Recorder.Kind.RENEWED);
        await("renewed again").until(() -> recorder.count(Recorder.Kind.RENEWED) > renewed + 1);
        held.assertValid();
        released(first);
        waiting.forEach(each -> released(acquired(each)));
        released(held);
        assertThat(losts()).isZero();
    }

    @Test
    @DisplayName("is granted by a pulse if no message comes")
    void lostMessagesCostOnePulse() {
        Hold first = acquired(undisturbed().holds().acquire(NAME));
        CompletableFuture<Hold> second = session().holds().acquire(NAME);
        awaitTickets(NAME, 1);
        killMailboxes();
        released(first);
        released(awaited("the hold", second, PROMPTLY));
    }

    // ---- outages

    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED"})
    @DisplayName("is lost in an outage that is longer than its lease, and requests fail when they should")
    void longOutageEndsWhatRequestsWaitFor(Outage outage) {
        Holds holds = session(this::shortLived).holds();
        Hold held = acquired(holds.acquire(NAME));
        CompletableFuture<Hold> behind = holds.acquire(NAME);
        begin(outage);
        long begun = Monotonic.nanos();
        CompletableFuture<Hold> waiting = holds.acquire(OTHER);
        CompletableFuture<Hold> both = holds.acquireAll(List.of(OTHER, NAME));
        CompletableFuture<Optional<Hold>> timedBehind = holds.tryAcquire(NAME, WAIT);
        assertUnavailable(holds.tryAcquire("timed", WAIT));
        assertBetween(WAIT, WAIT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        // Nobody but the holder in its own session is in its way.
        assertThat(timedBehind).succeedsWithin(SLACK).isEqualTo(Optional.empty());
        long again = Monotonic.nanos();
        assertUnavailable(holds.tryAcquire("once"));
        assertWithin(SHORT_TIMEOUT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - again));
        assertThat(held.lost().toCompletableFuture())
                .succeedsWithin(PATIENCE)
                .extracting(LeaseLostException::lockName)
                .isEqualTo(NAME);
        Stream.of(waiting, behind, both).forEach(HoldFaultsFixture::assertUnavailable);
        Duration longest = SHORT_LEASE.plus(REDIS_TIMEOUT).plus(SHORT_TIMEOUT).plus(SLACK);
        assertWithin(longest, Duration.ofNanos(Monotonic.nanos() - begun));
        assertThat(held.isValid()).isFalse();
        assertFails(held.release().toCompletableFuture(), LeaseLostException.class, ".*");
        end(outage);
        await("works again").ignoreExceptions().until(() -> works(holds));
        assertThat(losts()).isEqualTo(1);
    }

    private static boolean works(Holds holds) {
        released(holds.acquireAll(List.of(NAME, OTHER)).join());
        return true;
    }

    @ParameterizedTest
    @EnumSource(names = {"KILLED", "STALLED", "REFUSED"})
    @DisplayName("survives an outage that is shorter than its lease, and so do requests")
    void shortOutageCostsNothing(Outage outage) {
        Holds holds = session(builder -> builder.listener(recorder)).holds();
        Hold held = acquired(holds.acquire(NAME));
        Hold others = acquired(undisturbed().holds().acquire(OTHER));
        CompletableFuture<Hold> behind = holds.acquire(NAME);
        CompletableFuture<Hold> waiting = holds.acquire(OTHER);
        awaitTickets(OTHER, 1);
        begin(outage);
        CompletableFuture<Hold> later = holds.acquire("later");
        await("it lasts").during(SHORT_TIMEOUT).until(() -> !later.isDone());
        CompletableFuture<Void> release = held.release().toCompletableFuture();
        end(outage);
        assertThat(release).succeedsWithin(PATIENCE);
        released(acquired(behind));
        released(acquired(later));
        assertWaits(waiting);
        released(others);
        released(acquired(waiting));
        assertThat(losts()).isZero();
    }

    @Test
    @DisplayName("that Redis grants unheard is given back")
    void whatIsGrantedUnheardIsGivenBack() {
        Holds holds = session(this::shortLived).holds();
        proxy().dropReplies(words -> true, FaultProxy.ALWAYS, Loss.MUTE);
        assertUnavailable(holds.acquire(NAME));
        assertUnavailable(holds.tryAcquire(OTHER));
        proxy().heal();
        awaitFree(NAME);
        awaitFree(OTHER);
    }

    @Test
    @DisplayName("can be asked for before Redis is there")
    void lazySessionsWaitForRedis() {
        begin(Outage.REFUSED);
        Interlock session = closing(Interlock.builder()
                .uri(proxy().url())
                .lazy()
                .commandTimeout(SHORT_TIMEOUT)
                .redisTimeout(PATIENCE)
                .open());
        long begun = Monotonic.nanos();
        Holds holds = session.holds();
        assertWithin(SLACK, Duration.ofNanos(Monotonic.nanos() - begun));
        CompletableFuture<Hold> asked = holds.acquire(NAME);
        assertUnavailable(holds.tryAcquire(OTHER));
        assertWaits(asked);
        end(Outage.REFUSED);
        released(acquired(asked));
    }

    // ---- refusals

    /** Why Redis refuses commands about one name, until somebody mends that. */
    enum Refusal {
        NOPERM {
            @Override
            void begin(HoldFaultsTest test) {
                test.server().command("ACL", "SETUSER", "default", "resetkeys", "~" + OTHER, "~interlock:*");
            }

            @Override
            void end(HoldFaultsTest test) {
                test.server().command("ACL", "SETUSER", "default", "allkeys");
            }
        },
        WRONGTYPE {
            @Override
            void begin(HoldFaultsTest test) {
                test.server().command("SET", NAME, "a stranger's");
            }

            @Override
            void end(HoldFaultsTest test) {
                test.server().command("DEL", NAME);
            }
        };

        abstract void begin(HoldFaultsTest test);

        abstract void end(HoldFaultsTest test);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("that Redis refuses fails all requests for it, and no others")
    void refusalFailsRequests(Refusal refusal) {
        Holds holds = session().holds();
        refusal.begin(this);
        List<CompletableFuture<?>> all = List.of(
                holds.acquire(NAME),
                holds.acquire(NAME),
                holds.tryAcquire(NAME, PATIENCE),
                holds.tryAcquire(NAME, PATIENCE),
                holds.acquireAll(List.of(NAME, OTHER)));
        all.forEach(each -> assertFails(each, IllegalStateException.class, "Redis refuses .*" + refusal + ".*"));
        assertThatThrownBy(() -> holds.hold(NAME))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(refusal.name());
        released(acquired(holds.acquire(OTHER)));
        refusal.end(this);
        released(acquired(holds.acquire(NAME)));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("whose release Redis refuses until its lease is over tells so")
    void refusalFailsRelease(Refusal refusal) {
        Holds holds = session(this::shortLived).holds();
        Hold hold = acquired(holds.acquire(NAME));
        refusal.begin(this);
        CompletableFuture<Void> release = hold.release().toCompletableFuture();
        assertWaits(release);
        assertFails(release, IllegalStateException.class, "Redis refuses .*" + refusal + ".*");
        refusal.end(this);
        released(acquired(holds.acquire(NAME)));
    }

    @Test
    @DisplayName("whose release Redis doesn't confirm before its lease is over tells so")
    void unconfirmedReleaseIsTold() {
        Holds holds = session(this::shortLived).holds();
        Hold hold = acquired(holds.acquire(NAME));
        begin(Outage.STALLED);
        CompletableFuture<Void> release = hold.release().toCompletableFuture();
        assertUnavailable(release);
        assertThat(losts()).isZero();
        end(Outage.STALLED);
        await("works again").ignoreExceptions().until(() -> works(holds));
    }

    // ---- repeated and late requests

    @Test
    @DisplayName("that nobody wants any more isn't held by a request that comes late")
    void lateRequestOfACancelledHoldHoldsNothing() {
        Holds holds =
                session(builder -> builder.commandTimeout(COMMAND_TIMEOUT)).holds();
        proxy().delayRequests(Requests.acquire(NAME), Duration.ofMillis(600), 1);
        CompletableFuture<Hold> asked = holds.acquire(NAME);
        await("sent").until(() -> proxy().holdsRequests());
        asked.cancel(false);
        assertAvailable(NAME);
        awaitFree(NAME);
    }

    @Test
    @DisplayName("that nobody wants any more isn't held by a request that is repeated")
    void repeatedRequestOfACancelledHoldHoldsNothing() {
        Holds holds =
                session(builder -> builder.commandTimeout(COMMAND_TIMEOUT)).holds();
        long before = proxy().duplicated();
        proxy().duplicateRequests(Requests.acquire(NAME), Duration.ofMillis(400), FaultProxy.ALWAYS);
        Hold first = acquired(undisturbed().holds().acquire(NAME));
        List<CompletableFuture<Hold>> asked =
                Stream.generate(() -> holds.acquire(NAME)).limit(3).toList();
        awaitTickets(NAME, 1);
        asked.forEach(each -> each.cancel(false));
        released(first);
        CompletableFuture<Hold> granted = holds.acquire(NAME);
        released(acquired(granted));
        await("repeated").until(() -> proxy().duplicated() >= before + 2 && !proxy().holdsRequests());
        awaitFree(NAME);
        assertThat(tickets(NAME)).isZero();
        assertAvailable(NAME);
    }

    @Test
    @DisplayName("is withdrawn if its future is completed by others")
    void completionByOthersWithdraws() {
        Hold first = acquired(undisturbed().holds().acquire(NAME));
        Holds holds = session().holds();
        CompletableFuture<Hold> one = holds.acquire(NAME).completeOnTimeout(first, 200, TimeUnit.MILLISECONDS);
        CompletableFuture<Hold> both = holds.acquireAll(List.of("a", NAME));
        awaitTickets(NAME, 1);
        await("the first of both").until(() -> !holder("a").isEmpty());
        both.complete(first);
        assertThat(one).succeedsWithin(PATIENCE);
        awaitTickets(NAME, 0);
        awaitFree("a");
        released(first);
    }

    @Test
    @DisplayName("whose session isn't to wait any more throws out of blocking calls, too")
    void blockingCallsFailInOutages() {
        Holds holds = session(this::shortLived).holds();
        begin(Outage.STALLED);
        long begun = Monotonic.nanos();
        assertThatThrownBy(() -> holds.tryHold(NAME, WAIT)).isInstanceOf(RedisUnavailableException.class);
        assertBetween(WAIT, WAIT.plus(SLACK), Duration.ofNanos(Monotonic.nanos() - begun));
        assertThatThrownBy(() -> holds.hold(NAME)).isInstanceOf(RedisUnavailableException.class);
        assertThatThrownBy(() -> holds.holdAll(List.of(NAME, OTHER))).isInstanceOf(RedisUnavailableException.class);
        end(Outage.STALLED);
    }
}
