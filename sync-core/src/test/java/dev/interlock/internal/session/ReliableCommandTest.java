package dev.interlock.internal.session;

import static dev.interlock.internal.session.VirtualEnvironment.COMMAND_MILLIS;
import static dev.interlock.internal.session.VirtualEnvironment.LEASE_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.internal.redis.Failures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** How long a command that has to get through is repeated, and how often. */
class ReliableCommandTest {
    private final Throwable passing = new RedisTimeoutException("no answer");
    private final Throwable lasting = new RedisException("WRONGTYPE Operation against a key");
    private final Throwable last = new IllegalMonitorStateException("unknown owner");

    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final RedisSession session = environment.session(SyncListener.NONE);
    private final Resource<?> resource = Resource.ofCommands(session, "name");
    private final List<Long> sentMillis = new ArrayList<>();
    private final List<Boolean> firsts = new ArrayList<>();
    private final List<CompletableFuture<String>> replies = new ArrayList<>();

    private ReliableCommand<String> send() {
        return ReliableCommand.send(
                session, resource, LEASE_MILLIS, IllegalMonitorStateException.class::isInstance, isFirst -> {
                    sentMillis.add(environment.elapsedMillis());
                    firsts.add(isFirst);
                    CompletableFuture<String> reply = new CompletableFuture<>();
                    replies.add(reply);
                    return reply;
                });
    }

    private void fail(Throwable cause) {
        replies.get(replies.size() - 1).completeExceptionally(cause);
    }

    @Test
    void itIsConfirmedByItsAnswer() {
        ReliableCommand<String> command = send();
        replies.get(0).complete("done");
        assertThat(command.confirmed()).isCompletedWithValue("done");
        environment.advance(LEASE_MILLIS);
        assertThat(sentMillis).containsExactly(0L);
    }

    @Test
    void onlyTheFirstAttemptIsTheFirst() {
        ReliableCommand<String> command = send();
        fail(passing);
        environment.advance(200);
        assertThat(firsts).containsExactly(true, false);
        replies.get(1).complete("done");
        assertThat(command.confirmed()).isCompletedWithValue("done");
    }

    @Test
    void aLateAnswerToTheFirstAttemptConfirmsIt() {
        ReliableCommand<String> command = send().insist();
        environment.advance(1_001);
        assertThat(sentMillis).hasSize(2);
        replies.get(0).complete("done");
        assertThat(command.confirmed()).isCompletedWithValue("done");
        environment.advance(LEASE_MILLIS);
        assertThat(sentMillis).hasSize(2);
        assertThat(environment.taskCount()).isZero();
    }

    @Test
    void itIsNotRepeatedForSilenceUnlessThatIsAskedFor() {
        ReliableCommand<String> command = send();
        environment.advance(10_000);
        assertThat(sentMillis).hasSize(1);
        command.insist();
        environment.advance(100);
        assertThat(sentMillis).hasSize(2);
    }

    @Test
    void silenceIsFollowedByARepeatAfterASecondAndThenAfterEachSilence() {
        send().insist();
        environment.advance(10_000);
        assertThat(sentMillis).containsExactly(0L, 1_000L, COMMAND_MILLIS, 2 * COMMAND_MILLIS, 3 * COMMAND_MILLIS);
    }

    @Test
    void oneTimerServesAllCommandsOfTheSession() {
        send().insist();
        environment.advance(50);
        send().insist();
        assertThat(environment.taskCount()).isEqualTo(1);
        environment.advance(1_100);
        assertThat(sentMillis).containsExactly(0L, 50L, 1_000L, 1_100L);
        replies.forEach(reply -> reply.complete("done"));
        environment.advance(100);
        assertThat(environment.taskCount()).isZero();
    }

    @Test
    void aCommandThatHasBeenSilentIsRepeatedAtOnceIfAsked() {
        ReliableCommand<String> command = send();
        environment.advance(COMMAND_MILLIS);
        command.repeat();
        environment.runDue();
        assertThat(sentMillis).containsExactly(0L, COMMAND_MILLIS);
    }

    @Test
    void itIsGivenUpWhenTheLeaseIsOver() {
        ReliableCommand<String> command = send().insist();
        environment.advance(LEASE_MILLIS - 1);
        assertThat(command.confirmed()).isNotDone();
        environment.advance(COMMAND_MILLIS + 1);
        assertThat(command.confirmed()).isCompletedExceptionally();
        assertThat(Failures.of(command.confirmed())).isInstanceOf(RedisUnavailableException.class);
        assertThat(sentMillis.get(sentMillis.size() - 1)).isLessThan(LEASE_MILLIS);
        assertThat(environment.taskCount()).isZero();
    }

    @Test
    void whatItFailsWithAfterTheLeaseIsItsFailure() {
        ReliableCommand<String> command = send();
        environment.advance(LEASE_MILLIS);
        fail(passing);
        assertThat(Failures.of(command.confirmed())).isSameAs(passing);
        environment.advance(1_000);
        assertThat(sentMillis).hasSize(1);
    }

    /** Its failure came before the end of the lease, and the repeat would come after it. */
    @Test
    void theLastFailureIsTheCauseOfGivingUp() {
        ReliableCommand<String> command = send();
        environment.advance(LEASE_MILLIS - 100);
        fail(passing);
        environment.advance(200);
        assertThat(Failures.of(command.confirmed()))
                .isInstanceOf(RedisUnavailableException.class)
                .hasCause(passing);
        assertThat(sentMillis).hasSize(1);
    }

    /** Many commands that are refused for good don't keep Redis busy, and each is tried until its lease is over. */
    @Test
    void aRefusalThatLastsIsRepeatedAtGrowingIntervals() {
        send();
        for (long millis = 0; millis < LEASE_MILLIS; millis += 100) {
            replies.stream().filter(reply -> !reply.isDone()).forEach(reply -> reply.completeExceptionally(lasting));
            environment.advance(100);
        }
        assertThat(sentMillis)
                .containsExactly(0L, COMMAND_MILLIS, 2 * COMMAND_MILLIS, 11_000L, 16_000L, 21_000L, 26_000L);
    }

    /** The repeat may have been executed. */
    @Test
    void aRepeatAfterARefusalIsNotRepeatedForSilence() {
        send();
        fail(lasting);
        environment.advance(LEASE_MILLIS);
        assertThat(sentMillis).containsExactly(0L, COMMAND_MILLIS);
    }

    @Test
    void aFinalFailureEndsIt() {
        ReliableCommand<String> command = send();
        fail(last);
        assertThat(Failures.of(command.confirmed())).isSameAs(last);
        environment.advance(LEASE_MILLIS);
        assertThat(sentMillis).hasSize(1);
    }

    /** Futures that depend on others wrap what they fail with. */
    @Test
    void aFinalFailureEndsItThoughItMightPass() {
        ReliableCommand<String> command = ReliableCommand.send(
                session, resource, LEASE_MILLIS, RedisTimeoutException.class::isInstance, isFirst -> {
                    firsts.add(isFirst);
                    return CompletableFuture.failedFuture(new CompletionException(passing));
                });
        assertThat(Failures.of(command.confirmed())).isSameAs(passing);
        environment.advance(LEASE_MILLIS);
        assertThat(firsts).containsExactly(true);
    }

    @Test
    void itIsNotRepeatedAfterTheSessionIsClosed() {
        ReliableCommand<String> command = send();
        session.close();
        fail(passing);
        assertThat(Failures.of(command.confirmed())).isSameAs(passing);
        environment.advance(LEASE_MILLIS);
        assertThat(sentMillis).hasSize(1);
    }

    /** As a client does that is shut down. */
    @Test
    void whatFailsAtOnceWhileTheSessionIsClosedIsKnownAtOnce() {
        session.close();
        ReliableCommand<String> command = ReliableCommand.send(
                session, resource, LEASE_MILLIS, cause -> false, isFirst -> CompletableFuture.failedFuture(passing));
        assertThat(command.confirmed()).isCompletedExceptionally();
    }
}
