package dev.interlock.lock.fleet;

import static java.util.Objects.requireNonNull;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Condition;

/**
 * The child's end of {@link Peer}s: sessions with one lock each, and threads that do with it what they are told.
 *
 * <p>A command is {@code <session> <thread> <verb>}, an answer {@code <session> <thread> <what happened>}. The first
 * command of a session is {@code <session> open <url> <name> <lease ms> <kind>}, its kind being that of
 * {@link Peer#start}. What the listeners hear comes as {@code <session> LOST session <token>} and {@code <session> LOST
 * lock <token>}.
 */
final class LockConsole {

    private final String label;
    private final Interlock interlock;
    private final DistributedReentrantLock lock;
    private final Condition condition;
    private final Map<String, ExecutorService> threads = new HashMap<>();

    private LockConsole(String label, String url, String name, Duration lease, String kind) {
        this.label = label;
        var listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                say("LOST session " + loss.fencingToken());
            }
        };
        interlock = Interlock.builder().uri(url).lease(lease).listener(listener).open();
        lock = switch (kind) {
            case "plain" -> interlock.lock(name);
            case "fair" -> interlock.fairLock(name);
            default -> interlock.lock(name, LockOptions.retain(Duration.ofMillis(Long.parseLong(kind))));
        };
        lock.onLost(loss -> say("LOST lock " + loss.fencingToken()));
        condition = lock.newCondition();
    }

    public static void main(String[] args) throws InterruptedException {
        ChildConsole.say("READY");
        Map<String, LockConsole> consoles = new HashMap<>();
        while (true) {
            String[] command = ChildConsole.readCommand().split(" ", -1);
            if (command[1].equals("open")) {
                Duration lease = Duration.ofMillis(Long.parseLong(command[4]));
                var opened = new LockConsole(command[0], command[2], command[3], lease, command[5]);
                consoles.put(command[0], opened);
                opened.say("OPEN " + opened.interlock.id());
                continue;
            }
            LockConsole console = requireNonNull(consoles.get(command[0]));
            if (command[1].equals("close")) {
                consoles.remove(command[0]);
                console.close();
            } else {
                console.obey(command[1], command[2]);
            }
        }
    }

    private void say(String line) {
        ChildConsole.say(label + " " + line);
    }

    private void close() {
        interlock.close();
        threads.values().forEach(ExecutorService::shutdown);
        say("CLOSED");
    }

    private void obey(String thread, String verb) {
        threads.computeIfAbsent(thread, name -> Executors.newSingleThreadExecutor(task -> daemon(name, task)))
                .execute(() -> say(thread + " " + answer(verb)));
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

    @SuppressWarnings("WaitNotInLoop") // What ends it is the question.
    private void waitOnce() {
        condition.awaitUninterruptibly();
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
            case "await" -> {
                waitOnce();
                return "RETURNED " + Monotonic.nanos() + " " + lock.getHoldCount();
            }
            case "signal" -> {
                condition.signal();
                return "SIGNALLED";
            }
            case "signalAll" -> {
                condition.signalAll();
                return "SIGNALLED";
            }
            case "waiters" -> {
                return "WAITERS " + lock.getWaitQueueLength(condition);
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
            default -> throw new IllegalArgumentException(verb);
        }
    }
}
