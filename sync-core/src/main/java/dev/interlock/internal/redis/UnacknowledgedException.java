package dev.interlock.internal.redis;

import org.redisson.client.RedisRetryException;

/** Too few replicas have acknowledged a command in time. The master has executed it. */
final class UnacknowledgedException extends RedisRetryException {
    private static final long serialVersionUID = 1;

    UnacknowledgedException(String message) {
        super(message);
    }
}
