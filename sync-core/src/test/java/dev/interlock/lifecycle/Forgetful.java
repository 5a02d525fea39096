package dev.interlock.lifecycle;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A JVM whose main method ends without closing its session; but it shuts the client down. */
final class Forgetful {
    private Forgetful() {}

    /** Takes the address of Redis. */
    public static void main(String[] args) throws InterruptedException {
        Config config = new Config();
        config.useSingleServer().setAddress(args[0]);
        RedissonClient client = Redisson.create(config);
        Interlock session = Interlock.using(client);
        session.lock("forgotten").tryLock();
        session.lock("forgotten").unlock();
        ChildConsole.say("LASTING "
                + Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !thread.isDaemon()
                                && thread != Thread.currentThread()
                                && !thread.getName().equals("DestroyJavaVM"))
                        .map(Thread::getName)
                        .sorted()
                        .collect(Collectors.joining(", ")));
        ChildConsole.readCommand();
        client.shutdown();
    }
}
