package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;

/**
 * At the end of an application, waits for threads that hold something, after the web server has answered its last
 * request, and after all other beans with a life cycle of usual phases have stopped. Nothing is refused meanwhile:
 * {@link SessionEnd} closes the session, later.
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
        interlock.awaitHolders(await);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A context that only pauses goes on with what its threads hold. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
