package dev.interlock.internal.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.ratelimit.LimitModel.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random requests of several sessions, by a clock that jumps, in commands that come twice or late, while the limit is
 * updated and keys expire. Each is answered as {@link LimitModel} says; one that comes again changes nothing.
 */
class LimitProgramTest {
    private static final int STEPS = 10_000;

    /** Virtual time passes faster than that of Redis, so that no key expires there by itself. */
    private static final long WINDOW = Duration.ofHours(3).toSeconds() * 1_000_000 + 7;

    private static final long START = 1_700_000_000_000_003L;

    private static final LimitScript SCRIPT = new LimitScript();

    private final Random random = new Random();
    private final String state = "state-" + UUID.randomUUID();
    private final String updated = "updated-" + UUID.randomUUID();
    private final List<String> log = new ArrayList<>();
    private final Map<String, Long> charged = new HashMap<>();
    private final Map<String, List<Verdict>> told = new HashMap<>();
    private long version;
    private long granted;
    private long refused;
    private long now = START;

    /** When anything was granted last, by the script's clock; and how far that was set back in all. */
    private long grantedAt = Long.MIN_VALUE;

    private long setBack;
    private long expires;

    /** Whether the limit has changed since, while the key still expires by the old one. */
    private boolean changed;

    @AfterAll
    static void stop() {
        SCRIPT.close();
    }

    private record Command(String session, long version, String limit, String requests) {}

    @ParameterizedTest
    @CsvSource({"1, 9, 9", "2, 1000, 3", "3, 7, 20", "4, 1, 1"})
    void bucketDoesWhatTheModelSays(long seed, long permits, long burst) {
        run(seed, "bucket", new BucketModel(permits, WINDOW, burst), STEPS / 2);
    }

    @ParameterizedTest
    @CsvSource({"1, 10", "2, 3", "3, 1"})
    void fixedWindowDoesWhatTheModelSays(long seed, long permits) {
        run(seed, "fixed", new FixedModel(permits, WINDOW), STEPS / 2);
    }

    @ParameterizedTest
    @CsvSource({"1, 10", "2, 3", "3, 1"})
    void slidingWindowDoesWhatTheModelSays(long seed, long permits) {
        run(seed, "sliding", new SlidingModel(permits, WINDOW), STEPS / 2);
    }

    private void run(long seed, String algorithm, LimitModel model, int steps) {
        random.setSeed(seed);
        long permits = model.permits;
        long burst = model.burst;
        Command last = null;
        for (int step = 0; step < steps; step++) {
            now += passes();
            if (random.nextInt(50) == 0) {
                model.permits = 1 + random.nextLong(2 * permits);
                model.burst = algorithm.equals("bucket") ? 1 + random.nextLong(2 * burst) : model.permits;
                changed = true;
                log.add("limit is " + model.permits + ", burst " + model.burst);
                SCRIPT.call("SET", updated, text(algorithm, model) + " " + step);
            }
            expire(model);
            if (last != null && random.nextInt(10) == 0) {
                repeat(last);
            } else {
                last = ask(algorithm, model);
            }
        }
        assertThat(granted).isGreaterThan(steps / 12);
        assertThat(refused).isGreaterThan(steps / 12);
    }

    /** One to three requests in a command, each answered as the model says. */
    private Command ask(String algorithm, LimitModel model) {
        int requests = 1 + random.nextInt(3);
        StringBuilder text = new StringBuilder();
        List<Verdict> verdicts = new ArrayList<>();
        long behind = grantedAt == Long.MIN_VALUE ? 0 : Math.max(0, grantedAt - now);
        if (grantedAt == Long.MIN_VALUE) {
            // Nothing is kept by which the script could know of it.
            setBack = 0;
        }
        long time = now + setBack + behind;
        for (int i = 0; i < requests; i++) {
            long wanted = 1 + random.nextLong(model.burst + (random.nextInt(8) == 0 ? 3 : 0));
            long more = random.nextInt(3) == 0 ? random.nextLong(5) : 0;
            long patience = random.nextInt(3) == 0 ? random.nextLong(3 * WINDOW) : 0;
            text.append(wanted + " " + more + " " + patience + " ");
            verdicts.add(model.ask(time, wanted, more, patience));
        }
        Command command =
                new Command("session-" + random.nextInt(3), ++version, text(algorithm, model), text.toString());
        log.add("at " + (now - START) + ": " + command);
        assertThat(heard(command)).as(story()).isEqualTo(verdicts);
        long charges =
                verdicts.stream().filter(verdict -> verdict.granted() > 0).count();
        granted += charges;
        refused += requests - charges;
        if (charges > 0) {
            setBack += behind;
            charge(command, verdicts, !algorithm.equals("fixed"));
        }
        return command;
    }

    /** Keeps what a command was granted, and asserts that the key lives for as long as it matters. */
    private void charge(Command command, List<Verdict> verdicts, boolean isKeptLonger) {
        boolean isNew = grantedAt == Long.MIN_VALUE;
        told.put(command.session, verdicts);
        charged.put(command.session, command.version);
        grantedAt = now;
        long kept = verdicts.get(verdicts.size() - 1).reset();
        if (isNew || now + kept > expires) {
            expires = now + kept + (isKeptLonger ? kept / 8 : 0);
            long ttl = Long.parseLong(String.valueOf(SCRIPT.call("PTTL", state))) - LimitScript.LONGER_MILLIS;
            long due = (expires - now) / 1_000;
            assertThat(ttl).as(story()).isBetween(due - 60_000, due + 1);
        }
        changed = false;
    }

    private long passes() {
        return switch (random.nextInt(20)) {
            case 0 -> random.nextLong(4 * WINDOW);
            case 1 -> -random.nextLong(WINDOW);
            case 2, 3 -> 0;
            default -> random.nextLong(WINDOW / 4);
        };
    }

    /**
     * What Redis would do: a key that expires had nothing to say any more, so that the model forgets nothing by it but
     * repeats.
     */
    private void expire(LimitModel model) {
        if (grantedAt != Long.MIN_VALUE && now > expires + 1_000) {
            SCRIPT.call("DEL", state);
            if (!changed) {
                assertThat(model.reset(now + setBack)).as(story()).isZero();
            }
            model.forget();
            charged.clear();
            grantedAt = Long.MIN_VALUE;
        }
    }

    /** The same command again: it is granted the same if it was charged anything, and nothing changes. */
    private void repeat(Command command) {
        Long newest = charged.get(command.session);
        if (newest == null || newest < command.version) {
            return;
        }
        Object before = SCRIPT.call("HGETALL", state);
        List<?> answer = evaluated(command);
        assertThat(SCRIPT.call("HGETALL", state)).as(story()).isEqualTo(before);
        if (newest == command.version) {
            assertThat(LimitScript.verdicts(answer))
                    .as(story())
                    .usingElementComparator(
                            Comparator.comparingLong(Verdict::granted).thenComparingLong(Verdict::waits))
                    .isEqualTo(told.get(command.session));
        } else {
            assertThat(answer).as(story()).isEmpty();
        }
        Command old = new Command(command.session, newest - 1, command.limit, command.requests);
        assertThat(evaluated(old)).as(story()).isEmpty();
        assertThat(SCRIPT.call("HGETALL", state)).as(story()).isEqualTo(before);
    }

    private List<?> evaluated(Command command) {
        return SCRIPT.run(state, updated, now, command.session, command.version, command.limit, command.requests);
    }

    private List<Verdict> heard(Command command) {
        return LimitScript.verdicts(evaluated(command));
    }

    private static String text(String algorithm, LimitModel model) {
        return algorithm + " " + model.permits + " " + WINDOW + " " + model.burst;
    }

    private String story() {
        return "after " + String.join("\n", log.subList(Math.max(0, log.size() - 12), log.size()));
    }
}
