package dev.interlock.examples;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.List;

/** A {@link Shop}, as the director of the sale sees it. */
final class ShopJvm implements AutoCloseable {

    static final int KILLED = 128 + 9;

    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** A buyer who is held at a breakpoint since then, and how much stock it has seen. */
    record Held(String buyer, int stock, long nanos) {}

    private final String name;
    private final ChildJvm jvm;
    private volatile String state = "";
    private String session = "";

    private ShopJvm(String name, ChildJvm jvm) {
        this.name = name;
        this.jvm = jvm;
    }

    /** Starts a shop; does not wait until it runs. */
    static ShopJvm start(String name, String redisUrl, boolean fencing) {
        return new ShopJvm(
                name,
                ChildJvm.of(Shop.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .arguments(name, redisUrl, Boolean.toString(fencing))
                        .start());
    }

    String name() {
        return name;
    }

    long pid() {
        return jvm.pid();
    }

    /** What has been done to it: empty, "killed" or "stopped". */
    String state() {
        return state;
    }

    boolean isAlive() {
        return jvm.isAlive();
    }

    void awaitReady() {
        session = await("READY ");
    }

    /** The id of its Interlock session. */
    String session() {
        return session;
    }

    void send(String command) {
        jvm.send(command);
    }

    /** Waits for a line that begins so, and returns the rest. */
    String await(String prefix) {
        return jvm.await(prefix, PATIENCE).substring(prefix.length());
    }

    /** All that it has said with this beginning, without the beginning. */
    List<String> said(String prefix) {
        return jvm.lines().stream()
                .filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()))
                .toList();
    }

    /** Has the next buyer held who comes to a place when no more than some units are left. */
    void hold(String place, int stock) {
        send("hold " + place + " " + stock);
    }

    Held awaitHeld() {
        String[] parts = await("HELD ").split(" ", 3);
        return new Held(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
    }

    /** Sends SIGKILL and returns the exit code that the operating system reports. */
    int kill() {
        jvm.kill();
        state = "killed";
        return jvm.waitFor(PATIENCE);
    }

    /** Sends SIGSTOP. */
    void stop() {
        jvm.stop();
        state = "stopped";
    }

    /** Sends SIGCONT. */
    void cont() {
        state = "";
        jvm.cont();
    }

    /** What its threads do. */
    String stacks() {
        return jvm + "\n" + jvm.stacks();
    }

    @Override
    public void close() {
        jvm.close();
    }
}
