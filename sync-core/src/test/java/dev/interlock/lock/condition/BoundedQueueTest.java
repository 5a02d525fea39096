package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.condition.QueueStore.Taken;
import dev.interlock.lock.condition.QueueWorker.Task;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A queue written against {@code ReentrantLock} and {@code Condition}, handed the JDK's lock, and then ours in several
 * JVMs.
 */
@Tag("proof")
class BoundedQueueTest {

    private static final int CAPACITY = 32;
    private static final int ELEMENTS_OF_ONE_JVM = 5_000;

    /** The last JVM is the victim: it only takes. */
    private static final List<Integer> PRODUCERS = List.of(3, 2, 0);

    private static final List<Integer> CONSUMERS = List.of(2, 3, 3);
    private static final int ALL_PRODUCERS =
            PRODUCERS.stream().mapToInt(Integer::intValue).sum();
    private static final int VICTIM = PRODUCERS.size() - 1;
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    BoundedQueueTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** With the lock that it was written for, and all threads in this JVM, the queue does what it should. */
    @Test
    void worksWithTheLockItWasWrittenFor() throws IOException, InterruptedException {
        String name = keyspace.name("queue-jdk");
        Task task = task(0, ELEMENTS_OF_ONE_JVM / ALL_PRODUCERS, ALL_PRODUCERS, 4);
        try (QueueStore store = QueueStore.open(keyspace.server().url(), name);
                QueueStore observed = QueueStore.open(keyspace.server().url(), name)) {
            var worker = new QueueWorker(new ReentrantLock(), store, task);
            worker.start();
            await("all elements taken").atMost(PATIENCE).until(() -> observed.takenSize() == ELEMENTS_OF_ONE_JVM);
            worker.stop();
            List<Taken> taken = observed.taken();
            assertEachOnceAndInOrder(taken, ELEMENTS_OF_ONE_JVM);
            assertConsumersGotWhatTheyTook(task, taken);
            observed.delete();
        }
    }

    /**
     * Threads of three JVMs put elements in and take them out, one at a time, and a JVM that only takes is killed on
     * the way: each element is taken once, those of a producer in the order in which it has put them, never more than
     * the capacity are in it, and only what the dead JVM had taken is missing at the others.
     */
    @ParameterizedTest
    @CsvSource({"plain, 3000"})
    void worksAcrossJvms(String kind, int elements) throws IOException {
        exchange(kind, elements);
    }

    /** The same with many elements. */
    @ParameterizedTest
    @CsvSource({"plain, 15000", "fair, 2000"})
    void worksForLong(String kind, int elements) throws IOException {
        exchange(kind, elements);
    }

    private void exchange(String kind, int elements) throws IOException {
        String name = keyspace.name("queue-" + kind);
        List<Task> tasks = IntStream.range(0, PRODUCERS.size())
                .mapToObj(jvm -> task(jvm, elements / ALL_PRODUCERS, PRODUCERS.get(jvm), CONSUMERS.get(jvm)))
                .toList();
        String url = keyspace.server().url();
        try (Fleet fleet = Fleet.start(tasks.size(), jvm -> QueueWorker.of(url, name, kind, LEASE, tasks.get(jvm)));
                QueueStore observed = QueueStore.open(url, name)) {
            fleet.awaitAll("READY", PATIENCE);
            long start = System.nanoTime();
            fleet.send("go");
            awaitTaken(fleet, observed, elements / 3);
            fleet.get(VICTIM).kill();
            long takenBefore = observed.takenSize();
            long killed = System.nanoTime();
            awaitTaken(fleet, observed, takenBefore + 1);
            long next = System.nanoTime();
            awaitTaken(fleet, observed, elements);
            long end = System.nanoTime();
            stopSurvivors(fleet);
            List<Taken> taken = observed.taken();
            assertEachOnceAndInOrder(taken, elements);
            for (Task task : tasks.subList(0, VICTIM)) {
                assertConsumersGotWhatTheyTook(task, taken);
            }
            long takenByVictim = taken.stream()
                    .filter(entry -> isOf(tasks.get(VICTIM), entry))
                    .count();
            assertThat(takenByVictim).isPositive();
            long missing = assertOnlyWhatAConsumerHeldIsLost(tasks.get(VICTIM), taken);
            reporter.publishEntry(String.format(
                    "%s: %d elements in %d ms, %d ms of silence after the kill; "
                            + "%d taken by the victim, %d of them not written down",
                    kind, elements, (end - start) / 1_000_000, (next - killed) / 1_000_000, takenByVictim, missing));
            observed.delete();
        }
    }

    private static void stopSurvivors(Fleet fleet) {
        fleet.send("stop");
        for (int jvm = 0; jvm < VICTIM; jvm++) {
            fleet.get(jvm).await("STOPPED", PATIENCE);
            assertThat(fleet.get(jvm).waitFor(PATIENCE)).isZero();
        }
    }

    private Task task(int jvm, int elements, int producers, int consumers) {
        return new Task(jvm, CAPACITY, producers, elements, consumers, folder);
    }

    private static void awaitTaken(Fleet fleet, QueueStore observed, long elements) {
        try {
            await(elements + " elements taken")
                    .pollInterval(Duration.ofMillis(20))
                    .atMost(PATIENCE)
                    .until(() -> observed.takenSize() >= elements);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(dump(fleet), e);
        }
    }

    private static String dump(Fleet fleet) {
        fleet.send("dump");
        var lines = new ArrayList<String>();
        for (ChildJvm child : fleet) {
            if (child.isAlive()) {
                child.await("DUMPED", PATIENCE);
            }
            lines.addAll(child.lines());
        }
        return String.join("\n", lines);
    }

    private static void assertEachOnceAndInOrder(List<Taken> taken, int elements) {
        assertThat(taken).hasSize(elements);
        Map<Long, Long> next = new HashMap<>();
        for (Taken entry : taken) {
            long producer = entry.element() / QueueWorker.PRODUCER;
            assertThat(entry.element() % QueueWorker.PRODUCER)
                    .as("next element of producer %d", producer)
                    .isEqualTo(next.getOrDefault(producer, 0L));
            next.merge(producer, 1L, Long::sum);
        }
        assertThat(next.values()).hasSize(ALL_PRODUCERS).allMatch(count -> count == elements / ALL_PRODUCERS);
    }

    private static boolean isOf(Task task, Taken entry) {
        return IntStream.range(0, task.consumers())
                .anyMatch(consumer -> entry.taker().equals(task.consumer(consumer)));
    }

    private static List<Long> takenBy(String consumer, List<Taken> taken) {
        return taken.stream()
                .filter(entry -> entry.taker().equals(consumer))
                .map(Taken::element)
                .toList();
    }

    private static void assertConsumersGotWhatTheyTook(Task task, List<Taken> taken) throws IOException {
        for (int i = 0; i < task.consumers(); i++) {
            assertThat(task.consumed(i)).isEqualTo(takenBy(task.consumer(i), taken));
        }
    }

    /**
     * A killed consumer has written down all that it took but for the last, perhaps. Returns how many are not written
     * down.
     */
    private static long assertOnlyWhatAConsumerHeldIsLost(Task victim, List<Taken> taken) throws IOException {
        long missing = 0;
        for (int i = 0; i < victim.consumers(); i++) {
            List<Long> consumed = victim.consumed(i);
            List<Long> mine = takenBy(victim.consumer(i), taken);
            assertThat(mine)
                    .as("taken by %s", victim.consumer(i))
                    .isNotEmpty()
                    .startsWith(consumed.toArray(Long[]::new));
            assertThat(mine.size() - consumed.size()).isBetween(0, 1);
            missing += mine.size() - consumed.size();
        }
        return missing;
    }
}
