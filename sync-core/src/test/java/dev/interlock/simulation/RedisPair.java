package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.redis.Script;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.redisson.client.RedisException;

/**
 * A Redis in memory and a real one, which run the same scripts at the same virtual time. Each has to reply, publish and
 * keep the same, to the byte and the millisecond.
 */
final class RedisPair implements AutoCloseable {
    private static final long START_MICROS = 1_700_000_000_000_000L;

    /** Draws the first one, as {@code virtual.lua} does. */
    private static final RandomGenerator FIRST = () -> 0;

    private final RealRedis real;
    private final MemoryRedis memory;
    private final List<String> messages = new ArrayList<>();
    private final Map<String, Integer> scriptsRun = new TreeMap<>();
    private long nowMicros = START_MICROS;
    private int subscribers;

    RedisPair(String url) throws IOException {
        real = new RealRedis(url);
        memory = new MemoryRedis(() -> nowMicros, FIRST, new Publisher() {
            @Override
            public int publish(String channel, String message) {
                messages.add(channel + " " + message);
                return subscribers;
            }

            @Override
            public int subscribers(String channel) {
                return subscribers;
            }

            @Override
            public List<String> channels(String prefix) {
                return subscribers > 0 ? List.of(prefix + "somebody") : List.of();
            }
        });
    }

    MemoryRedis memory() {
        return memory;
    }

    /** Returns how often each script was run. */
    Map<String, Integer> scriptsRun() {
        return scriptsRun;
    }

    /** Sets how many subscribers each channel has. */
    void setSubscribers(int count) {
        subscribers = count;
    }

    /** Has time pass, or step back if that is less than 0. */
    void pass(long micros) {
        boolean isPossible;
        long step = micros;
        do {
            long before = Math.floorDiv(nowMicros, 1_000L);
            nowMicros += step;
            isPossible = real.pass(Math.floorDiv(nowMicros, 1_000L) - before);
            step = 1_000;
        } while (!isPossible);
    }

    /** Runs a script on both, and asserts that they do the same. */
    Outcome run(Script.Call call) {
        scriptsRun.merge(call.script().toString(), 1, Integer::sum);
        return eval(call.script().text(), call.keys(), call.arguments());
    }

    /** Runs the text of a script, as {@link #run} does. */
    Outcome eval(String text, List<String> keys, List<String> arguments) {
        Outcome there = real.eval(text, keys, arguments, nowMicros, subscribers);
        Outcome expected = new Outcome(there.reply(), plain(there.failure()), there.messages(), there.data());
        Outcome outcome = inMemory(text, keys, arguments);
        assertThat(outcome).isEqualTo(expected);
        return outcome;
    }

    private Outcome inMemory(String text, List<String> keys, List<String> arguments) {
        messages.clear();
        try {
            List<Object> reply = memory.eval(text, keys, arguments);
            return new Outcome(reply, "", List.copyOf(messages), memory.dump());
        } catch (RedisException e) {
            return new Outcome(null, plain(String.valueOf(e.getMessage())), List.copyOf(messages), memory.dump());
        }
    }

    /** Returns an error without the script and the line, which are others here. */
    private static String plain(String error) {
        return error.replaceFirst(" script: .*", "").replaceFirst("^(ERR )?(user_script:[0-9]+: )?", "");
    }

    @Override
    public void close() throws IOException {
        real.close();
    }
}
