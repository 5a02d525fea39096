package dev.interlock.internal.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.ImmutableIntArray;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.BarrierEffect.Act;
import dev.interlock.internal.barrier.BarrierEffect.End;
import dev.interlock.internal.barrier.BarrierEffect.EndResets;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.internal.session.EffectsProbe;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The state of a barrier, driven by events alone: no session, no Redis, no threads. */
abstract class BarrierStateFixture {
    static final int PARTIES = 3;
    static final long NONE = -1;
    static final int NOBODY = 0;

    final Thread thread = new Thread(() -> {}, "arrives");
    final BarrierState state = new BarrierState(PARTIES);
    long version;

    /** What threads have been told of their arrivals. */
    private final Map<Arrival, Fate> fates = new HashMap<>();

    /** Threads that have been told to act. */
    final Set<Arrival> actors = new HashSet<>();

    /** What threads have been told of their resets. */
    final TreeMap<Long, Fate> resets = new TreeMap<>();

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

    List<BarrierEffect> answer(BarrierReply reply) {
        state.answered(reply, version);
        return effects();
    }

    /** Tells threads what they are to be told, and returns all effects since the last call. */
    List<BarrierEffect> effects() {
        List<BarrierEffect> all = EffectsProbe.poll(state.effects);
        for (BarrierEffect effect : all) {
            if (effect instanceof End end) {
                assertThat(fates.put(end.arrival(), end.fate()))
                        .as("told before")
                        .isNull();
            } else if (effect instanceof Act act) {
                actors.add(act.arrival());
            } else if (effect instanceof EndResets end) {
                resets.put(end.last(), end.fate());
            }
        }
        return all;
    }

    /** What a thread has been told of its arrival, null if nothing yet. */
    @Nullable
    Fate fate(Arrival arrival) {
        effects();
        assertThat(arrival.fate).isEqualTo(fates.get(arrival));
        return arrival.fate;
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

    List<BarrierEffect> over(long generation, Outcome outcome) {
        state.over(generation, outcome);
        return effects();
    }
}
