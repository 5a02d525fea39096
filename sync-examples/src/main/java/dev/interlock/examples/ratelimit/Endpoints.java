package dev.interlock.examples.ratelimit;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** What the service is for, which knows nothing of limits, and what its page shows. */
@RestController
final class Endpoints {

    private final Traffic traffic;

    Endpoints(Traffic traffic) {
        this.traffic = traffic;
    }

    /**
     * The answer to a request that was admitted.
     *
     * @param instance the port of the instance that gave it
     */
    record Greeting(String hello, int instance) {}

    /**
     * The requests of the last minute.
     *
     * @param instance the port of the instance that has seen them
     */
    record Seen(int instance, List<Traffic.Series> keys) {}

    @GetMapping({"/lua/{id}", "/bucket/{id}"})
    Greeting greet(@PathVariable String id, HttpServletRequest request) {
        return new Greeting(id, request.getLocalPort());
    }

    @GetMapping("/traffic")
    Seen traffic(HttpServletRequest request) {
        return new Seen(request.getLocalPort(), traffic.series());
    }
}
