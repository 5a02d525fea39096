package dev.interlock.examples;

import java.util.List;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * The units for sale: a number in Redis that buyers read, think about, and write back less one. The sale is booked to
 * the buyer by the script that writes the number, so what counts as sold is what the store has recorded, whoever dies
 * when.
 */
final class Stock {

    static final int UNITS = 1_000;

    /** How many units are left. */
    static final String LEFT = "flash-sale:stock";
    /** A hash of how many units each buyer has got. */
    static final String SOLD = "flash-sale:sold";
    /** The fencing token of the last writer. */
    static final String TOKEN = "flash-sale:token";
    /** How many stale writes were refused. */
    static final String REFUSED = "flash-sale:refused";

    private static final String WRITE = """
            local left, sold, units, buyer = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
            redis.call('set', left, units)
            redis.call('hincrby', sold, buyer, 1)
            return 1
            """;

    /** An older token comes from a holder who has been overtaken; the same one is a repeat of a write that is done. */
    private static final String FENCE = """
            local last, refused, token = KEYS[3], KEYS[4], ARGV[3]
            local seen = redis.call('get', last)
            if seen and token < seen then
                redis.call('incr', refused)
                return 0
            end
            if token == seen then
                return 1
            end
            redis.call('set', last, token)
            """;

    private static final List<Object> KEYS = List.of(LEFT, SOLD, TOKEN, REFUSED);

    private final RedissonClient redis;

    Stock(RedissonClient redis) {
        this.redis = redis;
    }

    int left() {
        return Integer.parseInt(
                redis.<String>getBucket(LEFT, StringCodec.INSTANCE).get());
    }

    /** Sells a unit to a buyer, whatever anybody else has written meanwhile. */
    void write(int units, String buyer) {
        eval(WRITE, units, buyer);
    }

    /**
     * Sells a unit to a buyer, unless somebody with a newer token has written before.
     *
     * @return whether it was sold; false if the write was stale
     */
    boolean write(int units, String buyer, long fencingToken) {
        // Equally long, so that Lua can compare them as strings: as a number it would keep only 53 of the 63 bits.
        return eval(FENCE + WRITE, units, buyer, "%019d".formatted(fencingToken)) == 1;
    }

    private long eval(String script, Object... arguments) {
        return redis.getScript(StringCodec.INSTANCE)
                .<Long>eval(RScript.Mode.READ_WRITE, script, RScript.ReturnType.LONG, KEYS, arguments);
    }
}
