package dev.interlock.internal.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.ImmutableIntArray;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.BarrierEffect.Ask;
import dev.interlock.internal.barrier.BarrierEffect.Left;
import dev.interlock.internal.barrier.BarrierEffect.Tell;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.internal.barrier.BarrierStatement.Wish;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a barrier's state makes of actions, resets, and the membership of the session. */
class BarrierMembershipTest extends BarrierStateFixture {
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
        assertThat(actors).containsExactly(last);
        assertThat(last.hasEnded()).isFalse();
        answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, 3));
        assertThat(say().wish()).isEqualTo(Wish.NONE);
        state.acted(last, true);
        assertThat(say().wish()).isEqualTo(Wish.ACTED);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3));
        assertThat(fate(last)).isEqualTo(Fate.TRIPPED);
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
        assertThat(actors).doesNotContain(first);
        assertThat(actors).containsExactly(last);
        state.acted(first, false);
        assertThat(say().wish()).isEqualTo(Wish.NONE);
    }

    @Test
    void anActionThatFailsBreaksTheGeneration() {
        Arrival last = acting();
        state.acted(last, false);
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
        answer(reply(1, State.BROKEN, NOBODY, 1, Outcome.BROKEN, 3));
        assertThat(fate(last)).isEqualTo(Fate.BROKEN);
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
        effects();
        say();
        assertThat(answer(reply(1, State.TRIPPING_HERE, PARTIES, 1, Outcome.NONE, 3)))
                .contains(new Tell());
        assertThat(actors).doesNotContain(last);
        assertThat(say().wish()).isEqualTo(Wish.FAILED);
    }

    @Test
    void anActionMayResetTheBarrier() {
        Arrival last = acting();
        assertThat(state.renew(new Thread(() -> {}))).as("another thread").isNull();
        assertThat(state.renew(thread)).isSameAs(last);
        assertThat(last.renewed).isTrue();
        assertThat(say().wish()).isEqualTo(Wish.RENEW);
        answer(reply(2, State.OPEN, NOBODY, 1, Outcome.BROKEN, 3));
        assertThat(fate(last)).isEqualTo(Fate.BROKEN);
        assertThat(state.renew(thread)).as("it acts no more").isNull();
    }

    @Test
    void anActionThatHasEndedResetsNothing() {
        state.end(acting(), Fate.CLOSED);
        assertThat(state.renew(thread)).isNull();
    }

    // ---- resets

    @Test
    void aResetIsToldUntilItIsDone() {
        join();
        state.reset(10);
        state.reset(20);
        assertThat(state.isWaiting()).isTrue();
        assertThat(say().resets()).isEqualTo(20);
        answer(reset(10));
        assertThat(resets).containsExactly(Map.entry(10L, Fate.TRIPPED));
        assertThat(state.isWaiting()).isTrue();
        assertThat(say().resetsDone()).isEqualTo(10);
        answer(reset(20));
        assertThat(resets).containsKey(20L);
        assertThat(state.isWaiting()).isFalse();
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
        effects();
        state.reset(10);
        assertThat(state.isUnused()).isFalse();
        say();
        answer(reset(10));
        assertThat(state.isUnused()).isTrue();
        comeToBreak();
        assertThat(state.isUnused()).isFalse();
    }

    // ---- when to ask

    private List<BarrierEffect> due(long millis) {
        return answer(
                new BarrierReply(Status.MEMBER, 1, State.OPEN, 1, millis, 1, Outcome.NONE, 0, ImmutableIntArray.of(1)));
    }

    @Test
    void theEndOfAnotherMembersLeaseIsAskedForInTime() {
        join();
        arrive();
        say();
        assertThat(due(NONE)).isEmpty();
        assertThat(due(1_000)).as("the pulse comes before").isEmpty();
        assertThat(due(300)).containsExactly(new Ask(301));
    }

    @Test
    void nobodyAsksIfNobodyWaits() {
        join();
        assertThat(due(300)).isEmpty();
    }

    // ---- membership

    @Test
    void anUnusedSessionLeaves() {
        join();
        assertThat(state.isUnused()).isFalse();
        state.detach();
        assertThat(effects()).contains(new Tell());
        assertThat(state.isWaiting()).as("for Redis to confirm that").isTrue();
        assertThat(say().membership()).isEqualTo("leave");
        assertThat(answer(standing(Status.LEFT, 1))).containsExactly(new Left());
        assertThat(state.left).isTrue();
        assertThat(state.mayBeKnown()).isFalse();
        assertThat(state.attach()).isFalse();
        assertThat(over(1, Outcome.NONE)).doesNotContain(new Left());
    }

    @Test
    void aSessionThatRedisHasNotHeardOfIsGoneAtOnce() {
        state.attach();
        state.detach();
        assertThat(effects()).contains(new Left());
        assertThat(state.left).isTrue();
    }

    @Test
    void aSessionThatIsUsedAgainWhileItLeavesJoinsAnew() {
        join();
        state.detach();
        say();
        state.attach();
        assertThat(answer(standing(Status.LEFT, 1))).contains(new Tell());
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
        assertThat(answer(reply(2, State.OPEN, NOBODY, 1, Outcome.TRIPPED, 3))).contains(new Tell());
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
        assertThat(answer(standing(Status.FORGOTTEN, 0))).contains(new Tell());
        assertThat(fate(counted)).isEqualTo(Fate.BROKEN);
        assertThat(fate(breaker)).isEqualTo(Fate.BROKEN);
        assertThat(state.member).isFalse();
        assertThat(say().membership()).isEqualTo("rejoin");
        answer(open(1, NOBODY));
        assertThat(say().membership()).isEqualTo("stay");
    }

    @Test
    void otherPartiesAreRefused() {
        state.attach();
        state.reset(10);
        Arrival arrival = arrive();
        say();
        answer(standing(Status.OTHER_PARTIES, 5));
        assertThat(state.otherParties).isEqualTo(5);
        assertThat(resets).containsExactly(Map.entry(10L, Fate.REFUSED));
        assertThat(fate(arrival)).isEqualTo(Fate.BROKEN);
        assertThat(state.member).isFalse();
    }

    @Test
    void aRefusalEndsAllThatWaits() {
        join();
        Arrival arrival = arrive();
        Arrival breaker = comeToBreak();
        state.reset(10);
        IllegalStateException cause = new IllegalStateException("WRONGTYPE");
        state.refused(cause);
        assertThat(fate(arrival)).isEqualTo(Fate.REFUSED);
        assertThat(arrival.failure).isSameAs(cause);
        assertThat(fate(breaker)).isEqualTo(Fate.REFUSED);
        assertThat(resets).containsExactly(Map.entry(10L, Fate.REFUSED));
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
        state.reset(10);
        state.close();
        assertThat(fate(arrival)).isEqualTo(Fate.CLOSED);
        assertThat(fate(breaker)).isEqualTo(Fate.CLOSED);
        assertThat(resets).containsExactly(Map.entry(10L, Fate.CLOSED));
        assertThat(state.mayBeKnown()).isTrue();
        assertThat(say().membership()).isEqualTo("leave");
        assertThat(answer(standing(Status.FORGOTTEN, 0))).doesNotContain(new Tell());
        assertThat(answer(standing(Status.LEFT, 1))).contains(new Left());
    }
}
