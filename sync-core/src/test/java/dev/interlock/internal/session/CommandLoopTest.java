package dev.interlock.internal.session;

import static dev.interlock.internal.session.VirtualEnvironment.COMMAND_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.interlock.SyncListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;
import org.slf4j.LoggerFactory;

/** The rules of a loop, each by its events in virtual time. */
class CommandLoopTest {
    private final Throwable passing = new RedisTimeoutException("no answer");
    private final Throwable lasting = new RedisException("WRONGTYPE Operation against a key");

    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final List<Long> reported = new ArrayList<>();
    private final RedisSession session = environment.session(new SyncListener() {
        @Override
        public void redisUnreachable(Throwable cause) {
            reported.add(environment.elapsedMillis());
        }
    });

    private final Resource<?> resource = Resource.ofCommands(session, "name");
    private final RecordingSpeaker speaker = new RecordingSpeaker();
    private final CommandLoop<String> loop = new CommandLoop<>(session, resource, speaker);

    private final class RecordingSpeaker implements CommandLoop.Speaker<String> {
        private final List<Long> sentMillis = new ArrayList<>();
        private final List<CompletableFuture<String>> replies = new ArrayList<>();
        private final List<String> answers = new ArrayList<>();
        private final List<Throwable> refusals = new ArrayList<>();
        private final List<Throwable> failures = new ArrayList<>();
        private boolean hasNothingToSay;
        private boolean isWaitedFor = true;

        /** If there is one: what the next command is answered by at once. */
        private @Nullable CompletableFuture<String> immediate;

        @Override
        public @Nullable Supplier<CompletableFuture<String>> say(long nowNanos) {
            assertThat(resource.isHeld()).isTrue();
            if (hasNothingToSay) {
                return null;
            }
            CompletableFuture<String> reply = immediate == null ? new CompletableFuture<>() : immediate;
            immediate = null;
            return () -> {
                assertThat(resource.isHeld()).as("in an event").isFalse();
                sentMillis.add(environment.elapsedMillis());
                replies.add(reply);
                return reply;
            };
        }

        @Override
        public void answered(long sentNanos, String answer) {
            assertThat(resource.isHeld()).isTrue();
            answers.add(answer);
        }

        @Override
        public boolean refused(Throwable cause) {
            refusals.add(cause);
            return isWaitedFor;
        }

        @Override
        public void failed(Throwable cause) {
            failures.add(cause);
        }
    }

    private void locked(Runnable action) {
        resource.run((state, now) -> action.run());
    }

    private void tell() {
        locked(loop::tell);
    }

    /** Lets time pass with ten beats a second, so that a repeat is seen within 100 ms. */
    private void beatFor(long millis) {
        for (long passed = 0; passed < millis; passed += 100) {
            environment.advance(100);
            locked(() -> loop.beat(false));
        }
    }

    private CompletableFuture<String> reply(int command) {
        return speaker.replies.get(command);
    }

    @Test
    void whatComesUpWhileACommandIsInFlightGoesWithTheNext() {
        tell();
        tell();
        tell();
        assertThat(speaker.replies).hasSize(1);
        reply(0).complete("first");
        assertThat(speaker.replies).hasSize(2);
        reply(1).complete("second");
        assertThat(speaker.replies).hasSize(2);
        assertThat(speaker.answers).containsExactly("first", "second");
        assertThat(loop.isInFlight()).isFalse();
    }

    @Test
    void whatIsToldForLaterGoesWithTheNextBeat() {
        locked(loop::tellLater);
        assertThat(speaker.replies).isEmpty();
        locked(() -> loop.beat(false));
        assertThat(speaker.replies).hasSize(1);
    }

    @Test
    void aBeatAsksIfThreadsWait() {
        locked(() -> loop.beat(false));
        assertThat(speaker.replies).isEmpty();
        locked(() -> loop.beat(true));
        locked(() -> loop.beat(true));
        assertThat(speaker.replies).as("one at a time").hasSize(1);
    }

    @Test
    void aSilentCommandIsRepeatedAfterASecondAndThenAfterEachSilence() {
        tell();
        beatFor(900);
        assertThat(speaker.sentMillis).containsExactly(0L);
        beatFor(8_100);
        assertThat(speaker.sentMillis).containsExactly(0L, 1_000L, 3_000L, 6_000L, 9_000L);
    }

    /** A silence during which Redis has answered somebody else is no outage; the next one is. */
    @Test
    void eachSilenceIsReportedByItself() {
        tell();
        beatFor(COMMAND_MILLIS + 1_000);
        session.outage().heard();
        beatFor(2_000);
        assertThat(session.outage().isActive()).as("heard of in this silence").isFalse();
        beatFor(COMMAND_MILLIS);
        environment.runDue();
        assertThat(reported).containsExactly(COMMAND_MILLIS, 3 * COMMAND_MILLIS);
    }

    @Test
    void anAnswerEndsTheSilence() {
        tell();
        beatFor(1_000);
        reply(1).complete("late");
        tell();
        beatFor(900);
        assertThat(speaker.replies).hasSize(3);
        beatFor(100);
        assertThat(speaker.sentMillis).as("a first repeat anew").containsExactly(0L, 1_000L, 1_000L, 2_000L);
    }

    /** Of a command that was repeated the first attempt may be answered, too; the last is still in flight. */
    @Test
    void anAnswerToAnEarlierAttemptIsTakenWithoutEndingTheLatest() {
        tell();
        beatFor(1_000);
        reply(0).complete("early");
        assertThat(speaker.answers).containsExactly("early");
        assertThat(loop.isInFlight()).isTrue();
        reply(1).complete("latest");
        assertThat(loop.isInFlight()).isFalse();
    }

    @Test
    void aFailureThatMayPassIsRepeatedAfter200Millis() {
        tell();
        reply(0).completeExceptionally(passing);
        assertThat(speaker.failures).containsExactly(passing);
        environment.advance(199);
        assertThat(speaker.replies).hasSize(1);
        environment.advance(1);
        assertThat(speaker.sentMillis).containsExactly(0L, 200L);
        reply(1).complete("done");
        environment.advance(1_000);
        assertThat(speaker.replies).hasSize(2);
    }

    @Test
    void aFailureOfAnEarlierAttemptIsNoReasonToRepeatTheLatest() {
        tell();
        beatFor(1_000);
        reply(0).completeExceptionally(passing);
        environment.advance(500);
        assertThat(speaker.replies).hasSize(2);
        assertThat(speaker.failures).isEmpty();
    }

    /** Each tell sends a command that fails; they share one repeat, 200 ms after the first failure. */
    @Test
    void failuresDoNotMultiplyRepeats() {
        for (int i = 0; i < 5; i++) {
            tell();
            reply(i).completeExceptionally(passing);
            environment.advance(30);
        }
        environment.advance(50);
        assertThat(speaker.replies).hasSize(6);
        reply(5).completeExceptionally(passing);
        environment.advance(199);
        assertThat(speaker.replies).hasSize(6);
        environment.advance(1);
        assertThat(speaker.replies).hasSize(7);
    }

    @Test
    void whatIsRefusedIsNotRepeated() {
        tell();
        tell();
        reply(0).completeExceptionally(lasting);
        assertThat(speaker.refusals).containsExactly(lasting);
        beatFor(5_000);
        assertThat(speaker.replies).hasSize(1);
    }

    /** A refusal ends a wait, whose thread throws it, or it is logged: nobody else would hear of it. */
    @Test
    void aRefusalThatEndsNoWaitIsLogged() {
        Logger logger = (Logger) LoggerFactory.getLogger(Resource.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try {
            tell();
            reply(0).completeExceptionally(lasting);
            assertThat(lines.list).as("a thread throws it").isEmpty();
            speaker.isWaitedFor = false;
            tell();
            reply(1).completeExceptionally(new RedisException("WRONGTYPE that nobody waits for"));
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("'name'", "WRONGTYPE that nobody waits for");
        } finally {
            logger.detachAppender(lines);
        }
    }

    @Test
    void loopWithNothingToSayHasNoCommandInFlight() {
        speaker.hasNothingToSay = true;
        tell();
        assertThat(loop.isBusy()).isFalse();
        beatFor(5_000);
        assertThat(speaker.replies).isEmpty();
    }

    @Test
    void aCommandThatIsForgottenMakesWayForTheNext() {
        tell();
        locked(loop::forget);
        tell();
        assertThat(speaker.replies).hasSize(2);
        reply(0).complete("late");
        assertThat(loop.isInFlight()).as("the second").isTrue();
        reply(1).complete("second");
        assertThat(loop.isInFlight()).isFalse();
    }

    @Test
    void aCommandThatSomebodyElseSendsIsOneLikeOthers() {
        int number = resource.call((state, now) -> {
            int begun = loop.begin(now);
            loop.tell();
            return begun;
        });
        assertThat(speaker.replies).isEmpty();
        loop.received(number, session.now(), "renewed", null);
        assertThat(speaker.answers).containsExactly("renewed");
        assertThat(speaker.replies).as("what was told meanwhile").hasSize(1);
    }

    @Test
    void anAnswerThatIsThereAtOnceIsTaken() {
        speaker.immediate = CompletableFuture.completedFuture("at once");
        tell();
        assertThat(speaker.answers).containsExactly("at once");
        assertThat(loop.isInFlight()).isFalse();
    }
}
