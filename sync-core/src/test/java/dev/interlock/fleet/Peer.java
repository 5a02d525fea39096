package dev.interlock.fleet;

import static org.awaitility.Awaitility.await;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;

/** Another JVM with a session and one lock, whose threads do what they are told. */
final class Peer implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration ANSWER = Duration.ofSeconds(10);

    /** A thread's entry: when it was inside at the latest, and with which fencing token. */
    record Entry(long nanos, long token) {
        static Entry parse(String line) {
            String[] words = line.split(" ", -1);
            return new Entry(Long.parseLong(words[2]), Long.parseLong(words[3]));
        }
    }

    private final Keyspace keyspace;
    private final String name;
    private final ChildJvm jvm;
    private final String sessionId;

    private Peer(Keyspace keyspace, String name, Duration lease) {
        this.keyspace = keyspace;
        this.name = name;
        String url = keyspace.server().url();
        jvm = ChildJvm.start(LockConsole.class, url, name, Long.toString(lease.toMillis()));
        sessionId = jvm.await("READY", START).split(" ", -1)[1];
    }

    static Peer start(Keyspace keyspace, String name, Duration lease) {
        return new Peer(keyspace, name, lease);
    }

    ChildJvm jvm() {
        return jvm;
    }

    String sessionId() {
        return sessionId;
    }

    /** Has a thread do something, and doesn't wait for it. */
    void tell(String thread, String verb) {
        jvm.send(thread + " " + verb);
    }

    /** Waits for what a thread has to say that starts so. */
    String hear(String thread, String answer, Duration timeout) {
        return jvm.await(thread + " " + answer, timeout);
    }

    /** Has a thread do something, and waits for its answer. */
    String ask(String thread, String verb, String answer) {
        tell(thread, verb);
        return hear(thread, answer, ANSWER);
    }

    Entry lock(String thread) {
        return Entry.parse(ask(thread, "lock", "LOCKED"));
    }

    Entry awaitEntry(String thread, Duration timeout) {
        return Entry.parse(hear(thread, "LOCKED", timeout));
    }

    /** Has a thread unlock; returns until when it was inside at least. */
    long unlock(String thread) {
        return Long.parseLong(ask(thread, "unlock", "UNLOCKED").split(" ", -1)[2]);
    }

    /** Has a thread lock, and returns when its session stands in the queue in Redis behind so many others. */
    void queue(String thread, long others) {
        tell(thread, "lock");
        await("a place in the queue").atMost(ANSWER).until(() -> keyspace.waiting(name) == others + 1);
    }

    /** Has a thread lock, and returns when it stands in the queue of its own JVM, as the only one. */
    void queueLocally(String thread) {
        tell(thread, "lock");
        await("a local waiter")
                .atMost(ANSWER)
                .until(() -> ask("observer", "queue", "QUEUE").endsWith(" 1"));
    }

    /** What a thread has said that starts so, heard already or not. */
    long count(String prefix) {
        return jvm.lines().stream().filter(line -> line.startsWith(prefix)).count();
    }

    void kill() {
        jvm.kill();
    }

    /** Ends the session in an orderly way, then the JVM. */
    void leave() {
        ask("observer", "close", "CLOSED");
        jvm.kill();
    }

    @Override
    public void close() {
        jvm.close();
    }
}
