package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.TooLate;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** A job that two JVMs call at the same times runs once each time, also when one of them is killed. */
@Tag("proof")
@Timely
class OnceFleetTest {
    private static final Duration LONGEST = Duration.ofMinutes(2);
    private static final int PERIODS = 20;
    private static final String AT_LEAST = "1s";

    private final RedisServer redis = RedisServer.launch();
    private final ChildJvm first = start();
    private final ChildJvm second = start();

    private ChildJvm start() {
        return ChildJvm.of(Member.class)
                .options("-Dinterlock.lease=10s", "-Dinterlock.command-timeout=10s")
                .arguments(redis.url())
                .start();
    }

    @BeforeEach
    void awaitMembers() {
        first.await("READY", LONGEST);
        second.await("READY", LONGEST);
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
        redis.close();
    }

    /** A JVM that calls a job when it is told to, and tells whether the job has run. */
    static final class Member {
        private Member() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (ConfigurableApplicationContext application = Application.start(arguments[0], Jobs.class)) {
                Jobs jobs = application.getBean(Jobs.class);
                ChildConsole.say("READY");
                while (true) {
                    String result = ChildConsole.readCommand().equals("die") ? jobs.inWhichAJvmDies() : jobs.report();
                    ChildConsole.say(result == null ? "SKIPPED" : result);
                }
            }
        }
    }

    static class Jobs {
        /** Short: the other JVM may come when it is over. */
        @Once(name = "report", atLeast = AT_LEAST)
        public @Nullable String report() {
            return "RAN";
        }

        @Once(name = "death", atLeast = "1h")
        public @Nullable String inWhichAJvmDies() throws InterruptedException {
            ChildConsole.say("INSIDE");
            Thread.sleep(LONGEST.toMillis());
            return "RAN";
        }
    }

    @Test
    void aJobRunsOncePerPeriod() {
        for (int period = 0; period < PERIODS; period++) {
            List<ChildJvm> members = period < PERIODS / 2 ? List.of(first, second) : List.of(second);
            if (period == PERIODS / 2) {
                first.kill();
            }
            // Of the limit nothing is left in Redis when the period is over.
            await().atMost(LONGEST).until(() -> redis.keys("*once:report*rate").isEmpty());
            long begin = System.nanoTime();
            members.forEach(member -> member.send("call"));
            long runs = members.stream().filter(OnceFleetTest::hasRun).count();
            if (runs > 1) {
                TooLate.assertWithin(Duration.parse("PT" + AT_LEAST), Duration.ofNanos(System.nanoTime() - begin));
            }
            assertThat(runs).as("runs in period %d", period).isEqualTo(1);
        }
    }

    private static boolean hasRun(ChildJvm member) {
        return member.await("", LONGEST).equals("RAN");
    }

    /** The lock is free after the lease, but what was begun isn't repeated before its time. */
    @Test
    void aRunWhoseJvmIsKilledIsNotRepeatedInItsPeriod() {
        first.send("die");
        first.await("INSIDE", LONGEST);
        first.kill();
        await().atMost(LONGEST).until(() -> !redis.keys().contains("once:death"));
        second.send("die");
        assertThat(second.await("", LONGEST)).isEqualTo("SKIPPED");
    }
}
