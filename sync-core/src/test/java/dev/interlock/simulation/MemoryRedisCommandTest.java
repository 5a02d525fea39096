package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each command does in memory what it does in Redis, and Lua and its numbers are converted as they are there. */
class MemoryRedisCommandTest {
    private static final String PAIRS = """
            local function each(...)
              local replies = {}
              for _, call in ipairs({ ... }) do
                local reply = redis.call(unpack(call))
                replies[#replies + 1] = type(reply) == 'table' and reply.ok or reply
              end
              return replies
            end
            """;

    private static final String STRINGS = """
            {'set', 'k', 'v'}, {'get', 'k'}, {'pttl', 'k'}, {'get', 'none'}, {'pttl', 'none'}

            {'set', 'k', 'v', 'px', 5000}, {'pttl', 'k'}, {'set', 'k', 'w', 'keepttl'}, {'pttl', 'k'}, {'set', 'k', 'x'}

            {'set', 'k', 'v', 'nx'}, {'set', 'k', 'w', 'nx'}, {'set', 'k', 'x', 'xx'}, {'set', 'l', 'x', 'xx'}

            {'set', 'k', 'v', 'px', 1000, 'get'}, {'set', 'k', 'w', 'get', 'px', 2000}, {'set', 'k', 'w', 'XX', 'GET'}

            {'set', 'k', 'v', 'px', 0}

            {'set', 'k', 'v', 'px', -1}

            {'set', 'k', 'v', 'px', 'soon'}

            {'set', 'k', 'v', 'px', 1.5}

            {'set', 'k', 'v', 'px', 10, 'keepttl'}

            {'set', 'k', 'v', 'nx', 'xx'}

            {'incr', 'n'}, {'incr', 'n'}, {'pexpire', 'n', 100}, {'incr', 'n'}, {'pttl', 'n'}

            {'set', 'n', '007'}, {'incr', 'n'}

            {'set', 'n', '-1'}, {'incr', 'n'}, {'get', 'n'}

            {'set', 'n', ' 1'}, {'incr', 'n'}

            {'set', 'n', '1.0'}, {'incr', 'n'}

            {'set', 'n', '9223372036854775806'}, {'incr', 'n'}, {'get', 'n'}, {'incr', 'n'}

            {'set', 'n', '9223372036854775808'}, {'incr', 'n'}

            {'hset', 'h', 'f', 'v'}, {'get', 'h'}

            {'hset', 'h', 'f', 'v'}, {'set', 'h', 'v', 'get'}

            {'hset', 'h', 'f', 'v'}, {'pexpire', 'h', 1000}, {'set', 'h', 'v'}, {'pttl', 'h'}
            """;

    private static final String KEYS = """
            {'exists', 'a', 'b'}, {'set', 'a', 1}, {'exists', 'a', 'b', 'a'}, {'del', 'a', 'b', 'a'}, {'exists', 'a'}

            {'set', 'a', 1}, {'hset', 'b', 'c', 1}, {'unlink', 'a', 'b', 'c'}

            {'pexpire', 'none', 10}, {'set', 'a', 1}, {'pexpire', 'a', 1}, {'pttl', 'a'}, {'get', 'a'}

            {'set', 'a', 1}, {'pexpire', 'a', 0}, {'exists', 'a'}

            {'set', 'a', 1}, {'pexpire', 'a', -5}, {'exists', 'a'}

            {'set', 'a', 1}, {'pexpire', 'a', 'x'}

            {'set', 'a', 1}, {'pexpire', 'a', 1e3}, {'pttl', 'a'}, {'pexpire', 'a', 604800000}, {'pttl', 'a'}

            {'set', 'a', 1}, {'pexpire', 'a', '1e3'}

            {'hset', 'a', 'f', 1}, {'pexpire', 'a', 500}, {'hdel', 'a', 'f'}, {'hset', 'a', 'f', 1}, {'pttl', 'a'}
            """;

    private static final String HASHES = """
            {'hset', 'h', 'a', 1, 'b', 2}, {'hset', 'h', 'a', 3, 'c', 4}, {'hget', 'h', 'a'}, {'hget', 'h', 'x'}

            {'hset', 'h', 'a', 1, 'b'}

            {'hset', 'h'}

            {'hset', 'h', 'b', 1, 'a', 2}, {'hgetall', 'h'}, {'hkeys', 'h'}, {'hset', 'h', 'b', 0}, {'hgetall', 'h'}

            {'hmget', 'h', 'a', 'b'}, {'hset', 'h', 'a', 1}, {'hmget', 'h', 'x', 'a'}, {'hgetall', 'none'}

            {'hlen', 'h'}, {'hset', 'h', 'a', 1}, {'hlen', 'h'}, {'hexists', 'h', 'a'}, {'hexists', 'h', 'b'}

            {'hset', 'h', 'a', 1, 'b', 2}, {'hdel', 'h', 'a', 'x', 'a'}, {'hdel', 'h', 'b'}, {'exists', 'h'},
            {'hdel', 'h', 'b'}

            {'hincrby', 'h', 'n', 5}, {'hincrby', 'h', 'n', -7}, {'hget', 'h', 'n'}

            {'hset', 'h', 'n', 'x'}, {'hincrby', 'h', 'n', 1}

            {'hset', 'h', 'n', '9223372036854775807'}, {'hincrby', 'h', 'n', 1}

            {'hincrby', 'h', 'n', 'x'}

            {'hincrby', 'h', 'n', 1.5}

            {'hrandfield', 'h'}, {'hset', 'h', 'a', 1}, {'hrandfield', 'h'}, {'hset', 'h', 'b', 1}, {'hrandfield', 'h'}

            {'set', 's', 'v'}, {'hset', 's', 'a', 1}

            {'zadd', 'z', 1, 'm'}, {'hgetall', 'z'}
            """;

    private static final String SORTED_SETS = """
            {'zadd', 'z', 2, 'b', 1, 'c', 2, 'a'}, {'zrange', 'z', 0, -1, 'withscores'}, {'zcard', 'z'},
            {'zcard', 'none'}

            {'zadd', 'z', 1, 'a'}, {'zadd', 'z', 2, 'a', 2, 'b'}, {'zscore', 'z', 'a'}, {'zscore', 'z', 'x'}

            {'zadd', 'z', 'xx', 1, 'a'}, {'exists', 'z'}, {'zadd', 'z', 1, 'a'}, {'zadd', 'z', 'xx', 5, 'a', 5, 'b'}

            {'zadd', 'z', 'nx', 1, 'a'}, {'zadd', 'z', 'nx', 2, 'a', 2, 'b'}

            {'zadd', 'z', 'gt', 5, 'a'}, {'zadd', 'z', 'gt', 3, 'a', 4, 'b'}, {'zadd', 'z', 'gt', 6, 'a'},
            {'zadd', 'z', 'xx', 'lt', 4, 'a'}, {'zadd', 'z', 'lt', 5, 'a', 1, 'c'}, {'zrange', 'z', 0, -1, 'withscores'}

            {'zadd', 'z', 1, 'a', 2}

            {'zadd', 'z', 'one', 'a'}

            {'zadd', 'z', 1, 'a', 'two', 'b'}

            {'zadd', 'z', 1, 'b', 1, 'a', 0, 'c'}, {'zpopmin', 'z'}, {'zpopmin', 'z', 5}, {'zpopmin', 'z'},
            {'exists', 'z'}

            {'zadd', 'z', 1, 'a', 2, 'b'}, {'zpopmin', 'z', 0}, {'zrem', 'z', 'x', 'a', 'a'}, {'zrem', 'z', 'b'},
            {'exists', 'z'}

            {'zadd', 'z', 1, 'a', 2, 'b', 3, 'c'}, {'zrange', 'z', -2, -1}, {'zrange', 'z', 1, 99},
            {'zrange', 'z', 2, 1},
            {'zrange', 'z', -99, 0}, {'zrange', 'z', 5, 9}, {'zrange', 'none', 0, -1}

            {'zadd', 'z', 1, 'a', 2, 'b', 3, 'c'}, {'zrangebyscore', 'z', '-inf', '(3'},
            {'zrangebyscore', 'z', '(1', '+inf'}, {'zrangebyscore', 'z', 2, 2, 'withscores'}, {'zcount', 'z', '(1', 3},
            {'zcount', 'z', 3, 1}

            {'zadd', 'z', 1, 'a', 2, 'b', 3, 'c'}, {'zrangebyscore', 'z', '-inf', 'inf', 'limit', 1, 1},
            {'zrangebyscore', 'z', '-inf', '+inf', 'limit', 1, -1}, {'zrangebyscore', 'z', 0, 9, 'limit', 5, 1},
            {'zrangebyscore', 'z', 0, 9, 'limit', 0, 0}, {'zrangebyscore', 'z', 0, 9, 'limit', -1, 2}

            {'zadd', 'z', 1, 'a', 2, 'b', 3, 'c'}, {'zremrangebyscore', 'z', '(1', 2},
            {'zremrangebyscore', 'z', '-inf', '+inf'}, {'exists', 'z'}

            {'zrangebyscore', 'z', 'a', 1}

            {'zadd', 'z', 1, 'a'}, {'zrangebyscore', 'z', '((1', 1}

            {'zadd', 'z', 0, 'a:1', 0, 'a:2', 0, 'a;', 0, 'a', 0, 'b:1', 0, 'a:'}, {'zrangebylex', 'z', '[a:', '(a;'},
            {'zrangebylex', 'z', '(a:', '[a;'}, {'zrangebylex', 'z', '-', '+'}, {'zrangebylex', 'z', '+', '-'},
            {'zlexcount', 'z', '[a:', '(a;'}, {'zlexcount', 'z', '-', '(a'}, {'zlexcount', 'z', '[b', '+'},
            {'zrangebylex', 'z', '[a:', '(a;', 'limit', 0, 1}, {'zrangebylex', 'z', '-', '+', 'limit', 4, 9}

            {'zadd', 'z', 0, 'a:1', 0, 'a:2', 0, 'b'}, {'zremrangebylex', 'z', '[a:', '(a;'},
            {'zremrangebylex', 'z', '-', '+'}, {'exists', 'z'}

            {'zrangebylex', 'z', 'a', '+'}

            {'zadd', 'z', 0, '\\255', 0, '\\127', 0, 'z', 0, ''}, {'zrangebylex', 'z', '(', '+'}

            {'zadd', 'z', '-0', 'a', 0, 'b', '0', 'A'}, {'zrange', 'z', 0, -1, 'withscores'}, {'zscore', 'z', 'a'}

            {'set', 's', 1}, {'zcard', 's'}

            {'set', 's', 1}, {'zadd', 's', 1, 'a'}

            {'hset', 'h', 'f', 1}, {'zrangebyscore', 'h', 0, 1}
            """;

    private static final String NUMBERS = """
            {'zadd', 'z', 1e17, 'a', 1e16, 'b', 123456789012345678, 'c', 9007199254740993, 'd', 99999999999999999, 'e'},
            {'zrange', 'z', 0, -1, 'withscores'}

            {'zadd', 'z', 'inf', 'a', '-inf', 'b', '+inf', 'c', 'Infinity', 'e'}, {'zrange', 'z', 0, -1, 'withscores'}

            {'zadd', 'z', 0.1, 'a', 1.5, 'b', -2.25, 'c', '1e-5', 'd', '.5', 'e', '+1.', 'f', '1E3', 'g', 1/3, 'h'},
            {'zrange', 'z', 0, -1, 'withscores'}

            {'zadd', 'z', 'nan', 'a'}

            {'zadd', 'z', '1e400', 'a'}

            {'zadd', 'z', '', 'a'}

            {'zadd', 'z', ' 1', 'a'}

            {'zadd', 'z', '1 ', 'a'}

            {'zadd', 'z', '1d', 'a'}

            {'set', 'k', 1e15}, {'get', 'k'}, {'set', 'k', 1e17}, {'get', 'k'}, {'set', 'k', 123456789012345680},
            {'get', 'k'}

            {'set', 'k', 0.1}, {'get', 'k'}, {'set', 'k', -1.5e-7}, {'get', 'k'}, {'set', 'k', 1e100}, {'get', 'k'}

            {'set', 'k', 1/0}, {'get', 'k'}, {'set', 'k', -1/0}, {'get', 'k'}, {'set', 'k', -0.0}, {'get', 'k'}

            {'set', 'k', 5e-324}, {'get', 'k'}, {'set', 'k', 1.7976931348623157e308}, {'get', 'k'}
            """;

    /** Whole scripts, each of which replies a list. */
    private static final String SCRIPTS = """
            return { 1.9, -1.9, 1e15, 2^53, 'text', true, false, { 1, { 2, 'x' } }, {}, 3 }

            return { 1, nil, 3 }

            return {}

            return { 'ü€', '' }

            local t = { 1, 2 }; t.key = 'lost'; t[4] = 4; return t

            return { 1e15 .. '', 1e14 .. '', 0.1 .. '', 2^40 .. '', -1e300 .. '', tostring(1/0) }

            return { string.format('%.0f %d %.17g %s', 123456789012345, 2^40, 0.1, 1e20), tonumber('0x10'),
            tonumber(' 12 ') }

            return { tonumber('1e3'), type(tonumber('inf')), tonumber('') or 'none', math.ceil(-0.5), 7 % -3, -7 % 3 }

            redis.call('set', 'k', 'a\\0\\255z'); local v = redis.call('get', 'k'); return { #v, v:byte(1, -1) }

            return { #redis.call('time'), type(redis.call('time')[1]),
            redis.call('time')[1] * 1000000 + redis.call('time')[2] }

            return { redis.call('publish', 'channel', 'ü'), redis.call('spublish', 'other', 7),
            redis.call('pubsub', 'numsub', 'c')[2] }

            return { redis.call('set', 'k', 'v') }

            return { redis.call('set', 'k', 'v').ok, redis.call('get', 'none'), type(redis.call('get', 'none')) }

            return { select(2, string.gsub(redis.call('info', 'replication'), 'slave%d+:[^\\r\\n]*state=online', '')) }

            x = 1; return {}

            return { x }

            local t; return { t.x }

            return { redis.call('get') }

            return { redis.call('get', 'a', 'b') }

            return { redis.call('get', {}) }

            return { redis.call('get', true) }

            error('by hand'); return {}

            error({ err = 'ERR by table' }); return {}

            redis.call('set', 'k', 1); redis.call('hget', 'k', 'f'); return {}

            local n = 0; for _ in pairs({ a = 1, b = 2 }) do n = n + 1 end; return { n, select('#', 1, nil, 2) }

            return { cmsgpack.unpack(cmsgpack.pack({ 'a', 1, -1, 1e15, { 2 } })) }

            redis.call('set', 'k', cmsgpack.pack({ 0, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296,
            2^53 }));
            return {}

            redis.call('set', 'k', cmsgpack.pack({ -1, -32, -33, -128, -129, -32768, -32769, -2147483648,
            -2147483649 }));
            return {}

            redis.call('set', 'k', cmsgpack.pack({ 0.5, 0.1, 1e300, -0.0, 1/0, 2^63, -2^63, 2^64 })); return {}

            local t = {}; for i = 1, 15 do t[i] = string.rep('x', i * 9) end; redis.call('set', 'k', cmsgpack.pack(t));
            return {}

            local t = {}; for i = 1, 40 do t[i] = string.rep('x', i * i) end; redis.call('set', 'k', cmsgpack.pack(t));
            return {}

            local t = {}; for i = 1, 400 do t[i] = i end;
            return { #cmsgpack.pack(t), unpack(cmsgpack.unpack(cmsgpack.pack(t))) }

            redis.call('set', 'k', struct.pack('>Bddd', 98, 0.1, -1e300, 2^53));
            return { struct.unpack('>Bddd', redis.call('get', 'k')) }

            redis.call('set', 'k', struct.pack('>Bd', 300, 1/0)); return { struct.unpack('>B', redis.call('get', 'k')) }

            return { struct.unpack('>Bd', 'short') }

            local packed = struct.pack('>BHd', 7, 65535, 1) .. struct.pack('>dH', 2, 65537)
            return { #packed, struct.unpack('>BHd', packed), struct.unpack('>dH', packed, 12) }

            return { struct.unpack('>H', '12', 2) }
            """;

    private static RedisServer server;
    private RedisPair pair;

    @BeforeAll
    static void start() {
        server = RedisServer.launch();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void connect() throws IOException {
        pair = new RedisPair(server.url());
        pair.setSubscribers(3);
    }

    @AfterEach
    void disconnect() throws IOException {
        pair.close();
    }

    static Stream<String> calls() {
        return Stream.of(STRINGS, KEYS, HASHES, SORTED_SETS, NUMBERS).flatMap(MemoryRedisCommandTest::parts);
    }

    static Stream<String> scripts() {
        return parts(SCRIPTS);
    }

    private static Stream<String> parts(String cases) {
        return Stream.of(cases.split("\n\n"));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void commandDoesWhatItDoesInRedis(String calls) {
        pair.eval(PAIRS + "return each(" + calls + ")", List.of(), List.of());
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void scriptDoesWhatItDoesInRedis(String script) {
        pair.eval(script, List.of("key", "ü"), List.of("argument", ""));
    }

    @Test
    void keysAndArgumentsArriveAsTheyAre() {
        Outcome outcome = pair.eval(
                "redis.call('set', KEYS[1], ARGV[2]);"
                        + " return { #KEYS, #ARGV, KEYS[2], ARGV[1], #ARGV[2], ARGV[3] or 0 }",
                List.of("ü", "k\0\n"),
                List.of("€", "a\0b"));
        assertThat(outcome.data()).isEqualTo("\\xc3\\xbc string a\\x00b\n");
    }

    @Test
    void keysExpireInTime() {
        pair.eval("redis.call('set', 'k', 1, 'px', 100); redis.call('set', 'l', 1); return {}", List.of(), List.of());
        for (long millis : new long[] {0, 50, 49, -20, 22, 1, 1_000}) {
            pair.pass(millis * 1_000 + 7);
            pair.eval("return { redis.call('exists', 'k', 'l'), redis.call('pttl', 'k') }", List.of(), List.of());
        }
        assertThat(pair.memory().keys()).containsExactly("l");
    }
}
