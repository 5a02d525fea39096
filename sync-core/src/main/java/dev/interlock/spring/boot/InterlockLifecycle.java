package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the session at the end of an application, when the threads that use it have had their time: after the web
 * server has answered its last request, and after all other beans with a life cycle of usual phases have stopped.
 */
final class InterlockLifecycle implements SmartLifecycle {
    /** Beans of lower phases stop later; plain ones have 0. */
    private static final int PHASE = Integer.MIN_VALUE / 2;

    private final Interlock interlock;
    private final Duration await;
    private volatile boolean running;

    InterlockLifecycle(Interlock interlock, Duration await) {
        this.interlock = interlock;
        this.await = await;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        interlock.close(await);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A closed session can't be opened again, so a context that only pauses leaves it open. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
