package dev.interlock.fleet;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The child's end of a {@link Peer}: a session with one lock, and threads that do with it what they are told.
 *
 * <p>A command is {@code <thread> <verb>}, an answer {@code <thread> <what happened>}.
 */
final class LockConsole {

    private final Interlock interlock;
    private final DistributedReentrantLock lock;

    private LockConsole(String url, String name, Duration lease) {
        var listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                ChildConsole.say("LOST session " + loss.fencingToken());
            }
        };
        interlock = Interlock.builder().uri(url).lease(lease).listener(listener).open();
        lock = interlock.lock(name);
        lock.onLost(loss -> ChildConsole.say("LOST lock " + loss.fencingToken()));
    }

    public static void main(String[] args) throws InterruptedException {
        var console = new LockConsole(args[0], args[1], Duration.ofMillis(Long.parseLong(args[2])));
        ChildConsole.say("READY " + console.interlock.id());
        Map<String, ExecutorService> threads = new HashMap<>();
        while (true) {
            String[] command = ChildConsole.readCommand().split(" ", -1);
            threads.computeIfAbsent(command[0], name -> Executors.newSingleThreadExecutor(task -> daemon(name, task)))
                    .execute(() -> ChildConsole.say(command[0] + " " + console.answer(command[1])));
        }
    }

    private static Thread daemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    private String answer(String verb) {
        try {
            return run(verb);
        } catch (RuntimeException | Error e) {
            return "THREW " + verb + " " + e.getClass().getSimpleName() + " " + e.getMessage();
        }
    }

    private String run(String verb) {
        switch (verb) {
            case "lock" -> {
                lock.lock();
                return "LOCKED " + Monotonic.nanos() + " " + lock.fencingToken();
            }
            case "unlock" -> {
                long exit = Monotonic.nanos();
                lock.unlock();
                return "UNLOCKED " + exit;
            }
            case "assert" -> {
                lock.assertHeld();
                return "HELD";
            }
            case "token" -> {
                return "TOKEN " + lock.fencingToken();
            }
            case "holds" -> {
                return "HOLDS " + lock.isHeldByCurrentThread() + " " + lock.getHoldCount();
            }
            case "queue" -> {
                return "QUEUE " + lock.getQueueLength();
            }
            case "close" -> {
                interlock.close();
                return "CLOSED";
            }
            default -> throw new IllegalArgumentException(verb);
        }
    }
}
