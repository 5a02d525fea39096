package dev.interlock.testing.rig;

import dev.interlock.Interlock;

/** Work in one session of this library. */
public abstract class SessionWork implements Work {

    private final Interlock interlock;

    protected SessionWork(Interlock interlock) {
        this.interlock = interlock;
    }

    protected final Interlock interlock() {
        return interlock;
    }

    @Override
    public final void close() {
        interlock.close();
    }
}
