package dev.interlock.lock.fleet;

import dev.interlock.Interlock;
import dev.interlock.lock.fleet.section.SectionWork;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Task;
import java.nio.file.Path;
import java.time.Duration;

/** Sections under a lock of this library, with some lease, and a rest after each. */
final class LockWork extends SectionWork {

    private static final int LONG_SECTION = 16;

    private final Interlock interlock;

    LockWork(Task task) {
        this(
                task,
                RedisServer.connect(() -> Interlock.builder()
                        .uri(task.url())
                        .lease(task.duration(0))
                        .open()));
    }

    private LockWork(Task task, Interlock interlock) {
        super(interlock.lock(task.name()), LONG_SECTION, task.duration(1).toNanos());
        this.interlock = interlock;
    }

    static Task task(String url, String name, int threads, Path file, Duration lease, Duration rest) {
        return Task.of(LockWork.class, url, name, threads, file, lease, rest);
    }

    @Override
    public void close() {
        interlock.close();
    }
}
