package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Redis refuses for good what a session asks: all, or what concerns one key of a name. Every wait of its threads ends,
 * and so does every call.
 */
@Tag("proof")
class LastingRefusalTest extends WaitFixture {
    private static final String USER = "app";
    private static final String PASSWORD = "PASSWORD";

    /** Why Redis refuses all that a session asks. */
    @SuppressWarnings("ImmutableEnumChecker") // nobody changes the rules
    enum Cause {
        /** Connections are still allowed: a client that can't connect counts as an outage. */
        NO_COMMAND("-@all", "+@connection"),
        NO_KEY("resetkeys"),
        NO_CLIENT;

        private final String[] rules;

        Cause(String... rules) {
            this.rules = rules;
        }

        void begin(LastingRefusalTest test) {
            if (this == NO_CLIENT) {
                test.clientsOfMine().forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
            } else {
                test.setUser(rules);
            }
        }
    }

    /** Bounds refused commands that are repeated until the lease is over. */
    @Override
    Duration lease() {
        return Duration.ofSeconds(5);
    }

    @Override
    String urlOfMine(int server) {
        RedisServer redis = servers().get(server);
        return "redis://" + USER + ":" + PASSWORD + "@" + redis.host() + ":" + redis.port();
    }

    private void setUser(String... rules) {
        String[] command = Stream.concat(Stream.of("ACL", "SETUSER", USER), Stream.of(rules))
                .toArray(String[]::new);
        servers().forEach(server -> server.command(command));
    }

    private void allowAll() {
        setUser("on", ">" + PASSWORD, "~*", "&*", "+@all");
    }

    @BeforeEach
    @Override
    void open() {
        allowAll();
        super.open();
    }

    @AfterEach
    @Override
    void clear() {
        allowAll();
        super.clear();
    }

    // ---- waits

    /** Each thread is told, in whichever way it waits. When nothing is refused any more, all works again. */
    @ParameterizedTest
    @EnumSource
    void whatIsRefusedAltogetherEndsEachWait(Cause cause) {
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        cause.begin(this);
        interrupt(waiting);
        awaitEnds(waiting);
        assertRefusals(waiting);
        forEachWait(others, (wait, other) -> other.run(() -> give(wait)));
        if (cause != Cause.NO_CLIENT) {
            allowAll();
            assertWorkAgain();
        }
    }

    /**
     * Something else is under one of the keys of each name. Each thread is told so; or it gets what it waits for when
     * the other session gives that, be it as late as by the end of a lease.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void aKeyOfAnotherTypeEndsEachWait(int number) {
        assertEachWaitEnds(() -> waits().stream()
                .flatMap(wait -> wait.keys().stream().skip(number).limit(1))
                .forEach(this::replace));
    }

    private void assertEachWaitEnds(Runnable refusal) {
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        refusal.run();
        interrupt(waiting);
        giveAll(others);
        awaitEnds(waiting);
        SoftAssertions.assertSoftly(softly -> waiting.forEach(one -> {
            Throwable failure = one.failure();
            if (failure != null) {
                // Or what was replaced is missing.
                softly.assertThat(failure)
                        .as(one.what())
                        .isInstanceOfAny(
                                IllegalStateException.class, InterruptedException.class, BrokenBarrierException.class);
            }
        }));
    }

    /** The same for all other keys. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 5, 6, 7, 8})
    void anotherKeyOfAnotherTypeEndsEachWait(int number) {
        aKeyOfAnotherTypeEndsEachWait(number);
    }

    /** The same if some of what scripts call is not allowed any more: they end halfway. */
    @ParameterizedTest
    @ValueSource(
            strings = {"-zadd", "-zrem", "-hset", "-hdel", "-set", "-incr", "-pexpire", "-publish", "resetchannels"})
    void aMissingRightEndsEachWait(String rule) {
        assertEachWaitEnds(() -> setUser(rule));
    }

    private void replace(String key) {
        String script = """
            local isList = redis.call('type', KEYS[1]).ok == 'list'
            redis.call('del', KEYS[1])
            redis.call(isList and 'set' or 'rpush', KEYS[1], 'something')
            """;
        servers().forEach(server -> server.command("EVAL", script, "1", key));
    }

    private void interrupt(List<Begun> waiting) {
        List<String> interrupted =
                waits().stream().filter(Wait::isInterrupted).map(Wait::what).toList();
        waiting.stream()
                .filter(one -> interrupted.contains(one.what()))
                .forEach(one -> one.thread().interrupt());
    }

    private static void assertRefusals(List<Begun> all) {
        assertFail(all, IllegalStateException.class, "(Redis|Redisson) refuses .*");
    }

    // ---- leases

    /** Held objects can't be renewed, and are reported as lost when their leases are over. */
    @ParameterizedTest
    @EnumSource
    void whatIsNotRenewedIsLost(Cause cause) {
        List<String> lost = new CopyOnWriteArrayList<>();
        SyncListener listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                lost.add(loss.lockName());
            }
        };
        mine().session().addListener(listener);
        mine().quorum().addListener(listener);
        Actor holder = actor("holder");
        List<String> held = new ArrayList<>(
                holdAll(holder, mine().session(), mine().quorum()).keySet());
        if (cause == Cause.NO_CLIENT) {
            // Else only Redisson knows.
            held.add("held-adapted");
            holder.run(mine().session().adapt(mine().client().getLock("held-adapted"))::lock);
        }
        cause.begin(this);
        await("losses").atMost(BOUND).untilAsserted(() -> assertThat(lost).containsAll(held));
    }

    // ---- calls

    /**
     * A question fails with the refusal. A statement, such as a release, may be repeated later in the background. An
     * adapted lock is lost instead, if the lease renewer has seen before the call that its client is shut down.
     */
    @ParameterizedTest
    @EnumSource
    void eachCallEnds(Cause cause) {
        List<Begun> all = callAll(Duration.ofHours(1), () -> cause.begin(this));
        assertRefusals(all.stream()
                .filter(call -> cause != Cause.NO_CLIENT || !isOfAShutDownClient(call.failure()))
                .toList());
    }

    private static boolean isOfAShutDownClient(@Nullable Throwable failure) {
        return failure instanceof LeaseLostException
                && String.valueOf(failure.getMessage()).contains("was lost: its client is shut down");
    }
}
