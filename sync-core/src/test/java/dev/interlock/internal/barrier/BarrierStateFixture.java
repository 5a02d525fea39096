package dev.interlock.internal.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.ImmutableIntArray;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;

/** The state of a barrier, driven by events alone: no session, no Redis, no threads. */
abstract class BarrierStateFixture {
    static final int PARTIES = 3;
    static final long NONE = -1;
    static final int NOBODY = 0;

    final Thread thread = new Thread(() -> {}, "arrives");
    final BarrierState state = new BarrierState(PARTIES);
    long version;

    Arrival arrival() {
        return new Arrival(thread, true, 0);
    }

    Arrival arrive() {
        Arrival arrival = arrival();
        state.arrive(arrival, false, version);
        return arrival;
    }

    Arrival comeToBreak() {
        Arrival arrival = arrival();
        state.arrive(arrival, true, version);
        return arrival;
    }

    BarrierStatement say() {
        version++;
        return state.statement();
    }

    BarrierEffects answer(BarrierReply reply) {
        state.answered(reply, version);
        return state.takeEffects();
    }

    /** A reply that says how many have arrived in a generation, none of which is over. */
    static BarrierReply open(long generation, int arrived, int... places) {
        return reply(generation, State.OPEN, arrived, generation, Outcome.NONE, places);
    }

    static BarrierReply reply(long generation, State state, int arrived, long counted, Outcome outcome, int... places) {
        return new BarrierReply(
                Status.MEMBER, generation, state, arrived, NONE, counted, outcome, 0, ImmutableIntArray.copyOf(places));
    }

    static BarrierReply standing(Status status, long generation) {
        return new BarrierReply(status, generation, State.OPEN, 0, NONE, 0, Outcome.NONE, 0, ImmutableIntArray.of());
    }

    void join() {
        assertThat(state.attach()).isTrue();
        assertThat(say().membership()).isEqualTo("join");
        answer(open(1, NOBODY));
        assertThat(state.member).isTrue();
    }

    BarrierEffects over(long generation, Outcome outcome) {
        state.over(generation, outcome);
        return state.takeEffects();
    }
}
