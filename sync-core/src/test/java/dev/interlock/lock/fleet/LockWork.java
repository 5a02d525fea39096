package dev.interlock.lock.fleet;

import dev.interlock.Interlock;
import dev.interlock.lock.fleet.section.SectionWork;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Task;

/** Sections under a lock of this library. */
final class LockWork extends SectionWork {

    private static final int LONG_SECTION = 16;

    private final Interlock interlock;

    LockWork(Task task) {
        this(task, RedisServer.connect(() -> Interlock.connect(task.url())));
    }

    private LockWork(Task task, Interlock interlock) {
        super(interlock.lock(task.name()), LONG_SECTION);
        this.interlock = interlock;
    }

    @Override
    public void close() {
        interlock.close();
    }
}
