package dev.interlock.lifecycle;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.RedisServer;
import java.time.Duration;

/** A JVM that holds a lock, whose shutdown hook closes the session when the section is over. */
final class Ending {
    private Ending() {}

    /** Takes the address of Redis, a name and a lease in milliseconds. */
    public static void main(String[] args) throws InterruptedException {
        Interlock session = RedisServer.connect(() -> Interlock.builder()
                .uri(args[0])
                .lease(Duration.ofMillis(Long.parseLong(args[2])))
                .listener(new SyncListener() {
                    @Override
                    public void lost(LeaseLostException loss) {
                        ChildConsole.say("LOST " + loss.getMessage());
                    }
                })
                .open());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ChildConsole.say("CLOSING");
            session.close(Duration.ofMinutes(1));
            ChildConsole.say("CLOSED");
        }));
        DistributedReentrantLock lock = session.lock(args[1]);
        lock.lock();
        ChildConsole.say("ENTERED");
        ChildConsole.readCommand();
        lock.assertHeld();
        lock.unlock();
        ChildConsole.say("LEFT");
    }
}
