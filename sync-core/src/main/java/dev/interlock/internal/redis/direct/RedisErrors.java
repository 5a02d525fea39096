package dev.interlock.internal.redis.direct;

import org.redisson.client.RedisAuthRequiredException;
import org.redisson.client.RedisBusyException;
import org.redisson.client.RedisClusterDownException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisLoadingException;
import org.redisson.client.RedisMasterDownException;
import org.redisson.client.RedisNoReplicasException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisReadonlyException;
import org.redisson.client.RedisTryAgainException;

/** Redis' errors as the exceptions by which Redisson tells of them, so that the rest tells them apart in one way. */
final class RedisErrors {
    private RedisErrors() {}

    /** Returns the exception for an error, whose code is its first word. */
    static RedisException of(String error) {
        int end = error.indexOf(' ');
        return switch (end < 0 ? error : error.substring(0, end)) {
            case "NOSCRIPT" -> new RedisNoScriptException(error);
            case "READONLY" -> new RedisReadonlyException(error);
            case "LOADING" -> new RedisLoadingException(error);
            case "BUSY" -> new RedisBusyException(error);
            case "OOM" -> new RedisOutOfMemoryException(error);
            case "NOAUTH" -> new RedisAuthRequiredException(error);
            case "MASTERDOWN" -> new RedisMasterDownException(error);
            case "NOREPLICAS" -> new RedisNoReplicasException(error);
            case "CLUSTERDOWN" -> new RedisClusterDownException(error);
            case "TRYAGAIN" -> new RedisTryAgainException(error);
            default -> new RedisException(error);
        };
    }

    /** Returns whether a server has answered that it is a replica, in its own words or in those of a script. */
    static boolean isOfReplica(RedisException error) {
        return error instanceof RedisReadonlyException
                || String.valueOf(error.getMessage()).contains("-READONLY ");
    }
}
