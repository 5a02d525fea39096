package dev.interlock.campaign;

import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.RespError;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks Redis all the time, beside everybody's proxies, and remembers when it answered late: it, or the machine, was
 * busy with something else.
 */
final class Lookout implements AutoCloseable {
    private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

    /** What takes longer is late, here and for those who {@linkplain Step.Act#LOOK look} in the JVMs of the fleet. */
    static final long LATE_NANOS = Duration.ofMillis(250).toNanos();

    /** A time in which Redis didn't answer, by the clock of the machine. */
    record Delay(long from, long to) {}

    private final RedisServer server;
    private final List<Delay> delays = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean closed;

    Lookout(RedisServer server) {
        this.server = server;
        var thread = new Thread(this::look, "lookout");
        thread.setDaemon(true);
        thread.start();
    }

    List<Delay> delays() {
        return List.copyOf(delays);
    }

    private void look() {
        long last = Monotonic.nanos();
        while (!closed) {
            LockSupport.parkNanos(PAUSE_NANOS);
            if (answers()) {
                long now = Monotonic.nanos();
                if (now - last > LATE_NANOS) {
                    delays.add(new Delay(last, now));
                }
                last = now;
            }
        }
    }

    private boolean answers() {
        try {
            server.command("PING");
            return true;
        } catch (UncheckedIOException | RespError e) {
            // It was killed, or a script keeps it busy.
            return false;
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
