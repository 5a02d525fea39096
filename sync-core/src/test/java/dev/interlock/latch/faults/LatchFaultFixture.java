package dev.interlock.latch.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;

/** What tests of latches need of a faulty network. */
abstract class LatchFaultFixture extends FaultFixture {
    static final String NAME = "batch";
    static final String KEY = "interlock:{" + NAME + "}:latch";

    private static final int WORDS = 3 + 5 + 9;
    private static final int SESSION = 3 + 5;
    private static final int BORN = SESSION + 3;

    /** The script must be there already: a refusal would be taken for the request that a test means. */
    @BeforeEach
    void useTheScript() {
        undisturbed().countDownLatch("warm", 0);
    }

    /** What expires by itself. */
    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch";
    }

    static DistributedCountDownLatch of(Interlock session, int count) {
        return session.countDownLatch(NAME, count);
    }

    /** What a session has to say about the latch. */
    static Predicate<List<String>> told() {
        return words -> words.get(0).equalsIgnoreCase("EVALSHA")
                && words.size() == WORDS
                && words.get(3).equals(KEY);
    }

    static Predicate<List<String>> told(Interlock session) {
        return told().and(words -> words.get(SESSION).equals(session.id()));
    }

    /** The same once it has joined. */
    static Predicate<List<String>> toldByMember(Interlock session) {
        return told(session).and(words -> !words.get(BORN).equals("0"));
    }

    static boolean isOpening(List<String> words) {
        return words.get(0).equals("message") && words.get(2).startsWith("o ");
    }

    final long left() {
        return Long.parseLong(String.valueOf(server().command("HGET", KEY, "left")));
    }

    @Override
    protected String queueKey() {
        return "interlock:waiters:" + KEY;
    }

    final void forgetLatch() {
        server().command("DEL", KEY, "interlock:totals:" + KEY, "interlock:waiters:" + KEY);
    }

    static void assertFails(CompletableFuture<?> wait, Class<? extends Throwable> failure, String... words) {
        assertThat(wait)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOf(failure)
                .satisfies(cause -> assertThat(List.of(words))
                        .allSatisfy(word -> assertThat(cause).hasMessageContaining(word)));
    }
}
