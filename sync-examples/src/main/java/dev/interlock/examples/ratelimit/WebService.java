package dev.interlock.examples.ratelimit;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * A web service that admits so many requests of a client and no more, however many instances of it there are.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=ratelimit.WebService} starts one, and says where its page is, which shows admitted
 * and refused requests as they come, and how to start a second one. {@code GET /lua/alice} admits Alice three times in
 * ten seconds, {@code GET /bucket/alice} five times per second after a burst of ten. What takes part in that:
 * {@link Limits} says what is limited, {@link RateLimitInterceptor} does it, {@link RateLimitFields} and
 * {@link Problems} tell the client. Another page, from {@link dev.interlock.examples.operations}, shows the locks of
 * the service's Redis.
 */
@SpringBootApplication(
        proxyBeanMethods = false,
        scanBasePackages = {"dev.interlock.examples.ratelimit", "dev.interlock.examples.operations"},
        // Of another example, which has the same class path.
        exclude = DataSourceAutoConfiguration.class)
public class WebService {

    private static final String REDIS_URL = "redis.url";
    private static final String PORT = "server.port";
    private static final int USUAL_PORT = 8080;

    /** A client that waits is worse off than one that is told to come again. */
    private static final Duration LONGEST_WAIT_FOR_REDIS = Duration.ofSeconds(5);

    @Bean
    Interlock interlock(@Value("${" + REDIS_URL + "}") String redisUrl) {
        return Interlock.builder()
                .uri(redisUrl)
                .commandTimeout(LONGEST_WAIT_FOR_REDIS)
                .open();
    }

    @Bean
    Traffic traffic() {
        return new Traffic(System::nanoTime);
    }

    /**
     * Starts an instance.
     *
     * @param port 0 for any that is free
     * @return the instance, which is closed to stop it
     */
    public static ConfigurableApplicationContext start(String redisUrl, int port) {
        var service = new SpringApplication(WebService.class);
        service.setBannerMode(Banner.Mode.OFF);
        // Whoever wants it to be reached from elsewhere says so: -Dserver.address=0.0.0.0
        service.setDefaultProperties(
                Map.of("server.address", "127.0.0.1", "management.endpoints.access.max-permitted", "none"));
        return service.run("--" + REDIS_URL + "=" + redisUrl, "--" + PORT + "=" + port);
    }

    /** The port that an instance listens at. */
    public static int port(ConfigurableApplicationContext instance) {
        return instance.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    /** Starts an instance that joins the others of a Redis, or brings one along if it isn't told any. */
    public static void main(String[] args) {
        String given = System.getProperty(REDIS_URL, "");
        String redisUrl = given.isBlank() ? RedisServer.provided().url() : given;
        int port = port(start(redisUrl, Integer.getInteger(PORT, USUAL_PORT)));
        System.out.printf("""
                SERVING at http://127.0.0.1:%d/

                    curl -i http://127.0.0.1:%1$d/lua/alice        3 requests in 10 s
                    curl -i http://127.0.0.1:%1$d/bucket/alice     5 requests per second, 10 at once
                    http://127.0.0.1:%1$d/operations.html         who holds and who waits for which lock of this Redis

                A second instance with the same limits:

                    mvn -q -Pdemo -Dexample=ratelimit.WebService -Dserver.port=%d -Dredis.url=%s
                """, port, port + 1, redisUrl);
    }
}
