package dev.interlock.lock.fleet;

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
 * Another JVM with a session and one lock, whose threads do what they are told.
 *
 * <p>A JVM that a peer {@linkplain #leave leaves} in an orderly way waits for the next one, since starting one takes
 * most of the time of such a test. They end with this JVM.
 */
public final class Peer implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final Deque<ChildJvm> IDLE = new ArrayDeque<>();
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    /** A thread's entry: when it was inside at the latest, and with which fencing token. */
    public record Entry(long nanos, long token) {}

    private final Keyspace keyspace;
    private final String name;
    private final ChildJvm jvm;
    private final String label = "s" + SESSIONS.incrementAndGet();
    private final String sessionId;
    private boolean left;

    private Peer(ChildJvm jvm, Keyspace keyspace, String name, String kind, Duration lease) {
        this.jvm = jvm;
        this.keyspace = keyspace;
        this.name = name;
        String url = keyspace.server().url();
        jvm.send(String.join(" ", label, "open", url, name, Long.toString(lease.toMillis()), kind));
        sessionId = word(jvm.await(label + " OPEN", START), 2);
    }

    /** Starts peers, each in a JVM of its own, with the same plain lock. */
    static List<Peer> start(int count, Keyspace keyspace, String name, Duration lease) {
        return start(count, keyspace, name, "plain", lease);
    }

    /**
     * Starts peers, each in a JVM of its own, with the same lock.
     *
     * @param kind {@code plain}, {@code fair}, or for how many ms the lock is retained
     */
    public static List<Peer> start(int count, Keyspace keyspace, String name, String kind, Duration lease) {
        synchronized (IDLE) {
            while (IDLE.size() < count) {
                IDLE.add(ChildJvm.of(LockConsole.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .start());
            }
            List<Peer> peers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                peers.add(new Peer(IDLE.remove(), keyspace, name, kind, lease));
            }
            return peers;
        }
    }

    private static String word(String line, int index) {
        return line.split(" ", -1)[index];
    }

    public String sessionId() {
        return sessionId;
    }

    /** Has a thread do something, and doesn't wait for it. */
    public void tell(String thread, String verb) {
        jvm.send(label + " " + thread + " " + verb);
    }

    /** Waits for what a thread has to say that starts so, and returns it without the thread's name. */
    public String hear(String thread, String answer, Duration timeout) {
        String prefix = label + " " + thread + " ";
        return jvm.await(prefix + answer, timeout).substring(prefix.length());
    }

    /** Has a thread do something, and waits for its answer. */
    public String ask(String thread, String verb, String answer) {
        tell(thread, verb);
        return hear(thread, answer, ANSWER);
    }

    public Entry lock(String thread) {
        tell(thread, "lock");
        return awaitEntry(thread, ANSWER);
    }

    public Entry awaitEntry(String thread, Duration timeout) {
        String[] words = hear(thread, "LOCKED", timeout).split(" ", -1);
        return new Entry(Long.parseLong(words[1]), Long.parseLong(words[2]));
    }

    /** Has a thread unlock; returns until when it was inside at least. */
    public long unlock(String thread) {
        return Long.parseLong(word(ask(thread, "unlock", "UNLOCKED"), 1));
    }

    /** Has a thread lock, and returns when its session stands in the queue in Redis behind so many others. */
    public void queue(String thread, long others) {
        tell(thread, "lock");
        await("a place in the queue").atMost(ANSWER).until(() -> keyspace.waiting(name) == others + 1);
    }

    /** Has a thread lock, and returns when it stands in the queue of its own JVM, as the only one. */
    public void queueLocally(String thread) {
        tell(thread, "lock");
        await("a local waiter")
                .atMost(ANSWER)
                .until(() -> ask("observer", "queue", "QUEUE").equals("QUEUE 1"));
    }

    /** How often the peer has said something that starts so. */
    public long count(String prefix) {
        return jvm.lines().stream()
                .filter(line -> line.startsWith(label + " " + prefix))
                .count();
    }

    public boolean isAlive() {
        return jvm.isAlive();
    }

    /** As {@code kill -9} does. */
    public void kill() {
        jvm.kill();
    }

    /** As {@code kill -STOP} does. */
    public void stop() {
        jvm.stop();
    }

    /** As {@code kill -CONT} does. */
    public void cont() {
        jvm.cont();
    }

    /** Ends the session in an orderly way; its JVM remains for the next one. */
    public void leave() {
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
