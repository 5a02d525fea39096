package dev.interlock.internal.ratelimit;

import static dev.interlock.internal.session.VirtualEnvironment.COMMAND_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.FakeMailbox;
import dev.interlock.internal.session.FakeRunner;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.VirtualEnvironment;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** How the requests to one key are batched, repeated and given up, in virtual time. */
class RequestQueueTest {
    private final Throwable passing = new RedisTimeoutException("no answer");
    private final Throwable lasting = new RedisException("WRONGTYPE Operation against a key");

    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final FakeRunner runner = new FakeRunner();
    private final RedisSession session = environment.session(SyncListener.NONE, runner, new FakeMailbox());
    private final SharedLimit limit =
            new SharedLimit("limit", "limit", RateLimit.fixedWindow(10, Duration.ofSeconds(1)));
    private final List<RequestQueue> ended = new ArrayList<>();
    private final RequestQueue queue = new RequestQueue(session, List.of("key", "updated"), ended::add);

    private CompletableFuture<Answer> add() {
        var answer = new CompletableFuture<Answer>();
        assertThat(queue.add(new Request(limit, 1, 0, 0, answer))).isTrue();
        return answer;
    }

    private void answer(int command, int requests) {
        List<Object> reply = new ArrayList<>();
        reply.add("");
        for (int i = 0; i < requests; i++) {
            reply.addAll(List.of(1L, 0L, 9L, 1_000L, 1_000L));
        }
        runner.sent().get(command).reply().complete(reply);
    }

    /** Lets time pass with ten pulses a second. */
    private void pulseFor(long millis) {
        for (long passed = 0; passed < millis; passed += 100) {
            environment.advance(100);
            queue.pulse();
        }
    }

    private static void assertUnavailable(CompletableFuture<Answer> answer) {
        assertThat(answer).isCompletedExceptionally();
        assertThat(Failures.of(answer)).isInstanceOf(RedisUnavailableException.class);
    }

    @Test
    void whatArrivesWhileABatchIsInFlightGoesWithTheNext() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> second = add();
        CompletableFuture<Answer> third = add();
        assertThat(runner.sent()).hasSize(1);
        answer(0, 1);
        assertThat(first.join().remaining()).isEqualTo(9);
        assertThat(runner.sent()).hasSize(2);
        answer(1, 2);
        assertThat(second.join().isGranted()).isTrue();
        assertThat(third.join().isGranted()).isTrue();
        assertThat(runner.sent()).hasSize(2);
    }

    @Test
    void aCancelledRequestIsNotSent() {
        add();
        add().cancel(false);
        answer(0, 1);
        assertThat(runner.sent()).hasSize(1);
    }

    @Test
    void aSilentBatchIsRepeatedAsItWas() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> behind = add();
        pulseFor(1_000);
        assertThat(runner.sent()).hasSize(2);
        assertThat(runner.sent().get(1).call()).isSameAs(runner.sent().get(0).call());
        answer(1, 1);
        assertThat(first.join().isGranted()).isTrue();
        assertThat(behind).isNotDone();
        assertThat(runner.sent()).hasSize(3);
    }

    /** The other attempt's answer would say the same. */
    @Test
    void theAnswerToAnyAttemptMakesWayForTheNextBatch() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> second = add();
        pulseFor(1_000);
        answer(0, 1);
        assertThat(first.join().isGranted()).isTrue();
        assertThat(runner.sent()).hasSize(3);
        runner.sent().get(1).reply().completeExceptionally(lasting);
        assertThat(second).as("the second batch is in flight").isNotDone();
        answer(2, 1);
        assertThat(second.join().isGranted()).isTrue();
    }

    @Test
    void aFailureThatMayPassIsFollowedByTheSameBatch() {
        CompletableFuture<Answer> first = add();
        runner.last().reply().completeExceptionally(passing);
        CompletableFuture<Answer> behind = add();
        assertThat(runner.sent()).as("it waits for the batch before").hasSize(1);
        environment.advance(200);
        assertThat(runner.sent()).hasSize(2);
        assertThat(runner.sent().get(1).call()).isSameAs(runner.sent().get(0).call());
        answer(1, 1);
        assertThat(first.join().isGranted()).isTrue();
        answer(2, 1);
        assertThat(behind.join().isGranted()).isTrue();
    }

    @Test
    void afterACommandTimeoutAllFailThatHaveWaited() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> behind = add();
        pulseFor(COMMAND_MILLIS - 100);
        assertThat(first).isNotDone();
        assertThat(session.outage().isActive()).isFalse();
        pulseFor(100);
        assertUnavailable(first);
        assertUnavailable(behind);
        assertThat(session.outage().isActive()).isTrue();
        int sent = runner.sent().size();
        CompletableFuture<Answer> next = add();
        assertThat(runner.sent()).as("the next isn't kept waiting").hasSize(sent + 1);
        answer(0, 1);
        assertThat(next).as("a late answer to the batch that was given up").isNotDone();
        answer(sent, 1);
        assertThat(next.join().isGranted()).isTrue();
    }

    @Test
    void afterACommandTimeoutAFailureIsFinal() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> behind = add();
        environment.advance(COMMAND_MILLIS);
        runner.last().reply().completeExceptionally(passing);
        assertThat(Failures.of(first)).isSameAs(passing);
        assertThat(Failures.of(behind)).isSameAs(passing);
        environment.advance(1_000);
        assertThat(runner.sent()).hasSize(1);
    }

    @Test
    void aRefusalFailsOnlyItsBatch() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> behind = add();
        runner.last().reply().completeExceptionally(lasting);
        assertThat(Failures.of(first)).isSameAs(lasting);
        assertThat(behind).isNotDone();
        answer(1, 1);
        assertThat(behind.join().isGranted()).isTrue();
    }

    @Test
    void aCommandThatWasOvertakenFailsItsBatch() {
        CompletableFuture<Answer> first = add();
        runner.last().reply().complete(List.of());
        assertUnavailable(first);
    }

    @Test
    void anUnusedQueueEnds() {
        add();
        answer(0, 1);
        queue.pulse();
        assertThat(ended).isEmpty();
        queue.pulse();
        assertThat(ended).containsExactly(queue);
        assertThat(queue.add(new Request(limit, 1, 0, 0, new CompletableFuture<>())))
                .isFalse();
    }

    @Test
    void aQueueThatIsClosedFailsAllRequests() {
        CompletableFuture<Answer> first = add();
        CompletableFuture<Answer> behind = add();
        queue.close();
        assertThat(Failures.of(first)).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
        assertThat(Failures.of(behind)).isInstanceOf(IllegalStateException.class);
    }
}
