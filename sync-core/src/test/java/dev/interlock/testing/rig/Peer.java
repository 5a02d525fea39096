package dev.interlock.testing.rig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Another JVM with a session and one synchronizer, whose threads do what they are told.
 *
 * <p>A JVM that a peer {@linkplain #leave leaves} in an orderly way waits for the next one, of whatever kind, since
 * starting one takes most of the time of such a test. They end with this JVM.
 */
public final class Peer implements AutoCloseable {

    /** For how long to wait for an answer. */
    public static final Duration ANSWER = Duration.ofSeconds(30);

    private static final Duration START = Duration.ofSeconds(60);
    private static final Deque<ChildJvm> IDLE = new ArrayDeque<>();
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    /** A thread's entry: when it was inside at the latest, and with which fencing token. */
    public record Entry(long nanos, long token) {

        /** Asserts that this one came after another thread had left, with a greater token. */
        public void assertAfter(long left, Entry before) {
            assertThat(nanos).isGreaterThan(left);
            assertTokenAfter(before);
        }

        /** Asserts that the token is greater than another one. */
        public void assertTokenAfter(Entry before) {
            assertThat(token).isGreaterThan(before.token);
        }
    }

    private final ChildJvm jvm;
    private final Place place;
    private final String label = "s" + SESSIONS.incrementAndGet();
    private final String sessionId;
    private boolean hasLeft;

    /** What a peer is about: the synchronizers of one name. */
    interface Place {

        /** What a session is to be opened with. */
        String words();

        /** How many wait for the name. */
        long waiting();
    }

    private Peer(ChildJvm jvm, Place place) {
        this.jvm = jvm;
        this.place = place;
        jvm.send(label + " open " + place.words());
        sessionId = word(jvm.await(label + " OPEN", START), 2);
    }

    /** Starts peers, each in a JVM of its own. */
    static List<Peer> start(int count, Place place) {
        synchronized (IDLE) {
            while (IDLE.size() < count) {
                IDLE.add(ChildJvm.of(Console.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .start());
            }
            return Stream.generate(IDLE::remove)
                    .limit(count)
                    .map(idle -> new Peer(idle, place))
                    .toList();
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
    public String hear(String thread, String answer) {
        return hear(thread, answer, ANSWER);
    }

    /** As {@link #hear(String, String)}, for no longer than that. */
    public String hear(String thread, String answer, Duration timeout) {
        String prefix = label + " " + thread + " ";
        return jvm.await(prefix + answer, timeout).substring(prefix.length());
    }

    /** Has a thread do something, and waits for its answer. */
    public String ask(String thread, String verb, String answer) {
        tell(thread, verb);
        return hear(thread, answer);
    }

    /** Has a thread do something that is answered by a number. */
    public long number(String thread, String verb, String answer) {
        return Long.parseLong(word(ask(thread, verb, answer), 1));
    }

    /** Has a thread enter a section, and waits until it has. */
    public Entry enter(String thread, String section) {
        tell(thread, section);
        return awaitEntry(thread);
    }

    /** Waits until a thread has entered. */
    public Entry awaitEntry(String thread) {
        String line = hear(thread, "ENTERED");
        return new Entry(Long.parseLong(word(line, 1)), Long.parseLong(word(line, 2)));
    }

    /** Has a thread leave a section; returns until when it was inside at least. */
    public long exit(String thread, String section) {
        return number(thread, "leave-" + section, "LEFT");
    }

    /** Has a thread do what it has to wait for, and returns when it waits in Redis beside so many others. */
    public void queue(String thread, String verb, long others) {
        tell(thread, verb);
        awaitWaiting(others + 1);
    }

    /** Waits until so many wait in Redis, of whatever peer. */
    public void awaitWaiting(long count) {
        await(count + " that wait in Redis")
                .atMost(ANSWER)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> place.waiting() == count);
    }

    /** Asserts that the next thing a thread says is that a verb was told of a loss. */
    public void assertLost(String thread, String verb) {
        assertThrew(thread, verb, "LeaseLostException");
    }

    /** Asserts that the next thing a thread says is that a verb has failed so. */
    public void assertThrew(String thread, String verb, String exception) {
        assertThat(hear(thread, "")).startsWith("THREW " + verb + " " + exception + " ");
    }

    /** How often the peer has said something that starts so. */
    public long count(String prefix) {
        return jvm.lines().stream()
                .filter(line -> line.startsWith(label + " " + prefix))
                .count();
    }

    boolean isAlive() {
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
    void leave() {
        jvm.send(label + " close");
        jvm.await(label + " CLOSED", ANSWER);
        hasLeft = true;
        synchronized (IDLE) {
            IDLE.add(jvm);
        }
    }

    /** Kills the JVM, unless the peer has left it. */
    @Override
    public void close() {
        if (!hasLeft) {
            jvm.close();
        }
    }
}
