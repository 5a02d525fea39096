package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;

/** What tests do to a Redis in memory, and see of it. */
class MemoryRedisStateTest {
    private static final Script TAKE = Script.load("lock/take");

    private static final Publisher NOBODY = new Publisher() {
        @Override
        public int publish(String channel, String message) {
            return 0;
        }

        @Override
        public int subscribers(String channel) {
            return 0;
        }

        @Override
        public List<String> channels(String prefix) {
            return List.of();
        }
    };

    private long nowMicros = 1_700_000_000_000_000L;
    private final MemoryRedis redis = redis();

    private MemoryRedis redis() {
        return new MemoryRedis(() -> nowMicros, new Random(1), NOBODY);
    }

    private static Script.Call take(String lock, long sequence) {
        return TAKE.on(
                List.of(lock, lock + ":queue", lock + ":token", lock + ":conditions", lock + ":mark"),
                "interlock-1:" + sequence,
                sequence,
                30_000,
                1);
    }

    private void write(String key, String value) {
        redis.eval("redis.call('set', KEYS[1], ARGV[1], 'px', 1000) return {}", List.of(key), List.of(value));
    }

    @Test
    void scriptTakesALock() {
        assertThat(redis.run(take("lock", 1))).containsExactly(nowMicros / 8);
        assertThat(redis.run(take("lock", 2))).containsExactly(0L);
        assertThat(redis.dump()).isEqualTo("""
                lock hash interlock-1:1=1 ttl 30000
                lock:token string %d ttl 3600000
                """.formatted(nowMicros / 8));
        assertThat(redis.scriptsRun()).isEqualTo(2);
        assertThat(redis.commandsRun()).containsEntry("hset", 1L).containsEntry("zadd", 0L);
    }

    @Test
    void failoverLosesTheLastWrites() {
        write("kept", "1");
        Database.Snapshot snapshot = redis.snapshot();
        for (int i = 0; i < 2; i++) {
            redis.run(take("lost", 1));
            write("kept", "2");
            redis.restore(snapshot);
            assertThat(redis.dump()).isEqualTo("kept string 1 ttl 1000\n");
        }
    }

    @Test
    void keysAreEvictedAndExpire() {
        write("a", "1");
        write("ü", "2");
        assertThat(redis.keys()).containsExactly("a", "ü");
        assertThat(redis.delete("ü")).isTrue();
        assertThat(redis.delete("ü")).isFalse();
        nowMicros += 400_000;
        assertThat(redis.pttl("a")).isEqualTo(600);
        assertThat(redis.pttl("ü")).isEqualTo(-2);
        nowMicros += 601_000;
        assertThat(redis.keys()).isEmpty();
        write("a", "1");
        redis.flushAll();
        assertThat(redis.dump()).isEmpty();
    }

    @Test
    void faultIsPlantedInAScript() {
        List<String> asked = new ArrayList<>();
        MemoryRedis faulty = new MemoryRedis(() -> nowMicros, new Random(1), NOBODY, (script, text) -> {
            asked.add(script);
            return text.replace("not isNew or", "not isNew and");
        });
        faulty.run(take("lock", 1));
        assertThat(faulty.run(take("lock", 2)).get(0)).isNotEqualTo(0L);
        assertThat(asked).containsExactly("lock/take");
    }

    /** The library reads off the message what Redis has said, and whether it lasts. */
    @Test
    void scriptFailsAsItDoesInRedis() {
        redis.eval("redis.call('set', 'lock', 1) return {}", List.of(), List.of());
        assertThatThrownBy(() -> redis.eval("\nreturn { redis.call('hget', 'lock', 'f') }", List.of(), List.of()))
                .isExactlyInstanceOf(RedisException.class)
                .hasMessageMatching(
                        "WRONGTYPE Operation .* wrong kind of value script: [0-9a-f]{40}," + " on @user_script:2\\.")
                .asInstanceOf(THROWABLE)
                .satisfies(failure -> {
                    assertThat(Failures.isTransient(failure)).isFalse();
                    assertThat(Failures.isRefused(failure)).isTrue();
                    assertThat(Failures.brief(failure)).endsWith("holding the wrong kind of value");
                });
        assertThatThrownBy(() -> redis.eval("local t\nreturn { t.x }", List.of(), List.of()))
                .isExactlyInstanceOf(RedisException.class)
                .hasMessageStartingWith("ERR user_script:2: attempt to index local 't' (a nil value) script: ");
        assertThatThrownBy(() -> redis.eval("return {", List.of(), List.of()))
                .isExactlyInstanceOf(RedisException.class)
                .hasMessageStartingWith("ERR Error compiling script (new function): user_script:");
    }

    /** What the real Redis may do and this one can't fails a test, and isn't taken for an error of a script. */
    @Test
    void commandThatIsNotSimulatedFails() {
        assertThatThrownBy(() -> redis.eval("redis.call('lpush', 'l', 1) return {}", List.of(), List.of()))
                .isExactlyInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("lpush l 1");
        assertThatThrownBy(() -> redis.eval("while true do end", List.of(), List.of()))
                .isExactlyInstanceOf(IllegalStateException.class);
        assertThat(redis.run(take("lock", 1)).get(0)).isNotEqualTo(0L);
    }

    @Test
    void fieldIsDrawnAtRandom() {
        redis.eval("redis.call('hset', 'h', 'a', 1, 'b', 2, 'c', 3) return {}", List.of(), List.of());
        List<Object> drawn = redis.eval(
                "local r = {} for i = 1, 100 do r[i] = redis.call('hrandfield', 'h') end return r",
                List.of(),
                List.of());
        assertThat(drawn).containsOnly("a", "b", "c").contains("a", "b", "c");
    }

    /** Many live at the same time and in turn, and threads use each one after the other. */
    @Test
    void redisesAreUsedByThreads() {
        try (TestThreads threads = new TestThreads(Duration.ofSeconds(20))) {
            for (int thread = 0; thread < 3; thread++) {
                MemoryRedis mine = redis();
                mine.run(take("lock", 1));
                threads.start("user-" + thread, () -> {
                    for (long sequence = 2; sequence < 300; sequence++) {
                        assertThat(mine.run(take("lock", sequence))).containsExactly(0L);
                        assertThat(redis().run(take("lock", sequence)).get(0)).isNotEqualTo(0L);
                    }
                });
            }
        }
    }

    /** What a test asserts of a message isn't lost in Lua. */
    @Test
    void publisherFailsTheTest() {
        MemoryRedis strict = new MemoryRedis(() -> nowMicros, new Random(1), new Publisher() {
            @Override
            public int publish(String channel, String message) {
                throw new AssertionError(message);
            }

            @Override
            public int subscribers(String channel) {
                return 0;
            }

            @Override
            public List<String> channels(String prefix) {
                return List.of();
            }
        });
        assertThatThrownBy(() -> strict.eval("redis.call('publish', 'c', 'told')", List.of(), List.of()))
                .isExactlyInstanceOf(AssertionError.class)
                .hasMessage("told");
    }
}
