package dev.interlock.readwrite.fleet;

import static java.util.Objects.requireNonNull;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

/**
 * The child's end of {@link ReadWritePeer}s: sessions with one read-write lock each, and threads that do with it what
 * they are told.
 *
 * <p>A command is {@code <session> <thread> <verb>}, an answer {@code <session> <thread> <what happened>}. The first
 * command of a session is {@code <session> open <url> <name> <lease ms> <kind>}, its kind being {@code plain} or
 * {@code fair}. What the listeners hear comes as {@code <session> LOST session} and {@code <session> LOST lock}.
 */
final class ReadWriteConsole {

    private static final int STREAMING_THREADS = 3;
    private static final long STAY_NANOS = 3_000_000;

    private final String label;
    private final Interlock interlock;
    private final DistributedReadWriteLock lock;
    private final Condition condition;
    private final Map<String, ExecutorService> threads = new HashMap<>();
    private final List<Thread> stream = new ArrayList<>();
    private final AtomicLong streamed = new AtomicLong();
    private volatile boolean streaming;

    private ReadWriteConsole(String label, String url, String name, Duration lease, String kind) {
        this.label = label;
        var listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                say("LOST session");
            }
        };
        interlock = Interlock.builder().uri(url).lease(lease).listener(listener).open();
        lock = kind.equals("fair") ? interlock.fairReadWriteLock(name) : interlock.readWriteLock(name);
        lock.onLost(loss -> say("LOST lock"));
        condition = lock.writeLock().newCondition();
    }

    public static void main(String[] args) throws InterruptedException {
        ChildConsole.say("READY");
        Map<String, ReadWriteConsole> consoles = new HashMap<>();
        while (true) {
            String[] command = ChildConsole.readCommand().split(" ", -1);
            if (command[1].equals("open")) {
                Duration lease = Duration.ofMillis(Long.parseLong(command[4]));
                var opened = new ReadWriteConsole(command[0], command[2], command[3], lease, command[5]);
                consoles.put(command[0], opened);
                opened.say("OPEN " + opened.interlock.id());
                continue;
            }
            ReadWriteConsole console = requireNonNull(consoles.get(command[0]));
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
        } catch (InterruptedException | RuntimeException | Error e) {
            return "THREW " + verb + " " + e.getClass().getSimpleName() + " " + e.getMessage();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // What ends it is the question.
    private void waitOnce() {
        condition.awaitUninterruptibly();
    }

    private String run(String verb) throws InterruptedException {
        switch (verb) {
            case "read" -> {
                lock.readLock().lock();
                return "READS " + Monotonic.nanos();
            }
            case "leave-read" -> {
                long exit = Monotonic.nanos();
                lock.readLock().unlock();
                return "HAS-READ " + exit;
            }
            case "write" -> {
                lock.writeLock().lock();
                return "WRITES " + Monotonic.nanos() + " " + lock.writeLock().fencingToken();
            }
            case "try-write" -> {
                return "TRIED " + lock.writeLock().tryLock(1, TimeUnit.SECONDS);
            }
            case "leave-write" -> {
                long exit = Monotonic.nanos();
                lock.writeLock().unlock();
                return "HAS-WRITTEN " + exit;
            }
            case "assert-read" -> {
                lock.readLock().assertHeld();
                return "HELD";
            }
            case "assert-write" -> {
                lock.writeLock().assertHeld();
                return "HELD";
            }
            case "token" -> {
                return "TOKEN " + lock.writeLock().fencingToken();
            }
            case "holds" -> {
                return "HOLDS " + lock.getReadHoldCount() + " " + lock.getWriteHoldCount();
            }
            case "await" -> {
                waitOnce();
                return "RETURNED " + Monotonic.nanos() + " " + lock.getReadHoldCount() + " " + lock.getWriteHoldCount();
            }
            case "signal" -> {
                condition.signal();
                return "SIGNALLED";
            }
            case "stream" -> {
                stream();
                return "STREAMS";
            }
            case "end-stream" -> {
                return "STREAMED " + endStream();
            }
            default -> throw new IllegalArgumentException(verb);
        }
    }

    /** Starts readers of whom the next one comes before the last one leaves. */
    private void stream() {
        streaming = true;
        for (int i = 0; i < STREAMING_THREADS; i++) {
            Thread reader = daemon("stream-" + i, this::readOn);
            stream.add(reader);
            reader.start();
        }
    }

    private void readOn() {
        while (streaming) {
            try {
                lock.readLock().lock();
                try {
                    LockSupport.parkNanos(STAY_NANOS);
                    lock.readLock().assertHeld();
                    streamed.incrementAndGet();
                } finally {
                    lock.readLock().unlock();
                }
            } catch (LeaseLostException e) {
                say("STREAM-LOST");
            }
        }
    }

    private long endStream() throws InterruptedException {
        streaming = false;
        for (Thread reader : stream) {
            reader.join();
        }
        stream.clear();
        return streamed.get();
    }
}
