package dev.interlock.benchmarks.peers;

import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Integration's registry of locks, over Lettuce, as it is without further settings but for how it waits. */
public final class SpringRegistry implements AutoCloseable {

    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;

    private SpringRegistry(String redisUrl, RedisLockType type) {
        connections = new LettuceConnectionFactory(LettuceConnectionFactory.createRedisConfiguration(redisUrl));
        connections.afterPropertiesSet();
        connections.start();
        registry = new RedisLockRegistry(connections, "spring");
        registry.setRedisLockType(type);
    }

    /** Whoever waits tries every 100 ms: the default. */
    public static SpringRegistry spinning(String redisUrl) {
        return new SpringRegistry(redisUrl, RedisLockType.SPIN_LOCK);
    }

    /** Whoever waits is told. */
    public static SpringRegistry listening(String redisUrl) {
        return new SpringRegistry(redisUrl, RedisLockType.PUB_SUB_LOCK);
    }

    /** The lock of a name. */
    public Lock lock(String name) {
        return registry.obtain(name);
    }

    @Override
    public void close() {
        registry.destroy();
        connections.destroy();
    }
}
