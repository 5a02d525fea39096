package dev.interlock.ratelimit;

import dev.interlock.testing.RedisServer;
import java.util.List;

/**
 * What Redis has of some keys at one time.
 *
 * @param keys how many there are
 * @param eternal how many of them have no TTL
 * @param mostMillis the longest TTL
 * @param bytes what those take that were weighed
 * @param weighed how many were weighed
 */
record Census(long keys, long eternal, long mostMillis, long bytes, long weighed) {

    private static final String SCRIPT = """
            local keys = redis.call('keys', ARGV[1])
            local eternal, most, bytes, weighed = 0, 0, 0, math.min(#keys, 1000)
            for i, key in ipairs(keys) do
              local ttl = redis.call('pttl', key)
              eternal = eternal + (ttl == -1 and 1 or 0)
              most = math.max(most, ttl)
              if i <= weighed then
                bytes = bytes + redis.call('memory', 'usage', key, 'samples', 0)
              end
            end
            return {#keys, eternal, most, bytes, weighed}
            """;

    static Census of(RedisServer server, String pattern) {
        if (!(server.command("EVAL", SCRIPT, "0", pattern) instanceof List<?> counts)) {
            throw new IllegalStateException("Not an answer of this script");
        }
        List<Long> numbers = counts.stream().map(Long.class::cast).toList();
        return new Census(numbers.get(0), numbers.get(1), numbers.get(2), numbers.get(3), numbers.get(4));
    }
}
