package dev.interlock.lock.condition;

import com.google.common.primitives.Longs;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A child JVM whose threads put elements into a queue and take some out of it. Each consumer writes down what it has
 * got, in a file of its own, which outlives {@code kill -9}.
 *
 * <p>It says {@code READY}. Its commands are {@code go}, {@code dump}, and {@code stop}, which interrupts the consumers
 * and is answered by {@code STOPPED} when the session is closed.
 */
final class QueueWorker {

    /** More than any producer makes. */
    static final long PRODUCER = 1_000_000;

    private final BoundedQueue queue;
    private final Task task;
    private final List<Thread> producers;
    private final List<Thread> consumers;

    /**
     * What a worker has to do.
     *
     * @param jvm its number
     * @param folder for the files of consumers
     */
    record Task(int jvm, int capacity, int producers, int elements, int consumers, Path folder) {

        static Task parse(String line) {
            String[] words = line.split(" ", 6);
            return new Task(
                    Integer.parseInt(words[0]),
                    Integer.parseInt(words[1]),
                    Integer.parseInt(words[2]),
                    Integer.parseInt(words[3]),
                    Integer.parseInt(words[4]),
                    Path.of(words[5]));
        }

        String line() {
            return jvm + " " + capacity + " " + producers + " " + elements + " " + consumers + " " + folder;
        }

        private long firstElement(int producer) {
            return (100L * jvm + producer) * PRODUCER;
        }

        String consumer(int index) {
            return "consumer-" + jvm + "-" + index;
        }

        /** What a consumer has written down. */
        List<Long> consumed(int index) throws IOException {
            var bytes = ByteBuffer.wrap(Files.readAllBytes(folder.resolve(consumer(index))));
            List<Long> consumed = new ArrayList<>();
            while (bytes.remaining() >= Long.BYTES) {
                consumed.add(bytes.getLong());
            }
            return consumed;
        }
    }

    QueueWorker(ReentrantLock lock, QueueStore store, Task task) {
        this.queue = new BoundedQueue(lock, store, task.capacity);
        this.task = task;
        this.producers = IntStream.range(0, task.producers)
                .mapToObj(i -> new Thread(() -> produce(i), "producer-" + task.jvm + "-" + i))
                .toList();
        this.consumers = IntStream.range(0, task.consumers)
                .mapToObj(i -> new Thread(() -> consume(task.consumer(i)), task.consumer(i)))
                .toList();
    }

    static ChildJvm.Builder of(String url, String name, String kind, Duration lease, Task task) {
        return ChildJvm.of(QueueWorker.class)
                .options("-XX:TieredStopAtLevel=1")
                .arguments(url, name, kind, lease.toString(), task.line());
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Duration lease = Duration.parse(args[3]);
        try (Interlock interlock = RedisServer.connect(
                        () -> Interlock.builder().uri(args[0]).lease(lease).open());
                QueueStore store = QueueStore.open(args[0], args[1])) {
            ReentrantLock lock = args[2].equals("fair") ? interlock.fairLock(args[1]) : interlock.lock(args[1]);
            var worker = new QueueWorker(lock, store, Task.parse(args[4]));
            ChildConsole.say("READY");
            worker.obey(lock);
        }
        ChildConsole.say("STOPPED");
    }

    private void obey(ReentrantLock lock) throws InterruptedException {
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "go" -> start();
                case "stop" -> {
                    stop();
                    return;
                }
                case "dump" -> {
                    ChildConsole.say("LOCK " + lock);
                    Stream.concat(producers.stream(), consumers.stream())
                            .forEach(thread -> ChildConsole.say(
                                    "THREAD " + thread.getName() + " " + List.of(thread.getStackTrace())));
                    ChildConsole.say("DUMPED");
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    void start() {
        consumers.forEach(Thread::start);
        producers.forEach(Thread::start);
    }

    /** Waits for the producers, then interrupts the consumers. */
    void stop() throws InterruptedException {
        for (Thread producer : producers) {
            producer.join();
        }
        consumers.forEach(Thread::interrupt);
        for (Thread consumer : consumers) {
            consumer.join();
        }
    }

    private void produce(int self) {
        long first = task.firstElement(self);
        try {
            for (int i = 0; i < task.elements; i++) {
                queue.put(first + i);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts producers", e);
        }
    }

    private void consume(String self) {
        // Nothing of java.nio: an interrupt would close it.
        try (var file = new FileOutputStream(task.folder.resolve(self).toFile())) {
            while (true) {
                file.write(Longs.toByteArray(queue.take(self)));
            }
        } catch (InterruptedException e) {
            return; // that's how it ends
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
