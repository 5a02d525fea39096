package dev.interlock.latch.fleet;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Another JVM with a session and a latch. One that is {@linkplain #leave left} in an orderly way waits for the next
 * test, since starting it takes most of the time of such a test. They end with this JVM.
 */
final class LatchPeer implements AutoCloseable {

    static final Duration ANSWER = Duration.ofSeconds(30);

    private static final Duration START = Duration.ofSeconds(60);
    private static final Deque<ChildJvm> IDLE = new ArrayDeque<>();
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    private final ChildJvm jvm;
    private final String label = "s" + SESSIONS.incrementAndGet();
    private boolean left;

    /** When the first and the last of its threads have passed. */
    record Passed(int threads, long firstNanos, long lastNanos) {}

    private LatchPeer(ChildJvm jvm, String url, String name, int count) {
        this.jvm = jvm;
        jvm.send(String.join(" ", label, "open", url, name, Integer.toString(count)));
    }

    /** Starts peers, each in a JVM of its own, with the same latch. */
    static List<LatchPeer> start(int peers, String url, String name, int count) {
        synchronized (IDLE) {
            while (IDLE.size() < peers) {
                IDLE.add(ChildJvm.of(LatchConsole.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .start());
            }
            List<LatchPeer> started = new ArrayList<>();
            for (int i = 0; i < peers; i++) {
                started.add(new LatchPeer(IDLE.remove(), url, name, count));
            }
            started.forEach(peer -> peer.hear("OPEN", START));
            return started;
        }
    }

    String hear(String answer, Duration timeout) {
        return jvm.await(label + " " + answer, timeout).substring(label.length() + 1);
    }

    /** Has threads wait, and returns when they are about to. */
    void letWait(int threads) {
        jvm.send(label + " wait " + threads);
        hear("WAITING", ANSWER);
    }

    /** Waits until all threads that wait have passed. */
    Passed awaitPassed() {
        String[] words = hear("PASSED", ANSWER).split(" ", -1);
        return new Passed(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
    }

    boolean hasPassed() {
        return jvm.lines().stream().anyMatch(line -> line.startsWith(label + " PASSED"));
    }

    /** Has so many threads count down so often between them. */
    void letCount(int times, int threads) {
        jvm.send(label + " count " + times + " " + threads);
    }

    void awaitCounted() {
        hear("COUNTED", ANSWER);
    }

    long left() {
        jvm.send(label + " left");
        return Long.parseLong(hear("LEFT", ANSWER).split(" ", -1)[1]);
    }

    List<String> failures() {
        return jvm.lines().stream()
                .filter(line -> line.startsWith(label + " FAILED"))
                .toList();
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
        hear("CLOSED", ANSWER);
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
