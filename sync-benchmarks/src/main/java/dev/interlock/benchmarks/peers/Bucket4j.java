package dev.interlock.benchmarks.peers;

import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.serialization.Mapper;
import io.github.bucket4j.redis.redisson.Bucket4jRedisson;
import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/** Bucket4j on Redisson, with the compare-and-swap that it offers there. */
public final class Bucket4j {

    private Bucket4j() {}

    /**
     * A bucket that Redis forgets when it is full again, as it does ours.
     *
     * @param tokens how many there are at most, and at first
     * @param refill how many come
     * @param period in this time, evenly
     */
    public static Bucket bucket(RedissonClient redis, String name, long tokens, long refill, Duration period) {
        return Bucket4jRedisson.casBasedBuilder(((Redisson) redis).getCommandExecutor())
                .keyMapper(Mapper.STRING)
                .expirationAfterWrite(ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ZERO))
                .build()
                .builder()
                .build(
                        name,
                        () -> BucketConfiguration.builder()
                                .addLimit(limit -> limit.capacity(tokens).refillGreedy(refill, period))
                                .build());
    }
}
