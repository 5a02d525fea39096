package dev.interlock.lock.fleet;

import dev.interlock.lock.fleet.section.SectionWork;
import dev.interlock.testing.rig.Task;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Sections under a plain RLock. */
final class RLockWork extends SectionWork {

    private static final int LONG_SECTION = 16;

    private final RedissonClient client;

    RLockWork(Task task) {
        this(task, client(task.url()));
    }

    private RLockWork(Task task, RedissonClient client) {
        super(client.getLock(task.name()), LONG_SECTION);
        this.client = client;
    }

    private static RedissonClient client(String url) {
        var config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
