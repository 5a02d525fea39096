package dev.interlock.testing;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The child's end of the line protocol of {@link ChildJvm}.
 *
 * <pre>{@code
 * public static void main(String[] args) throws InterruptedException {
 *     ChildConsole.say("READY");
 *     while (true) {
 *         switch (ChildConsole.readCommand()) {
 *             case "lock" -> ...
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>It is also the main class of every child: it reads the parent's lines on a daemon thread, halts the JVM at their
 * end, which is the end of the parent, and then runs the main class proper.
 */
public final class ChildConsole {

    private static final int PARENT_GONE = 86;
    private static final int MAIN_FAILED = 1;
    private static final BlockingQueue<String> COMMANDS = new LinkedBlockingQueue<>();

    private ChildConsole() {}

    /** Waits for the next line that the parent sends. */
    public static String readCommand() throws InterruptedException {
        return COMMANDS.take();
    }

    /** Sends a line to the parent. */
    public static void say(String line) {
        System.out.println(line);
    }

    /** Runs the main class named by the first argument, with the other arguments. */
    public static void main(String[] args) throws ReflectiveOperationException {
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
        var listener = new Thread(ChildConsole::listen, "parent-listener");
        listener.setDaemon(true);
        listener.start();
        var main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            e.getTargetException().printStackTrace();
            System.exit(MAIN_FAILED);
        }
    }

    private static void listen() {
        try (var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                COMMANDS.add(line);
            }
        } catch (IOException e) {
            System.err.println("The parent's lines end with " + e);
        }
        Runtime.getRuntime().halt(PARENT_GONE);
    }
}
