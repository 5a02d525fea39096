package dev.interlock.internal.latch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random commands of several sessions, many of them repeated or late, with latches that are lost and latches whose
 * retention is over in between: Redis answers as a model does that adds up.
 */
class LatchProgramTest extends LatchScriptFixture {
    private static final int STEPS = 600;
    private static final int SESSIONS = 3;
    private static final long SHORT = 60_000;

    /** The latch as it should be. */
    private static final class Model {
        final long born;
        final long count;
        final long retention;
        final Map<String, Long> totals = new HashMap<>();
        boolean open;

        Model(long born, long count, long retention) {
            this.born = born;
            this.count = count;
            this.retention = retention;
            this.open = count == 0;
        }

        long left() {
            return open
                    ? 0
                    : Math.max(
                            0,
                            count
                                    - totals.values().stream()
                                            .mapToLong(Long::longValue)
                                            .sum());
        }
    }

    private final Map<String, Long> marks = new HashMap<>();
    private final Set<Long> remembered = new HashSet<>();
    private final List<Command> sent = new ArrayList<>();
    private final Set<Integer> seen = new HashSet<>();
    private @Nullable Model model;

    @ParameterizedTest
    @ValueSource(longs = {3, 4, 5})
    @Tag("proof")
    void redisAnswersAsTheModelDoesForMoreSeeds(long seed) {
        redisAnswersAsTheModelDoes(seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void redisAnswersAsTheModelDoes(long seed) {
        Random random = new Random(seed);
        List<String> sessions = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            sessions.add(session());
        }
        Map<String, Command> latest = new HashMap<>();
        for (int step = 0; step < STEPS; step++) {
            int choice = random.nextInt(100);
            String session = sessions.get(random.nextInt(SESSIONS));
            Command last = latest.get(session);
            if (last == null || choice < 8) {
                Command join = join(session, random.nextInt(10) == 0 ? 9 : 8, random.nextBoolean() ? SHORT : DAY);
                Answer answer = check(join, "step " + step);
                if (answer.status() == COUNTING || answer.status() == OPEN) {
                    latest.put(session, join.of(answer.born()));
                }
            } else if (choice < 45) {
                Command counting = last.counting(last.total() + 1 + random.nextInt(2));
                latest.put(session, counting);
                // Some are said, and don't arrive.
                if (random.nextInt(5) > 0) {
                    check(counting, "step " + step);
                }
            } else if (choice < 60) {
                Command waiting = last.waiting();
                latest.put(session, waiting);
                check(waiting, "step " + step);
            } else if (choice < 96) {
                check(sent.get(random.nextInt(sent.size())), "repeated in step " + step);
            } else if (choice < 98 || (model != null && model.open)) {
                server.command("DEL", latch, totals(), waiters());
                model = null;
            }
        }
        assertThat(seen).containsExactlyInAnyOrder(GONE, COUNTING, OPEN, PAST, OTHER_COUNT);
    }

    private Answer check(Command command, String when) {
        long waiting = number("ZCARD", waiters());
        long before = published();
        boolean wasOpen = model != null && model.open;
        int expected = expectedStatus(command);
        Answer answer = send(command);
        sent.add(command);
        seen.add(answer.status());
        assertThat(answer.status()).as("%s: %s", when, command).isEqualTo(expected);
        if (expected == COUNTING || expected == OPEN) {
            Model now = apply(command, answer.born());
            assertThat(answer.left()).as(when).isEqualTo(now.left());
            assertThat(answer.born()).as(when).isEqualTo(now.born);
            boolean opens = now.open && !wasOpen;
            assertThat(published() - before).as("messages, %s", when).isEqualTo(opens ? waiting : 0);
        } else {
            assertThat(published()).isEqualTo(before);
        }
        assertThat(number("EXISTS", latch)).isEqualTo(model == null ? 0 : 1);
        if (sent.size() % 10 == 0) {
            assertAllExpire();
        }
        return answer;
    }

    private void assertAllExpire() {
        for (String key : server.keys()) {
            assertThat(number("PTTL", key)).as(key).isNotEqualTo(-1);
        }
    }

    private int expectedStatus(Command command) {
        Model now = model;
        if (!command.joins() && (now == null || now.born != command.born())) {
            return remembered.contains(command.born()) ? PAST : GONE;
        } else if (now == null) {
            return marks.getOrDefault(command.session(), 0L) >= command.version() ? GONE : COUNTING;
        } else if (now.count != command.count()) {
            return OTHER_COUNT;
        }
        return now.open || now.left() <= added(now, command) ? OPEN : COUNTING;
    }

    private static long added(Model now, Command command) {
        return Math.max(0, command.total() - now.totals.getOrDefault(command.contributor(), 0L));
    }

    private Model apply(Command command, long born) {
        Model now = model == null ? new Model(born, command.count(), command.retention()) : model;
        model = now;
        if (command.joins()) {
            marks.merge(command.session(), command.version(), Math::max);
        }
        if (!now.open) {
            now.totals.merge(command.contributor(), command.total(), Math::max);
            if (now.left() == 0) {
                now.open = true;
                if (now.retention < DELAY) {
                    remembered.add(now.born);
                }
            }
        }
        return now;
    }
}
