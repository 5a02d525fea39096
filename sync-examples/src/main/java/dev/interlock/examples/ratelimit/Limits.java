package dev.interlock.examples.ratelimit;

import dev.interlock.Interlock;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** What is limited, and to how much. The names of the limiters are what the instances have in common. */
@Configuration(proxyBeanMethods = false)
class Limits implements WebMvcConfigurer {

    private static final RateLimit LUA = RateLimit.fixedWindow(3, Duration.ofSeconds(10));
    private static final RateLimit BUCKET =
            RateLimit.tokenBucket(5, Duration.ofSeconds(1)).withBurst(10);

    private final Interlock interlock;
    private final Traffic traffic;

    Limits(Interlock interlock, Traffic traffic) {
        this.interlock = interlock;
        this.traffic = traffic;
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        limit(registry, "lua", LUA);
        limit(registry, "bucket", BUCKET);
    }

    private void limit(InterceptorRegistry registry, String name, RateLimit limit) {
        registry.addInterceptor(new RateLimitInterceptor(name, interlock.rateLimiter(name, limit), traffic))
                .addPathPatterns("/" + name + "/*");
    }
}
