package dev.interlock.spring.boot;

import dev.interlock.RedisUnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Tells that an application hasn't started because the session can't reach Redis, and what to do about that. */
final class InterlockFailureAnalyzer extends AbstractFailureAnalyzer<RedisUnavailableException> {
    @Override
    protected FailureAnalysis analyze(Throwable root, RedisUnavailableException cause) {
        return new FailureAnalysis(
                "Interlock can't reach Redis: " + cause.getMessage(),
                "Start Redis, or say where it is, and the user and password: by a bean of type RedissonClient, a"
                        + " service connection of Spring Boot, or the properties interlock.uri, username and"
                        + " password. With interlock.lazy=true the application starts without Redis, and connects"
                        + " when it is there.",
                cause);
    }
}
