package dev.interlock.internal.barrier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.ImmutableIntArray;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.internal.barrier.BarrierStatement.Wish;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A barrier's state, driven by events alone: no session, no Redis, no threads. */
class BarrierStateTest {
    private static final int PARTIES = 3;
    private static final long NONE = -1;
    private static final int NOBODY = 0;

    private final Thread thread = new Thread(() -> {}, "arrives");
    private final BarrierState state = new BarrierState(PARTIES);
    private long version;
    private long nowMillis;

    private Arrival arrival() {
        return new Arrival(thread, true);
    }

    private Arrival arrive() {
        Arrival arrival = arrival();
        state.arrive(arrival, false, version);
        return arrival;
    }

    private Arrival comeToBreak() {
        Arrival arrival = arrival();
        state.arrive(arrival, true, version);
        return arrival;
    }

    private BarrierStatement say() {
        version++;
        return state.statement();
    }

    private BarrierEffects answer(BarrierReply reply) {
        state.answered(reply, version, TimeUnit.MILLISECONDS.toNanos(nowMillis));
        return state.takeEffects();
    }

    /** A reply that says how many have arrived in a generation, none of which is over. */
    private static BarrierReply open(long generation, int arrived, int... places) {
        return reply(generation, State.OPEN, arrived, generation, Outcome.NONE, places);
    }

    private static BarrierReply reply(
            long generation, State state, int arrived, long counted, Outcome outcome, int... places) {
        return new BarrierReply(
                Status.MEMBER, generation, state, arrived, NONE, counted, outcome, 0, ImmutableIntArray.copyOf(places));
    }

    private static BarrierReply standing(Status status, long generation) {
        return new BarrierReply(status, generation, State.OPEN, 0, NONE, 0, Outcome.NONE, 0, ImmutableIntArray.of());
    }

    private void join() {
        assertThat(state.attach()).isTrue();
        assertThat(say().membership()).isEqualTo("join");
        answer(open(1, NOBODY));
        assertThat(state.member).isTrue();
    }

    private BarrierEffects over(long generation, Outcome outcome) {
        state.over(generation, outcome);
        return state.takeEffects();
    }

    // ---- generations

    @Test
    void aReplyIsReadInTheScriptsOrder() {
        BarrierReply reply = BarrierReply.of(List.of(1L, 2L, 3L, 4L, 5L, 6L, 3L, 8L, 9L, 10L));
        assertThat(reply)
                .isEqualTo(new BarrierReply(
                        Status.MEMBER,
                        2,
                        State.TRIPPING_HERE,
                        4,
                        5,
                        6,
                        Outcome.BROKEN_HERE,
                        8,
                        ImmutableIntArray.of(9, 10)));
    }

    @Test
    void threadsAreToldTheirPlacesInTheOrderOfArrival() {
        join();
        Arrival first = arrive();
        Arrival second = arrive();
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 1, 2, true, Wish.NONE, 0, 0));
        answer(open(1, 2, 1, 2));
        assertThat(first.place).isEqualTo(1);
        assertThat(second.place).isEqualTo(2);
        assertThat(state.arrived).isEqualTo(2);
        assertThat(first.hasEnded()).isFalse();
        assertThat(state).hasToString("generation 1, OPEN, 2 threads of this session");
    }

    @Test
    void aReplyEndsAGenerationThatTripped() {
        join();
        Arrival arrival = arrive();
        say();
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3));
        assertThat(arrival.turn).isCompletedWithValue(Fate.TRIPPED);
        assertThat(arrival.end).isCompletedWithValue(Fate.TRIPPED);
        assertThat(arrival.place).isEqualTo(3);
        assertThat(say().generation()).isEqualTo(2);
        assertThat(state.isWaiting()).isFalse();
    }

    @Test
    void aThreadThatWasNotCountedComesToTheNextGeneration() {
        join();
        Arrival first = arrive();
        say();
        Arrival late = arrive();
        assertThat(answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3)).tells)
                .isTrue();
        assertThat(first.hasEnded()).isTrue();
        assertThat(late.hasEnded()).isFalse();
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 2, 1, true, Wish.NONE, 0, 0));
    }

    @Test
    void aMessageEndsTheThreadsThatAReplyHasCounted() {
        join();
        Arrival arrival = arrive();
        say();
        answer(open(1, 1, 1));
        assertThat(over(1, Outcome.TRIPPED).tells).as("nobody waits any more").isFalse();
        assertThat(arrival.end).isCompletedWithValue(Fate.TRIPPED);
        assertThat(say().generation()).isEqualTo(2);
        assertThat(over(1, Outcome.BROKEN).tells)
                .as("a doubled one, or a forged one")
                .isFalse();
        assertThat(state.state).isEqualTo(State.OPEN);
    }

    @Test
    void aMessageOfABrokenGenerationLeavesItBroken() {
        join();
        Arrival arrival = arrive();
        say();
        answer(open(1, 1, 1));
        over(1, Outcome.BROKEN);
        assertThat(arrival.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(state.state).isEqualTo(State.BROKEN);
        assertThat(state.arrived).isZero();
    }

    /** The session doesn't name another generation before an answer says how many were counted. */
    @Test
    void aMessageBeforeTheReplyThatCountsHasTheSessionAsk() {
        join();
        Arrival first = arrive();
        say();
        answer(open(1, 1, 1));
        Arrival second = arrive();
        say();
        assertThat(over(1, Outcome.TRIPPED).tells).isTrue();
        assertThat(first.end).isCompletedWithValue(Fate.TRIPPED);
        assertThat(second.hasEnded()).isFalse();
        assertThat(say().generation()).isEqualTo(1);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 1, 3));
        assertThat(second.end).isCompletedWithValue(Fate.TRIPPED);
        assertThat(second.place).isEqualTo(3);
    }

    @Test
    void aForgedMessageEndsNobody() {
        join();
        Arrival arrival = arrive();
        say();
        answer(open(1, 1, 1));
        assertThat(over(7, Outcome.TRIPPED).tells).isTrue();
        assertThat(over(1, Outcome.of(99)).tells).isTrue();
        assertThat(over(1, Outcome.of(-1)).tells).isTrue();
        assertThat(arrival.hasEnded()).isFalse();
    }

    @Test
    void aReplyThatWasOvertakenByAMessageChangesNothing() {
        join();
        arrive();
        say();
        answer(open(1, 1, 1));
        over(1, Outcome.TRIPPED);
        Arrival next = arrive();
        say();
        answer(open(1, 1, 1));
        assertThat(next.place).as("it tells of the generation before").isZero();
        assertThat(state.arrived).isZero();
    }

    /** The record of a generation is gone, so what became of it is unknown. */
    @Test
    void threadsThatWereCountedInAGenerationWithoutARecordAreBroken() {
        join();
        Arrival counted = arrive();
        say();
        answer(open(1, 1, 1));
        Arrival late = arrive();
        say();
        assertThat(answer(reply(5, State.OPEN, NOBODY, 0, Outcome.NONE)).tells).isTrue();
        assertThat(counted.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(late.hasEnded()).isFalse();
        assertThat(say().arrivals()).isEqualTo(1);
    }

    @Test
    void aThreadThatBreaksComesToTheNextGenerationIfItWasNotHeard() {
        join();
        Arrival breaker = comeToBreak();
        say();
        assertThat(answer(open(2, NOBODY)).tells).isTrue();
        assertThat(breaker.hasEnded()).isFalse();
        assertThat(say().wish()).isEqualTo(Wish.BREAK);
    }

    @Test
    void aMessageAfterTheReplyOfABrokenGenerationChangesNothing() {
        join();
        say();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN));
        Arrival late = arrive();
        assertThat(over(1, Outcome.TRIPPED).tells).as("somebody waits").isTrue();
        assertThat(late.hasEnded()).isFalse();
        assertThat(state.state).isEqualTo(State.BROKEN);
    }

    @Test
    void aMessageOfAGenerationInWhichNobodyWasCountedEndsNobody() {
        join();
        assertThat(over(1, Outcome.TRIPPED).tells).isFalse();
        assertThat(say().generation()).isEqualTo(1);
    }

    @Test
    void aReplyOfAGenerationThatWasSettledEndsNobodyTwice() {
        join();
        Arrival first = arrive();
        say();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, 1));
        assertThat(first.end).isCompletedWithValue(Fate.BROKEN);
        Arrival late = arrive();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.TRIPPED, 1));
        assertThat(late.hasEnded()).isFalse();
    }

    @Test
    void onlyTheThreadWhoseActionItIsActs() {
        join();
        Arrival without = new Arrival(thread, false);
        state.arrive(without, false, version);
        assertThat(say().acts()).isFalse();
        arrive();
        assertThat(say().acts()).isTrue();
    }

    /** The session was closed before it could see the thread. */
    @Test
    void aThreadThatHasEndedBeforeItWasCountedIsForgotten() {
        join();
        Arrival counted = arrive();
        say();
        Arrival ended = arrive();
        Arrival leaver = arrive();
        state.leave(leaver);
        ended.end(Fate.CLOSED);
        leaver.end(Fate.CLOSED);
        assertThat(say().wish()).as("who has ended wishes nothing").isEqualTo(Wish.NONE);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.BROKEN_HERE, 1));
        assertThat(counted.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 2, 0, false, Wish.NONE, 0, 0));
    }

    // ---- breakage

    @Test
    void aThreadThatLeavesAsksForTheBreakage() {
        join();
        Arrival leaver = arrive();
        Arrival other = arrive();
        say();
        answer(open(1, 2, 1, 2));
        state.leave(leaver);
        state.leave(leaver);
        assertThat(say().wish()).isEqualTo(Wish.BREAK);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE, 1, 2));
        assertThat(leaver.end).isCompletedWithValue(Fate.BREAKER);
        assertThat(other.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(say().wish()).isEqualTo(Wish.NONE);
    }

    @Test
    void theFirstOfThoseThatLeaveIsTheBreaker() {
        join();
        Arrival first = arrive();
        Arrival second = arrive();
        state.leave(second);
        state.leave(first);
        say();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE, 1, 2));
        assertThat(second.end).isCompletedWithValue(Fate.BREAKER);
        assertThat(first.end).isCompletedWithValue(Fate.BROKEN);
    }

    @Test
    void aThreadThatLeavesTooLateHasTripped() {
        join();
        Arrival leaver = arrive();
        say();
        answer(open(1, 1, 1));
        state.leave(leaver);
        say();
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 1));
        assertThat(leaver.end).isCompletedWithValue(Fate.TRIPPED);
        assertThat(say().wish()).isEqualTo(Wish.NONE);
    }

    @Test
    void aThreadThatWasInterruptedBeforeBreaksWithoutBeingCounted() {
        join();
        Arrival breaker = comeToBreak();
        assertThat(state.isWaiting()).isTrue();
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 1, 0, false, Wish.BREAK, 0, 0));
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE));
        assertThat(breaker.end).isCompletedWithValue(Fate.BREAKER);
        assertThat(state.isWaiting()).isFalse();
    }

    @Test
    void aThreadThatComesToABrokenGenerationIsBroken() {
        join();
        say();
        Arrival late = arrive();
        answer(reply(1, State.BROKEN, NOBODY, 0, Outcome.NONE));
        assertThat(late.hasEnded()).as("the command didn't tell of it").isFalse();
        Arrival breaker = comeToBreak();
        say();
        answer(reply(1, State.BROKEN, NOBODY, 0, Outcome.NONE));
        assertThat(late.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(breaker.end).isCompletedWithValue(Fate.BROKEN);
    }

    @Test
    void aThreadThatGoesHasItsGenerationBrokenLater() {
        join();
        Arrival gone = arrive();
        say();
        answer(open(1, 1, 1));
        state.abandon(gone);
        assertThat(state.takeEffects().tells).isTrue();
        assertThat(say().wish()).isEqualTo(Wish.BREAK);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE, 1));
        state.abandon(gone);
        assertThat(state.takeEffects().tells).as("it has ended").isFalse();
    }

    // ---- actions

    private Arrival acting() {
        join();
        Arrival last = arrive();
        say();
        answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, 3));
        return last;
    }

    @Test
    void theLastThreadActs() {
        Arrival last = acting();
        assertThat(last.turn).isCompletedWithValue(Fate.ACTS);
        assertThat(last.hasEnded()).isFalse();
        answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, 3));
        assertThat(say().wish()).isEqualTo(Wish.NONE);
        state.acted(last, true);
        assertThat(say().wish()).isEqualTo(Wish.ACTED);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3));
        assertThat(last.end).isCompletedWithValue(Fate.TRIPPED);
        state.acted(last, true);
        assertThat(say().wish()).as("it has ended").isEqualTo(Wish.NONE);
    }

    @Test
    void othersDoNotAct() {
        join();
        Arrival first = arrive();
        Arrival last = arrive();
        say();
        answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, 2, 3));
        assertThat(first.turn).isNotDone();
        assertThat(last.turn).isCompletedWithValue(Fate.ACTS);
        state.acted(first, false);
        assertThat(say().wish()).isEqualTo(Wish.NONE);
    }

    @Test
    void anActionThatFailsBreaksTheGeneration() {
        Arrival last = acting();
        state.acted(last, false);
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, 3));
        assertThat(last.end).isCompletedWithValue(Fate.BROKEN);
    }

    @Test
    void anActorThatGoesHasFailed() {
        Arrival last = acting();
        state.abandon(last);
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
        state.abandon(last);
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
    }

    @Test
    void anActorThatGoesBeforeItsTurnHasFailed() {
        join();
        Arrival last = arrive();
        state.abandon(last);
        state.takeEffects();
        say();
        BarrierEffects effects = answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, 3));
        assertThat(effects.tells).isTrue();
        assertThat(last.turn).isNotDone();
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
    }

    @Test
    void anActionMayResetTheBarrier() {
        Arrival last = acting();
        assertThat(state.renew(new Thread(() -> {}))).as("another thread").isNull();
        CompletableFuture<Fate> done = requireNonNull(state.renew(thread));
        assertThat(last.renewed).isTrue();
        assertThat(say().wish()).isEqualTo(Wish.RENEW);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.BROKEN, 3));
        assertThat(done).isCompletedWithValue(Fate.BROKEN);
        assertThat(state.renew(thread)).as("it acts no more").isNull();
    }

    @Test
    void anActionThatHasEndedResetsNothing() {
        acting().end(Fate.CLOSED);
        assertThat(state.renew(thread)).isNull();
    }

    // ---- resets

    @Test
    void aResetIsToldUntilItIsDone() {
        join();
        CompletableFuture<Fate> first = state.reset(10);
        CompletableFuture<Fate> second = state.reset(20);
        assertThat(state.isWaiting()).isTrue();
        assertThat(say().resets()).isEqualTo(20);
        answer(reset(10));
        assertThat(first).isCompletedWithValue(Fate.TRIPPED);
        assertThat(second).isNotDone();
        assertThat(say().resetsDone()).isEqualTo(10);
        answer(reset(20));
        assertThat(second).isCompletedWithValue(Fate.TRIPPED);
        say();
        answer(reset(10));
        assertThat(say().resetsDone()).as("a late reply takes nothing back").isEqualTo(20);
    }

    private static BarrierReply reset(long number) {
        return new BarrierReply(Status.MEMBER, 1, State.OPEN, 0, NONE, 0, Outcome.NONE, number, ImmutableIntArray.of());
    }

    @Test
    void aSessionIsUsedWhileItResetsOrBreaks() {
        join();
        state.detach();
        state.takeEffects();
        state.reset(10);
        assertThat(state.isUnused()).isFalse();
        say();
        answer(reset(10));
        assertThat(state.isUnused()).isTrue();
        comeToBreak();
        assertThat(state.isUnused()).isFalse();
    }

    // ---- when to ask

    private BarrierEffects due(long millis) {
        return answer(
                new BarrierReply(Status.MEMBER, 1, State.OPEN, 1, millis, 1, Outcome.NONE, 0, ImmutableIntArray.of(1)));
    }

    @Test
    void theEndOfAnotherMembersLeaseIsAskedForInTime() {
        join();
        arrive();
        say();
        assertThat(due(NONE).askMillis).isEqualTo(BarrierEffects.NEVER);
        assertThat(due(1_000).askMillis).as("the pulse comes before").isEqualTo(BarrierEffects.NEVER);
        assertThat(due(300).askMillis).isEqualTo(301);
        assertThat(due(400).askMillis).as("a timer runs").isEqualTo(BarrierEffects.NEVER);
        assertThat(due(200).askMillis).as("a shorter one").isEqualTo(201);
        nowMillis = 202;
        assertThat(due(400).askMillis).as("the timer is over").isEqualTo(401);
    }

    @Test
    void nobodyAsksIfNobodyWaits() {
        join();
        assertThat(due(300).askMillis).isEqualTo(BarrierEffects.NEVER);
    }

    // ---- membership

    @Test
    void anUnusedSessionLeaves() {
        join();
        assertThat(state.isUnused()).isFalse();
        state.detach();
        assertThat(state.takeEffects().tells).isTrue();
        assertThat(state.isWaiting()).as("for Redis to confirm that").isTrue();
        assertThat(say().membership()).isEqualTo("leave");
        BarrierEffects effects = answer(standing(Status.LEFT, 1));
        assertThat(effects.ended).isTrue();
        assertThat(state.left).isTrue();
        assertThat(state.mayBeKnown()).isFalse();
        assertThat(state.attach()).isFalse();
        assertThat(over(1, Outcome.NONE).ended).isFalse();
    }

    @Test
    void aSessionThatRedisHasNotHeardOfIsGoneAtOnce() {
        state.attach();
        state.detach();
        assertThat(state.takeEffects().ended).isTrue();
        assertThat(state.left).isTrue();
    }

    @Test
    void aSessionThatIsUsedAgainWhileItLeavesJoinsAnew() {
        join();
        state.detach();
        say();
        state.attach();
        assertThat(answer(standing(Status.LEFT, 1)).tells).isTrue();
        assertThat(state.left).isFalse();
        assertThat(say().membership()).isEqualTo("join");
    }

    @Test
    void aSessionIsUsedWhileThreadsAreInIt() {
        join();
        Arrival arrival = arrive();
        state.detach();
        assertThat(state.isUnused()).isFalse();
        say();
        assertThat(answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3)).tells)
                .isTrue();
        assertThat(arrival.hasEnded()).isTrue();
        assertThat(state.isUnused()).isTrue();
        assertThat(say().membership()).isEqualTo("leave");
    }

    @Test
    void whatWaitsInABarrierThatRedisForgetsIsBroken() {
        join();
        Arrival counted = arrive();
        Arrival breaker = comeToBreak();
        say();
        assertThat(answer(standing(Status.FORGOTTEN, 0)).tells).isTrue();
        assertThat(counted.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(breaker.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(state.member).isFalse();
        assertThat(say().membership()).isEqualTo("rejoin");
        answer(open(1, NOBODY));
        assertThat(say().membership()).isEqualTo("stay");
    }

    @Test
    void otherPartiesAreRefused() {
        state.attach();
        CompletableFuture<Fate> reset = state.reset(10);
        Arrival arrival = arrive();
        say();
        answer(standing(Status.OTHER_PARTIES, 5));
        assertThat(state.otherParties).isEqualTo(5);
        assertThat(reset).isCompletedWithValue(Fate.REFUSED);
        assertThat(arrival.end).isCompletedWithValue(Fate.BROKEN);
        assertThat(state.member).isFalse();
    }

    @Test
    void aRefusalEndsAllThatWaits() {
        join();
        Arrival arrival = arrive();
        Arrival breaker = comeToBreak();
        CompletableFuture<Fate> reset = state.reset(10);
        IllegalStateException cause = new IllegalStateException("WRONGTYPE");
        state.refused(cause);
        assertThat(arrival.end).isCompletedWithValue(Fate.REFUSED);
        assertThat(arrival.failure).isSameAs(cause);
        assertThat(breaker.end).isCompletedWithValue(Fate.REFUSED);
        assertThat(reset).isCompletedWithValue(Fate.REFUSED);
        assertThat(state.isWaiting()).isFalse();
        assertThat(say())
                .as("what may be counted is to be broken")
                .isEqualTo(new BarrierStatement("rejoin", 0, 0, false, Wish.NONE, 10, 0));
    }

    @Test
    void aClosedSessionLeaves() {
        join();
        Arrival arrival = arrive();
        Arrival breaker = comeToBreak();
        CompletableFuture<Fate> reset = state.reset(10);
        state.close();
        assertThat(arrival.end).isCompletedWithValue(Fate.CLOSED);
        assertThat(breaker.end).isCompletedWithValue(Fate.CLOSED);
        assertThat(reset).isCompletedWithValue(Fate.CLOSED);
        assertThat(state.mayBeKnown()).isTrue();
        assertThat(say().membership()).isEqualTo("leave");
        assertThat(answer(standing(Status.FORGOTTEN, 0)).tells).isFalse();
        assertThat(answer(standing(Status.LEFT, 1)).ended).isTrue();
    }
}
