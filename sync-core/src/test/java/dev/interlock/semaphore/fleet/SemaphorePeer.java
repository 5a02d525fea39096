package dev.interlock.semaphore.fleet;

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
 * Another JVM with a session and one semaphore, whose threads do what they are told.
 *
 * <p>A JVM that a peer {@linkplain #leave leaves} in an orderly way waits for the next one, since starting one takes
 * most of the time of such a test. They end with this JVM.
 */
final class SemaphorePeer implements AutoCloseable {

    static final Duration ANSWER = Duration.ofSeconds(20);

    private static final Duration START = Duration.ofSeconds(60);
    private static final Deque<ChildJvm> IDLE = new ArrayDeque<>();
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    private final Keyspace keyspace;
    private final String name;
    private final ChildJvm jvm;
    private final String label = "s" + SESSIONS.incrementAndGet();
    private final String sessionId;
    private boolean left;

    private SemaphorePeer(ChildJvm jvm, Keyspace keyspace, String name, Kind kind, int permits, Duration lease) {
        this.jvm = jvm;
        this.keyspace = keyspace;
        this.name = name;
        String url = keyspace.server().url();
        jvm.send(String.join(
                " ",
                label,
                "open",
                url,
                name,
                Long.toString(lease.toMillis()),
                kind.name(),
                Integer.toString(permits)));
        sessionId = word(jvm.await(label + " OPEN", START), 2);
    }

    /** Starts peers, each in a JVM of its own, with the same semaphore. */
    static List<SemaphorePeer> start(
            int count, Keyspace keyspace, String name, Kind kind, int permits, Duration lease) {
        synchronized (IDLE) {
            while (IDLE.size() < count) {
                IDLE.add(ChildJvm.of(SemaphoreConsole.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .start());
            }
            List<SemaphorePeer> peers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                peers.add(new SemaphorePeer(IDLE.remove(), keyspace, name, kind, permits, lease));
            }
            return peers;
        }
    }

    private static String word(String line, int index) {
        return line.split(" ", -1)[index];
    }

    /** Has a thread do something, and doesn't wait for it. */
    void tell(String thread, String verb, int permits) {
        jvm.send(label + " " + thread + " " + verb + " " + permits);
    }

    /** Waits for what a thread has to say that starts so, and returns it without the thread's name. */
    String hear(String thread, String answer) {
        String prefix = label + " " + thread + " ";
        return jvm.await(prefix + answer, ANSWER).substring(prefix.length());
    }

    /** Has a thread acquire permits; returns when it had them at the latest. */
    long acquire(String thread, int permits) {
        tell(thread, "acquire", permits);
        return awaitAcquired(thread);
    }

    long awaitAcquired(String thread) {
        return Long.parseLong(word(hear(thread, "ACQUIRED"), 1));
    }

    /** Has a thread release permits; returns until when it had them at least. */
    long release(String thread, int permits) {
        tell(thread, "release", permits);
        return Long.parseLong(word(hear(thread, "RELEASED"), 1));
    }

    /** Has a thread try to acquire permits. */
    boolean tries(String thread, int permits) {
        tell(thread, "try", permits);
        return hear(thread, "TRIED").equals("TRIED true");
    }

    int available() {
        tell("looker", "available", 0);
        return Integer.parseInt(word(hear("looker", "AVAILABLE"), 1));
    }

    /** Has a thread acquire what it has to wait for, and returns when its session stands in the queue in Redis. */
    void queue(String thread, int permits) {
        tell(thread, "acquire", permits);
        await("a place in the queue")
                .atMost(ANSWER)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> isQueued(keyspace, name, sessionId));
    }

    private static boolean isQueued(Keyspace keyspace, String name, String sessionId) {
        return String.valueOf(
                        keyspace.server().command("ZRANGE", "interlock:{" + name + "}:semaphore-queue", "0", "-1"))
                .contains(sessionId);
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
