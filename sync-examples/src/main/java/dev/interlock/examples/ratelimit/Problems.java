package dev.interlock.examples.ratelimit;

import dev.interlock.RedisUnavailableException;
import java.net.URI;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** What went wrong, as {@code application/problem+json} (RFC 9457). */
@RestControllerAdvice
final class Problems extends ResponseEntityExceptionHandler {

    private static final URI QUOTA_EXCEEDED =
            URI.create("https://iana.org/assignments/http-problem-types#quota-exceeded");

    /** The problem of that name in draft-ietf-httpapi-ratelimit-headers-10. */
    static ProblemDetail quotaExceeded(String policy, String retryAfterSeconds) {
        var problem = ProblemDetail.forStatusAndDetail(
                HttpStatus.TOO_MANY_REQUESTS, "Try again in " + retryAfterSeconds + " s.");
        problem.setType(QUOTA_EXCEEDED);
        problem.setTitle("Request cannot be satisfied as assigned quota has been exceeded");
        problem.setProperty("violated-policies", List.of(policy));
        return problem;
    }

    /**
     * A service that would rather admit too many than none uses {@link dev.interlock.ratelimit.OutagePolicy#ADMIT}
     * instead.
     */
    @ExceptionHandler
    ProblemDetail noAnswer(RedisUnavailableException unused) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.SERVICE_UNAVAILABLE, "It can't be told now whether the quota has been exceeded.");
    }
}
