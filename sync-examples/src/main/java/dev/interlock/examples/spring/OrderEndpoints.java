package dev.interlock.examples.spring;

import dev.interlock.Interlock;
import dev.interlock.spring.LockBusyException;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.annotation.DurationFormat.Style;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What clients may ask for. The library answers for what its limits refuse. */
@RestController
final class OrderEndpoints {

    private final OrderDesk desk;
    private final String instance;

    OrderEndpoints(OrderDesk desk, Interlock interlock) {
        this.desk = desk;
        this.instance = interlock.sessionName();
    }

    /**
     * A parcel that was packed.
     *
     * @param number its number among those of its order
     * @param instance the instance that has packed it
     */
    record Parcel(long order, int number, String instance) {}

    @PostMapping("/orders/{order}/parcels")
    Parcel pack(
            @PathVariable long order,
            @RequestParam(defaultValue = "0s") @DurationFormat(style = Style.SIMPLE) Duration time,
            @RequestParam(defaultValue = "true") boolean locked)
            throws InterruptedException {
        int number = locked ? desk.packParcel(order, time) : desk.packParcelWithoutLock(order, time);
        return new Parcel(order, number, instance);
    }

    @GetMapping("/search")
    List<Long> search(@RequestParam String user, @RequestParam String words) {
        return desk.search(user, words);
    }

    @ExceptionHandler
    ProblemDetail busy(LockBusyException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, e.getMessage());
    }

    @ExceptionHandler
    ProblemDetail missing(NoSuchElementException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, e.getMessage());
    }
}
