package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/** A leader whose JVM is killed or frozen is followed by one of another JVM. */
@DisplayName("the candidates of two JVMs")
@Timeout(value = 4, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ElectionFleetTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final String NAME = "scheduler";
    private static final String KEY = Election.PREFIX + NAME;

    private final RedisServer redis = RedisServer.launch();
    private final ChildJvm leader = ChildJvm.start(Member.class, redis.url());
    private final ChildJvm next = ChildJvm.start(Member.class, redis.url());
    private long token;

    /** A JVM with a candidate, which tells of its terms. */
    static final class Member {
        private Member() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (Interlock session =
                    Interlock.builder().uri(arguments[0]).lease(LEASE).open()) {
                ChildConsole.say("READY");
                AtomicReference<Term> term = new AtomicReference<>();
                Candidate candidate = null;
                while (true) {
                    String command = ChildConsole.readCommand();
                    if (command.equals("stand")) {
                        candidate = session.election(NAME).stand(new Speaker(term));
                    } else if (command.equals("resign") && candidate != null) {
                        candidate.resign();
                    } else {
                        ChildConsole.say(asserted(Objects.requireNonNull(term.get())));
                    }
                }
            }
        }

        /** Speaks as an old term that goes to work without having heard of anything. */
        private static String asserted(Term term) {
            try {
                term.assertValid();
                return "VALID " + term.fencingToken();
            } catch (LeaseLostException e) {
                return "REFUSED " + e.fencingToken();
            }
        }
    }

    private record Speaker(AtomicReference<Term> last) implements TermListener {
        @Override
        public void elected(Term term) {
            last.set(term);
            ChildConsole.say("ELECTED " + term.fencingToken() + " " + Monotonic.nanos());
        }

        @Override
        public void deposed(Term term, Term.End why) {
            ChildConsole.say("DEPOSED " + term.fencingToken() + " " + why);
        }
    }

    @BeforeEach
    void begin() {
        leader.await("READY", PATIENCE);
        next.await("READY", PATIENCE);
        leader.send("stand");
        token = word(leader.await("ELECTED", PATIENCE), 1);
        next.send("stand");
        awaitOneThatWaits();
    }

    private void awaitOneThatWaits() {
        await("one waits").atMost(PATIENCE).until(() -> redis.keys().contains("interlock:{" + KEY + "}:queue"));
    }

    @AfterEach
    void close() {
        leader.close();
        next.close();
        redis.close();
    }

    private static long word(String line, int index) {
        return Long.parseLong(line.split(" ", -1)[index]);
    }

    private long awaitNext() {
        String elected = next.await("ELECTED", PATIENCE);
        assertThat(word(elected, 1)).isGreaterThan(token);
        return word(elected, 2);
    }

    @Test
    @DisplayName("have the next leader when the lease of one that was killed is over, and not before")
    void killedLeaderIsFollowed(TestReporter reporter) {
        long begun = Monotonic.nanos();
        leader.kill();
        long asked = Monotonic.nanos();
        long left = Long.parseLong(String.valueOf(redis.command("PTTL", KEY)));
        assertThat(left).isBetween(1L, LEASE.toMillis());
        long elected = awaitNext();
        reporter.publishEntry(String.format(
                "from kill -9 of the leader to the next one: %d ms, with a lease of %d ms of which %d ms were left",
                TimeUnit.NANOSECONDS.toMillis(elected - begun), LEASE.toMillis(), left));
        // Redis counts in whole milliseconds.
        assertThat(elected - asked).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(left - 2));
    }

    @Test
    @DisplayName("have the next leader while the first one is frozen, which finds out when it goes on")
    void frozenLeaderIsFollowed() {
        leader.stop();
        awaitNext();
        next.send("assert");
        String valid = next.await("VALID", PATIENCE);
        leader.send("assert");
        leader.cont();
        assertThat(leader.await("REFUSED", PATIENCE)).isEqualTo("REFUSED " + token);
        assertThat(leader.await("DEPOSED", PATIENCE)).isEqualTo("DEPOSED " + token + " LOST");
        // A leader that resigns while no other candidate waits is elected again.
        awaitOneThatWaits();
        next.send("resign");
        assertThat(word(leader.await("ELECTED", PATIENCE), 1)).isGreaterThan(word(valid, 1));
        assertThat(next.await("DEPOSED", PATIENCE)).endsWith(" RESIGNED");
        assertThat(leader.lines().stream().filter(line -> line.startsWith("DEPOSED")))
                .hasSize(1);
    }
}
