package dev.interlock.examples.spring;

import jakarta.servlet.Filter;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The service, an application as any other with Spring Boot: what it does is in {@link OrderDesk}, and its settings are
 * in {@code orders.properties}. It opens no session and takes no lock by itself.
 */
@SpringBootApplication(proxyBeanMethods = false)
@EnableScheduling
public class OrderService {

    /**
     * Sends all of an answer before its servlet is done. Otherwise Tomcat sends it thereafter, when an instance that
     * ends doesn't wait for the request any more and may close the connection.
     */
    @Bean
    Filter answering() {
        return (request, response, chain) -> {
            chain.doFilter(request, response);
            response.getOutputStream().close();
        };
    }

    /** Starts an instance, which arguments such as {@code --interlock.uri=redis://…} tell its Redis and database. */
    public static void main(String[] args) {
        ConfigurableApplicationContext instance = new SpringApplicationBuilder(OrderService.class)
                .properties("spring.config.name=orders")
                .run(args);
        System.out.println(
                "SERVING at http://127.0.0.1:" + instance.getEnvironment().getRequiredProperty("local.server.port"));
    }
}
