package dev.interlock.examples.ratelimit;

import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimiter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Takes a permit of the client for each request, and answers instead of the handler if there is none. Who the client
 * is, is taken from the path here; a service that trusts nobody takes it from the credentials.
 */
final class RateLimitInterceptor implements HandlerInterceptor {

    private static final int LONGEST_ID = 100;

    private final String policy;
    private final RateLimiter limiter;
    private final Traffic traffic;

    RateLimitInterceptor(String policy, RateLimiter limiter, Traffic traffic) {
        this.policy = policy;
        this.limiter = limiter;
        this.traffic = traffic;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        if (!(request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE) instanceof Map<?, ?> path
                && path.get("id") instanceof String client)) {
            return true; // OPTIONS, which Spring answers by itself
        }
        checkId(client);
        Decision decision = limiter.forKey(client).decide(1);
        traffic.count(policy, client, decision.allowed());
        var fields = new RateLimitFields(policy, limiter.limit(), decision);
        response.setHeader("RateLimit-Policy", fields.rateLimitPolicy());
        response.setHeader("RateLimit", fields.rateLimit());
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        if (!decision.allowed()) {
            response.setHeader(HttpHeaders.RETRY_AFTER, fields.retryAfter());
            throw new ErrorResponseException(
                    HttpStatus.TOO_MANY_REQUESTS, Problems.quotaExceeded(policy, fields.retryAfter()), null);
        }
        return true;
    }

    private static void checkId(String id) {
        if (id.isBlank() || id.length() > LONGEST_ID) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "an id has 1 to " + LONGEST_ID + " characters, and not only blanks");
        }
    }
}
