package dev.interlock.spring;

import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients of a web application that they have come too often: by status 429 with the fields {@code Retry-After},
 * and {@code RateLimit} and {@code RateLimit-Policy} as in <i>RateLimit header fields for HTTP</i>,
 * draft-ietf-httpapi-ratelimit-headers-10. Seconds are rounded up, so that nobody comes too early. An application that
 * handles {@link RateLimitExceededException} itself does so instead.
 */
@RestControllerAdvice
public class RateLimitAdvice {
    /** Answers a request that a limit has refused. */
    @ExceptionHandler(RateLimitExceededException.class)
    ResponseEntity<ProblemDetail> refuse(RateLimitExceededException refusal) {
        RateLimit limit = refusal.limit();
        // Of a token bucket its size, and the time in which it is filled.
        Duration window = limit.window().multipliedBy(limit.burst()).dividedBy(limit.permits());
        String policy = '"' + refusal.limiterName().replaceAll("[^A-Za-z0-9._:/-]", "-") + '"';
        long retryAfter = secondsUp(refusal.decision().retryAfter());
        long remaining = refusal.decision().remaining();
        HttpStatus status = HttpStatus.TOO_MANY_REQUESTS;
        return ResponseEntity.status(status)
                .header(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(1, retryAfter)))
                .header("RateLimit-Policy", policy + ";q=" + limit.burst() + ";w=" + secondsUp(window))
                .header("RateLimit", policy + ";r=" + remaining + ";t=" + retryAfter)
                .header(HttpHeaders.CACHE_CONTROL, "no-store")
                .body(ProblemDetail.forStatusAndDetail(status, "come again in " + Math.max(1, retryAfter) + " s"));
    }

    private static long secondsUp(Duration duration) {
        return duration.plusSeconds(1).minusNanos(1).toSeconds();
    }
}
