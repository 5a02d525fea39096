package shop.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.spring.RateLimitExceededException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The application of the page about Spring: its dependency, its line of configuration and its service. */
class PageTest {
    private static ConfigurableApplicationContext application;
    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(Shop.class)
                .web(WebApplicationType.NONE)
                .run();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @BeforeEach
    void listen() {
        Shop.work = calls::add;
    }

    private static Orders orders() {
        return application.getBean(Orders.class);
    }

    @Test
    void anOrderIsShippedUnderItsLock() {
        DistributedReentrantLock lock = application.getBean(Interlock.class).lock("order:42");
        Shop.work = method -> calls.add(method + ": " + lock.isHeldByCurrentThread());
        orders().ship(42);
        assertEquals(List.of("ship: true"), calls);
        assertFalse(lock.isHeldByCurrentThread());
    }

    @Test
    void aUserSearchesFiveTimes() {
        for (int i = 0; i < 5; i++) {
            orders().search("ann", "books");
        }
        assertThrows(RateLimitExceededException.class, () -> orders().search("ann", "books"));
        orders().search("bob", "books");
        assertEquals(6, calls.size());
    }

    @Test
    void invoicesAreSentOnce() {
        orders().sendInvoices();
        orders().sendInvoices();
        assertEquals(List.of("sendInvoices"), calls);
    }
}
