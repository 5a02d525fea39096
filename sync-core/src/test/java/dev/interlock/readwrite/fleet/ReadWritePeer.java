package dev.interlock.readwrite.fleet;

import static org.awaitility.Awaitility.await;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Keyspace;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Another JVM with a session and one read-write lock, whose threads do what they are told.
 *
 * <p>A JVM that a peer {@linkplain #leave leaves} in an orderly way waits for the next one, since starting one takes
 * most of the time of such a test. They end with this JVM.
 */
final class ReadWritePeer implements AutoCloseable {

    static final Duration ANSWER = Duration.ofSeconds(20);

    private static final Duration START = Duration.ofSeconds(60);
    private static final Deque<ChildJvm> IDLE = new ArrayDeque<>();
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    /** A writer's entry: when it was inside at the latest, and with which fencing token. */
    record Entry(long nanos, long token) {}

    private final Keyspace keyspace;
    private final String name;
    private final ChildJvm jvm;
    private final String label = "s" + SESSIONS.incrementAndGet();
    private final String sessionId;
    private boolean left;

    private ReadWritePeer(ChildJvm jvm, Keyspace keyspace, String name, String kind, Duration lease) {
        this.jvm = jvm;
        this.keyspace = keyspace;
        this.name = name;
        String url = keyspace.server().url();
        jvm.send(String.join(" ", label, "open", url, name, Long.toString(lease.toMillis()), kind));
        sessionId = word(jvm.await(label + " OPEN", START), 2);
    }

    /**
     * Starts peers, each in a JVM of its own, with the same lock.
     *
     * @param kind {@code plain} or {@code fair}
     */
    static List<ReadWritePeer> start(int count, Keyspace keyspace, String name, String kind, Duration lease) {
        synchronized (IDLE) {
            while (IDLE.size() < count) {
                IDLE.add(ChildJvm.of(ReadWriteConsole.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .start());
            }
            List<ReadWritePeer> peers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                peers.add(new ReadWritePeer(IDLE.remove(), keyspace, name, kind, lease));
            }
            return peers;
        }
    }

    /** The key of the read-write lock of that name. */
    static String key(String name) {
        return "interlock:{" + name + "}:rw";
    }

    private static String word(String line, int index) {
        return line.split(" ", -1)[index];
    }

    String sessionId() {
        return sessionId;
    }

    /** Has a thread do something, and doesn't wait for it. */
    void tell(String thread, String verb) {
        jvm.send(label + " " + thread + " " + verb);
    }

    /** Waits for what a thread has to say that starts so, and returns it without the thread's name. */
    String hear(String thread, String answer, Duration timeout) {
        String prefix = label + " " + thread + " ";
        return jvm.await(prefix + answer, timeout).substring(prefix.length());
    }

    /** Has a thread do something, and waits for its answer. */
    String ask(String thread, String verb, String answer) {
        tell(thread, verb);
        return hear(thread, answer, ANSWER);
    }

    /** Has a thread read; returns when it was inside at the latest. */
    long read(String thread) {
        tell(thread, "read");
        return awaitReader(thread);
    }

    long awaitReader(String thread) {
        return Long.parseLong(word(hear(thread, "READS", ANSWER), 1));
    }

    /** Has a reader leave; returns until when it was inside at least. */
    long leaveRead(String thread) {
        return Long.parseLong(word(ask(thread, "leave-read", "HAS-READ"), 1));
    }

    Entry write(String thread) {
        tell(thread, "write");
        return awaitWriter(thread);
    }

    Entry awaitWriter(String thread) {
        String line = hear(thread, "WRITES", ANSWER);
        return new Entry(Long.parseLong(word(line, 1)), Long.parseLong(word(line, 2)));
    }

    /** Has a writer leave; returns until when it was inside at least. */
    long leaveWrite(String thread) {
        return Long.parseLong(word(ask(thread, "leave-write", "HAS-WRITTEN"), 1));
    }

    /**
     * Has a thread do what it has to wait for, and returns when its session stands in the queue in Redis behind so many
     * others.
     */
    void queue(String thread, String verb, long others) {
        tell(thread, verb);
        await("a place in the queue")
                .atMost(ANSWER)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> keyspace.waiting(key(name)) == others + 1);
    }

    /** How often the peer has said something that starts so. */
    long count(String prefix) {
        return jvm.lines().stream()
                .filter(line -> line.startsWith(label + " " + prefix))
                .count();
    }

    boolean isAlive() {
        return jvm.isAlive();
    }

    /** As {@code kill -9} does. */
    void kill() {
        jvm.kill();
    }

    /** As {@code kill -STOP} does. */
    void stop() {
        jvm.stop();
    }

    /** As {@code kill -CONT} does. */
    void cont() {
        jvm.cont();
    }

    /** Ends the session in an orderly way; its JVM remains for the next one. */
    void leave() {
        jvm.send(label + " close");
        jvm.await(label + " CLOSED", ANSWER);
        left = true;
        synchronized (IDLE) {
            IDLE.add(jvm);
        }
    }

    /** Kills the JVM, unless the peer has left it. */
    @Override
    public void close() {
        if (!left) {
            jvm.close();
        }
    }
}
