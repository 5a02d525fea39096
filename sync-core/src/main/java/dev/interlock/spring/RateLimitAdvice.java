package dev.interlock.spring;

import dev.interlock.ratelimit.RateLimit;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients of a web application that they have come too often: by status 429 with the fields {@code Retry-After},
 * and {@code RateLimit} and {@code RateLimit-Policy} as in <i>RateLimit header fields for HTTP</i>,
 * draft-ietf-httpapi-ratelimit-headers-10. Seconds are rounded up, so that nobody comes too early.
 *
 * <p>It comes before other advice, whose handlers of more general exceptions would take this one for an error of the
 * server. Advice of the application that names {@link RateLimitExceededException} comes first, and so do all handlers
 * in the controller itself, as ever in Spring.
 */
@RestControllerAdvice
public class RateLimitAdvice implements Ordered, ApplicationContextAware {
    private @Nullable ApplicationContext application;

    @Override
    public void setApplicationContext(ApplicationContext context) {
        application = context;
    }

    @Override
    public int getOrder() {
        return application != null && isHandledBy(application) ? LOWEST_PRECEDENCE : HIGHEST_PRECEDENCE;
    }

    private static boolean isHandledBy(ApplicationContext application) {
        return Arrays.stream(application.getBeanNamesForAnnotation(ControllerAdvice.class))
                .map(application::getType)
                .anyMatch(type -> type != null && isHandledIn(ClassUtils.getUserClass(type)));
    }

    private static boolean isHandledIn(Class<?> advice) {
        return advice != RateLimitAdvice.class
                && !MethodIntrospector.selectMethods(advice, (MethodFilter) RateLimitAdvice::isForIt)
                        .isEmpty();
    }

    private static boolean isForIt(Method method) {
        ExceptionHandler handler = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
        if (handler == null) {
            return false;
        }
        Class<?>[] handled = handler.value().length == 0 ? method.getParameterTypes() : handler.value();
        return Arrays.asList(handled).contains(RateLimitExceededException.class);
    }

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
