package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.interlock.Interlock;
import dev.interlock.spring.InterlockLockProvider;
import dev.interlock.spring.InterlockLockRegistry;
import dev.interlock.spring.Locked;
import dev.interlock.spring.Once;
import dev.interlock.spring.RateLimited;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** An application of one line of Spring Boot, whose only setting is where Boot's Redis is. */
class ApplicationTest {
    private static final RedisServer REDIS = RedisServer.launch();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static ConfigurableApplicationContext application;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {}

    @RestController
    static class Orders {
        private final Interlock interlock;

        Orders(Interlock interlock) {
            this.interlock = interlock;
        }

        @Once(name = "invoices", atLeast = "1h")
        public String sendInvoices() {
            return "sent";
        }

        @GetMapping("/ship/{id}")
        @Locked(name = "order:#{#id}")
        public String ship(@PathVariable("id") String id) {
            return "held: " + interlock.lock("order:" + id).isHeldByCurrentThread();
        }

        @GetMapping("/search")
        @RateLimited(name = "search", permits = 1, per = "1h")
        public String search() {
            return "hits";
        }
    }

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(Application.class)
                .properties(Map.of(
                        "spring.data.redis.url", REDIS.url(),
                        "server.port", "0",
                        "management.endpoints.web.exposure.include", "*",
                        "management.endpoint.health.show-details", "always"))
                .run("--spring.config.name=none");
    }

    @AfterAll
    static void stop() {
        application.close();
        REDIS.close();
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        String port = application.getEnvironment().getRequiredProperty("local.server.port");
        return CLIENT.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void itIsTheLineThatIsMeant() {
        assertTrue(SpringBootVersion.getVersion().startsWith("@line@"), SpringBootVersion.getVersion());
    }

    @Test
    void annotationsWork() throws IOException, InterruptedException {
        assertEquals("sent", application.getBean(Orders.class).sendInvoices());
        assertNull(application.getBean(Orders.class).sendInvoices());
        assertEquals("held: true", get("/ship/1").body());
        assertEquals(200, get("/search").statusCode());
        assertEquals(429, get("/search").statusCode());
    }

    @Test
    void healthHasTheSession() throws IOException, InterruptedException {
        String health = get("/actuator/health").body();
        assertTrue(health.contains("\"interlock\":{"), health);
        assertTrue(health.contains("\"roundTrip\":\"PT"), health);
    }

    @Test
    void operatorsSeeWhoHoldsWhat() throws IOException, InterruptedException {
        Interlock interlock = application.getBean(Interlock.class);
        interlock.lock("stock").lock();
        try {
            String token = "\"token\":\"" + interlock.lock("stock").fencingToken() + "\"";
            assertEquals(200, get("/actuator/interlock").statusCode());
            awaitShown("/actuator/interlock", token);
            awaitShown("/actuator/interlock?glob=sto*", token);
            awaitShown("/actuator/interlock/stock", token);
            assertEquals(404, get("/actuator/interlock/free").statusCode());
        } finally {
            interlock.lock("stock").unlock();
        }
    }

    /** On a busy machine the answer of a session may come later than the endpoint waits for it. */
    private static void awaitShown(String path, String text) throws IOException, InterruptedException {
        String body = get(path).body();
        for (long end = System.nanoTime() + 60_000_000_000L; !body.contains(text); body = get(path).body()) {
            assertTrue(System.nanoTime() < end, body);
        }
    }

    @Test
    void adaptersAndMetersAreThere() throws IOException, InterruptedException {
        assertInstanceOf(InterlockLockProvider.class, application.getBean(LockProvider.class));
        assertInstanceOf(InterlockLockRegistry.class, application.getBean(LockRegistry.class));
        Lock lock = application.getBean(LockRegistry.class).obtain("files");
        lock.lock();
        assertTrue(application.getBean(Interlock.class).lock("integration:files").isHeldByCurrentThread());
        lock.unlock();
        assertEquals(200, get("/actuator/metrics/interlock.lock.active").statusCode());
    }
}
