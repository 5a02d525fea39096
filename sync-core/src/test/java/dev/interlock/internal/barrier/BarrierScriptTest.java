package dev.interlock.internal.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.barrier.BarrierCommand.Caller;
import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.State;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What meet.lua does, command by command, repeated and late. */
class BarrierScriptTest {
    private static RedisServer server;

    private BarrierCommand command;

    @BeforeAll
    static void launch() {
        server = RedisServer.launch();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    @BeforeEach
    void name() {
        command = new BarrierCommand(server, UUID.randomUUID().toString());
    }

    @Test
    void firstSessionMakesTheBarrier() {
        Caller a = command.caller("a", 3);
        BarrierReply standing = a.join();
        assertThat(standing.status()).isEqualTo(Status.MEMBER);
        assertThat(standing.state()).isEqualTo(State.OPEN);
        assertThat(standing.arrived()).isZero();
        assertThat(standing.dueMillis()).isNegative();
        BarrierReply other = command.caller("b", 4).join();
        assertThat(other.status()).isEqualTo(Status.OTHER_PARTIES);
        assertThat(other.generation()).isEqualTo(3);
        assertThat(command.caller("c", 3).join().dueMillis()).isBetween(1L, BarrierCommand.LEASE);
        command.assertAllExpire();
    }

    /** The next session that leaves may have a shorter lease than the one before. */
    @Test
    void aKeyThatWasEvictedExpiresAgain() {
        Caller a = command.joined("a", 3);
        Caller b = command.joined("b", 3);
        a.leave();
        command.evictEnds();
        b.leave();
        command.assertAllExpire();
    }

    @Test
    void arrivalsAreCountedOnce() {
        Caller a = command.joined("a", 5);
        Caller b = command.joined("b", 5);
        assertThat(a.arrive(2).places().asList()).containsExactly(1, 2);
        assertThat(a.repeat().places().asList()).containsExactly(1, 2);
        assertThat(a.arrive(2).places().asList()).containsExactly(1, 2);
        assertThat(b.arrive(1).places().asList()).containsExactly(3);
        assertThat(a.arrive(3).places().asList()).containsExactly(1, 2, 4);
        assertThat(a.arrive(3).arrived()).isEqualTo(4);
        BarrierReply late = a.late(1);
        assertThat(late.arrived()).isEqualTo(4);
        assertThat(late.places().asList()).containsExactly(1, 2, 4);
    }

    @Test
    void lastArrivalTripsAndTellsAll() {
        Caller a = command.joined("a", 3);
        Caller b = command.caller("b", 3);
        long generation = b.join().generation();
        a.arrive(2);
        BarrierReply last = b.arrive(2);
        assertThat(last.generation()).isEqualTo(generation + 1);
        assertThat(last.outcome()).isEqualTo(Outcome.TRIPPED);
        assertThat(last.places().asList()).as("one too many").containsExactly(3);
        assertThat(last.arrived()).isZero();
        // An arrival in what is over counts nowhere, and is told what became of it.
        BarrierReply first = a.arrive(3);
        assertThat(first.counted()).isEqualTo(generation);
        assertThat(first.outcome()).isEqualTo(Outcome.TRIPPED);
        assertThat(first.places().asList()).containsExactly(1, 2);
        assertThat(first.arrived()).isZero();
    }

    @Test
    void onlyTheSessionThatRunsTheActionTrips() {
        Caller a = command.joined("a", 2);
        Caller b = command.joined("b", 2);
        a.arrive(1);
        assertThat(b.acting().arrive(1).state()).isEqualTo(State.TRIPPING_HERE);
        assertThat(a.wish("acted").state()).isEqualTo(State.TRIPPING);
        assertThat(a.wish("break").state()).isEqualTo(State.TRIPPING);
        assertThat(b.wish("break").state()).isEqualTo(State.TRIPPING_HERE);
        assertThat(a.reset().state()).isEqualTo(State.TRIPPING);
        BarrierReply tripped = b.wish("acted");
        assertThat(tripped.outcome()).isEqualTo(Outcome.TRIPPED);
        assertThat(b.repeat().generation()).isEqualTo(tripped.generation());
        // The reset that had to wait.
        BarrierReply reset = a.ask();
        assertThat(reset.outcome()).isEqualTo(Outcome.TRIPPED);
        assertThat(reset.generation()).isEqualTo(tripped.generation() + 1);
    }

    @Test
    void breakageIsOfOneGeneration() {
        Caller a = command.joined("a", 2);
        Caller b = command.joined("b", 2);
        a.arrive(1);
        BarrierReply broken = b.wish("break");
        assertThat(broken.state()).isEqualTo(State.BROKEN);
        assertThat(broken.outcome()).isEqualTo(Outcome.BROKEN_HERE);
        assertThat(a.ask().outcome()).isEqualTo(Outcome.BROKEN);
        assertThat(b.repeat().outcome()).isEqualTo(Outcome.BROKEN_HERE);
        BarrierReply renewed = a.reset();
        assertThat(renewed.state()).isEqualTo(State.OPEN);
        assertThat(renewed.generation()).isEqualTo(broken.generation() + 1);
        assertThat(a.repeat().generation()).isEqualTo(renewed.generation());
        assertThat(a.ask().generation()).as("done before").isEqualTo(renewed.generation());
        assertThat(b.wish("break").state()).as("of a generation that is over").isEqualTo(State.OPEN);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void deathBreaks(boolean arrived) {
        Caller a = command.joined("a", 2);
        Caller b = command.joined("b", 2);
        (arrived ? b : a).arrive(1);
        command.lapse(b);
        BarrierReply standing = a.ask();
        assertThat(standing.state()).isEqualTo(State.BROKEN);
        assertThat(standing.dueMillis()).as("nobody else").isNegative();
        BarrierReply dead = b.arrive(1);
        assertThat(dead.status()).isEqualTo(Status.FORGOTTEN);
        assertThat(dead.outcome()).isEqualTo(arrived ? Outcome.BROKEN : Outcome.NONE);
        assertThat(a.reset().state()).isEqualTo(State.OPEN);
        BarrierReply back = b.rejoin();
        assertThat(back.status()).isEqualTo(Status.MEMBER);
        assertThat(back.state()).as("its death had its effect").isEqualTo(State.OPEN);
        command.assertAllExpire();
    }

    @Test
    void dataLossBreaksUntilReset() {
        Caller a = command.joined("a", 2);
        Caller b = command.caller("b", 2);
        long generation = b.join().generation();
        a.arrive(1);
        command.forget();
        BarrierReply newcomer = command.caller("c", 2).join();
        assertThat(newcomer.state()).isEqualTo(State.OPEN);
        assertThat(newcomer.generation()).isGreaterThan(generation);
        assertThat(a.arrive(1).status()).isEqualTo(Status.FORGOTTEN);
        assertThat(a.rejoin().state()).isEqualTo(State.BROKEN);
        assertThat(a.reset().state()).isEqualTo(State.OPEN);
        assertThat(b.ask().status()).isEqualTo(Status.FORGOTTEN);
        assertThat(b.rejoin().state()).as("of the same loss").isEqualTo(State.OPEN);
    }

    /** Redis has gone back to an older copy of its data, in which a thread has arrived that has long gone. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anOlderCopyIsBrokenUntilReset(boolean arrived) {
        Caller a = command.joined("a", 2);
        Caller b = command.joined("b", 2);
        Caller c = command.joined("c", 2);
        a.arrive(1);
        command.saveCopy();
        b.arrive(1);
        a.catchUp();
        b.catchUp();
        command.goBack();
        Caller first = arrived ? a : b;
        assertThat(first.arriveOneMore().status()).isEqualTo(Status.FORGOTTEN);
        assertThat(first.rejoin().state()).isEqualTo(State.BROKEN);
        assertThat(a.ask().state()).isEqualTo(State.BROKEN);
        assertThat(c.arrive(1).state()).isEqualTo(State.BROKEN);
        BarrierReply renewed = c.reset();
        assertThat(renewed.state()).isEqualTo(State.OPEN);
        assertThat(renewed.arrived()).isZero();
        a.catchUp();
        assertThat(a.arriveOneMore().arrived()).isEqualTo(1);
        b.catchUp();
        assertThat(b.arriveOneMore().outcome()).isEqualTo(Outcome.TRIPPED);
    }

    @Test
    void sessionThatLeavesIsForgotten() {
        Caller a = command.joined("a", 2);
        Caller b = command.joined("b", 2);
        a.arrive(1);
        assertThat(b.leave().status()).isEqualTo(Status.LEFT);
        assertThat(a.ask().state()).as("nobody had arrived there").isEqualTo(State.OPEN);
        assertThat(b.late(1).status()).as("a late command").isEqualTo(Status.FORGOTTEN);
        b.join();
        assertThat(a.leave().status()).isEqualTo(Status.LEFT);
        assertThat(b.ask().state()).as("a thread waited there").isEqualTo(State.BROKEN);
        b.leave();
        assertThat(server.keys(command.pattern())).allMatch(key -> key.contains(":mark:"));
        command.assertAllExpire();
        assertThat(command.caller("c", 5).join().state()).as("forgotten").isEqualTo(State.OPEN);
    }

    /** Sessions that come and go leave no more behind than is dropped again. */
    @Test
    void recordsOfThoseWhoHaveGoneAreDropped() {
        Caller a = command.joined("a", 2);
        for (int i = 0; i < 30; i++) {
            command.joined("guest-" + i, 2).leave();
        }
        assertThat(command.gone()).isEqualTo(30);
        command.expireGone();
        for (int i = 0; i < 3; i++) {
            a.ask();
        }
        assertThat(command.gone()).isZero();
    }

    /**
     * Commands in any order, each of which may be repeated or late: the barrier does what a simple model of it does.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void randomStepsFollowTheModel(long seed) {
        var random = new Random(seed);
        int parties = 4;
        var model = new BarrierModel(parties);
        List<Caller> callers = new ArrayList<>();
        for (String id : List.of("a", "b", "c")) {
            callers.add(command.joined(id, parties));
        }
        for (int step = 0; step < 600; step++) {
            Caller caller = callers.get(random.nextInt(callers.size()));
            BarrierReply standing;
            switch (random.nextInt(10)) {
                case 0 -> {
                    caller.catchUp();
                    standing = caller.wish("break");
                    model.breakIt();
                }
                case 1 -> {
                    standing = caller.reset();
                    model.reset();
                }
                case 2 -> standing = caller.late(1 + random.nextInt(4));
                case 3 -> standing = caller.repeat();
                default -> {
                    caller.catchUp();
                    standing = caller.arriveOneMore();
                    model.arrive();
                }
            }
            assertThat(standing.arrived()).as("arrived after step %d", step).isEqualTo(model.arrived());
            assertThat(standing.state() == State.BROKEN)
                    .as("broken after step %d", step)
                    .isEqualTo(model.isBroken());
            assertThat(standing.generation() - command.firstGeneration())
                    .as("generations after step %d", step)
                    .isEqualTo(model.generations());
        }
        assertThat(model.trips()).isPositive();
        command.assertAllExpire();
    }
}
