package dev.interlock.internal.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.ImmutableIntArray;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.BarrierEffect.Tell;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.internal.barrier.BarrierStatement.Wish;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a barrier's state makes of generations and their breakage. */
class BarrierStateTest extends BarrierStateFixture {
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
        assertThat(fate(arrival)).isEqualTo(Fate.TRIPPED);
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
        assertThat(answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3))).contains(new Tell());
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
        assertThat(over(1, Outcome.TRIPPED)).as("nobody waits any more").doesNotContain(new Tell());
        assertThat(fate(arrival)).isEqualTo(Fate.TRIPPED);
        assertThat(say().generation()).isEqualTo(2);
        assertThat(over(1, Outcome.BROKEN)).as("a doubled one, or a forged one").doesNotContain(new Tell());
        assertThat(state.state).isEqualTo(State.OPEN);
    }

    /** Redis has gone back to an older copy of its data. Nobody comes to that generation, which is broken again. */
    @Test
    void whatWasBrokenIsBrokenAgainIfRedisHasLostThat() {
        join();
        arrive();
        say();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, 1));
        Arrival next = arrive();
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 1, 0, false, Wish.NONE, 0, 0));
        assertThat(answer(open(1, 1, 1))).contains(new Tell());
        assertThat(next.hasEnded()).isFalse();
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 1, 0, false, Wish.BREAK, 0, 0));
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE, 1));
        assertThat(fate(next)).isEqualTo(Fate.BROKEN);
        assertThat(say().wish()).isEqualTo(Wish.NONE);
    }

    @Test
    void aMessageOfABrokenGenerationLeavesItBroken() {
        join();
        Arrival arrival = arrive();
        say();
        answer(open(1, 1, 1));
        over(1, Outcome.BROKEN);
        assertThat(fate(arrival)).isEqualTo(Fate.BROKEN);
        assertThat(state.state).isEqualTo(State.BROKEN);
        assertThat(state.arrived).isZero();
    }

    /** Redis has lost the breakage in a failover, and counts threads again: nobody would act. */
    @Test
    void aBrokenGenerationThatTripsAgainIsBrokenAgain() {
        join();
        Arrival gone = arrive();
        say();
        answer(open(1, 1, 1));
        say();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, 1));
        assertThat(fate(gone)).isEqualTo(Fate.BROKEN);
        Arrival next = arrive();
        say();
        assertThat(answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, PARTIES)))
                .contains(new Tell());
        assertThat(actors).doesNotContain(next);
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, PARTIES));
        assertThat(fate(next)).isEqualTo(Fate.BROKEN);
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
        assertThat(over(1, Outcome.TRIPPED)).contains(new Tell());
        assertThat(fate(first)).isEqualTo(Fate.TRIPPED);
        assertThat(second.hasEnded()).isFalse();
        assertThat(say().generation()).isEqualTo(1);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 1, 3));
        assertThat(fate(second)).isEqualTo(Fate.TRIPPED);
        assertThat(second.place).isEqualTo(3);
    }

    @Test
    void aForgedMessageEndsNobody() {
        join();
        Arrival arrival = arrive();
        say();
        answer(open(1, 1, 1));
        assertThat(over(7, Outcome.TRIPPED)).contains(new Tell());
        assertThat(over(1, Outcome.of(99))).contains(new Tell());
        assertThat(over(1, Outcome.of(-1))).contains(new Tell());
        assertThat(arrival.hasEnded()).isFalse();
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
        assertThat(answer(reply(5, State.OPEN, NOBODY, 0, Outcome.NONE))).contains(new Tell());
        assertThat(fate(counted)).isEqualTo(Fate.BROKEN);
        assertThat(late.hasEnded()).isFalse();
        assertThat(say().arrivals()).isEqualTo(1);
    }

    @Test
    void aMessageOfAGenerationInWhichNobodyWasCountedEndsNobody() {
        join();
        assertThat(over(1, Outcome.TRIPPED)).doesNotContain(new Tell());
        assertThat(say().generation()).isEqualTo(1);
    }

    @Test
    void aReplyOfAGenerationThatWasSettledEndsNobodyTwice() {
        join();
        Arrival first = arrive();
        say();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, 1));
        assertThat(fate(first)).isEqualTo(Fate.BROKEN);
        Arrival late = arrive();
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.TRIPPED, 1));
        assertThat(late.hasEnded()).isFalse();
    }

    @Test
    void onlyTheThreadWhoseActionItIsActs() {
        join();
        Arrival without = new Arrival(thread, false, 0);
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
        state.end(ended, Fate.CLOSED);
        state.end(leaver, Fate.CLOSED);
        assertThat(say().wish()).as("who has ended wishes nothing").isEqualTo(Wish.NONE);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.BROKEN_HERE, 1));
        assertThat(fate(counted)).isEqualTo(Fate.BROKEN);
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
        assertThat(fate(leaver)).isEqualTo(Fate.BREAKER);
        assertThat(fate(other)).isEqualTo(Fate.BROKEN);
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
        assertThat(fate(second)).isEqualTo(Fate.BREAKER);
        assertThat(fate(first)).isEqualTo(Fate.BROKEN);
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
        assertThat(fate(leaver)).isEqualTo(Fate.TRIPPED);
        assertThat(say().wish()).isEqualTo(Wish.NONE);
    }

    @Test
    void aThreadThatWasInterruptedBeforeBreaksWithoutBeingCounted() {
        join();
        Arrival breaker = comeToBreak();
        assertThat(state.isWaiting()).isTrue();
        assertThat(say()).isEqualTo(new BarrierStatement("stay", 1, 0, false, Wish.BREAK, 0, 0));
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE));
        assertThat(fate(breaker)).isEqualTo(Fate.BREAKER);
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
        assertThat(fate(late)).isEqualTo(Fate.BROKEN);
        assertThat(fate(breaker)).isEqualTo(Fate.BROKEN);
    }

    @Test
    void aThreadThatGoesHasItsGenerationBrokenLater() {
        join();
        Arrival gone = arrive();
        say();
        answer(open(1, 1, 1));
        state.abandon(gone);
        assertThat(effects()).contains(new Tell());
        assertThat(say().wish()).isEqualTo(Wish.BREAK);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE, 1));
        state.abandon(gone);
        assertThat(effects()).as("it has ended").isEmpty();
    }

    @Test
    void aThreadIsNotCountedTogetherWithOneThatHasGone() {
        join();
        Arrival gone = arrive();
        say();
        state.abandon(gone);
        Arrival next = arrive();
        BarrierStatement statement = say();
        assertThat(statement.arrivals()).isEqualTo(1);
        assertThat(statement.wish()).isEqualTo(Wish.BREAK);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN_HERE, 1));
        assertThat(fate(next)).isEqualTo(Fate.BROKEN);
    }
}
