package dev.interlock.semaphore.fleet;

import static java.util.Objects.requireNonNull;

import dev.interlock.DistributedSemaphore;
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
 * The child's end of {@link SemaphorePeer}s: sessions with one semaphore each, and threads that do with it what they
 * are told.
 *
 * <p>A command is {@code <session> <thread> <verb> <permits>}, an answer {@code <session> <thread> <what happened>}.
 * The first command of a session is {@code <session> open <url> <name> <lease ms> <kind> <permits>}. What the listeners
 * hear comes as {@code <session> LOST session} and {@code <session> LOST semaphore}.
 */
final class SemaphoreConsole {

    private final String label;
    private final Interlock interlock;
    private final DistributedSemaphore semaphore;
    private final Map<String, ExecutorService> threads = new HashMap<>();

    private SemaphoreConsole(String label, String url, String name, Duration lease, Kind kind, int permits) {
        this.label = label;
        var listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                say("LOST session " + loss.getMessage());
            }
        };
        interlock = Interlock.builder().uri(url).lease(lease).listener(listener).open();
        semaphore = kind.of(interlock, name, permits);
        semaphore.onLost(loss -> say("LOST semaphore " + loss.getMessage()));
    }

    public static void main(String[] args) throws InterruptedException {
        ChildConsole.say("READY");
        Map<String, SemaphoreConsole> consoles = new HashMap<>();
        while (true) {
            String[] command = ChildConsole.readCommand().split(" ", -1);
            if (command[1].equals("open")) {
                Duration lease = Duration.ofMillis(Long.parseLong(command[4]));
                Kind kind = Kind.valueOf(command[5]);
                int permits = Integer.parseInt(command[6]);
                var opened = new SemaphoreConsole(command[0], command[2], command[3], lease, kind, permits);
                consoles.put(command[0], opened);
                opened.say("OPEN " + opened.interlock.id());
                continue;
            }
            SemaphoreConsole console = requireNonNull(consoles.get(command[0]));
            if (command[1].equals("close")) {
                consoles.remove(command[0]);
                console.close();
            } else {
                console.obey(command[1], command[2], Integer.parseInt(command[3]));
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

    private void obey(String thread, String verb, int permits) {
        threads.computeIfAbsent(thread, name -> Executors.newSingleThreadExecutor(task -> daemon(name, task)))
                .execute(() -> say(thread + " " + answer(verb, permits)));
    }

    private static Thread daemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    private String answer(String verb, int permits) {
        try {
            return run(verb, permits);
        } catch (InterruptedException | RuntimeException | Error e) {
            return "THREW " + verb + " " + e.getClass().getSimpleName() + " " + e.getMessage();
        }
    }

    private String run(String verb, int permits) throws InterruptedException {
        switch (verb) {
            case "acquire" -> {
                semaphore.acquire(permits);
                return "ACQUIRED " + Monotonic.nanos();
            }
            case "try" -> {
                return "TRIED " + semaphore.tryAcquire(permits);
            }
            case "release" -> {
                long exit = Monotonic.nanos();
                semaphore.release(permits);
                return "RELEASED " + exit;
            }
            case "available" -> {
                return "AVAILABLE " + semaphore.availablePermits();
            }
            default -> throw new IllegalArgumentException(verb);
        }
    }
}
