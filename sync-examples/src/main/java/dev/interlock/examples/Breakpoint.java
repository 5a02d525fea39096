package dev.interlock.examples;

import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Places where the director can hold one buyer, as a debugger would: to kill it there, to stop its JVM, or just to be
 * slow.
 */
final class Breakpoint {

    /** Inside the critical section: the stock has been read, nothing has been written. */
    static final String SECTION = "section";
    /** Between the two commands of a lock that needs two. */
    static final String BETWEEN = "between";

    private record Armed(String place, int stock) {}

    private final AtomicReference<@Nullable Armed> armed = new AtomicReference<>();
    private final Semaphore go = new Semaphore(0);

    /** Holds the next buyer who comes to a place when no more than some units are left. */
    void arm(String place, int stock) {
        armed.set(new Armed(place, stock));
    }

    /** Lets the buyer who is held go on. */
    void letGo() {
        go.release();
    }

    /**
     * Comes to a place; if it is armed, announces so with {@code HELD <buyer> <stock> <nanos>} and waits to be let go.
     *
     * @return whether the buyer was held
     */
    boolean pass(String place, IntSupplier stock) {
        Armed current = armed.get();
        if (current == null || !current.place.equals(place)) {
            return false;
        }
        int left = stock.getAsInt();
        if (left > current.stock || !armed.compareAndSet(current, null)) {
            return false;
        }
        ChildConsole.say("HELD " + Thread.currentThread().getName() + " " + left + " " + Monotonic.nanos());
        go.acquireUninterruptibly();
        return true;
    }
}
