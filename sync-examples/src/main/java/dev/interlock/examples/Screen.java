package dev.interlock.examples;

import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Standard output: headings, lines, and below them a line of progress that is redrawn in place. Where nobody watches,
 * in a file or a pipe, progress is a plain line now and then.
 */
public final class Screen implements AutoCloseable {

    private static final int LIVE_MILLIS = 100;
    private static final int PLAIN_MILLIS = 1_000;
    private static final String CLEAR_LINE = "\r\033[K";

    private final boolean live = isTerminal();
    private final Thread painter = new Thread(this::paint, "screen");
    private @Nullable Supplier<String> progress;
    private String drawn = "";

    Screen() {
        painter.setDaemon(true);
        painter.start();
    }

    synchronized void heading(String line) {
        say("");
        say(line);
    }

    synchronized void note(String format, Object... arguments) {
        say("    " + Sale.format(format, arguments));
    }

    synchronized void say(String line) {
        System.out.println((live ? CLEAR_LINE : "") + line);
        if (live && progress != null) {
            System.out.print("    " + drawn);
            System.out.flush();
        }
    }

    /** Begins to show progress. */
    synchronized void watch(Supplier<String> source) {
        progress = source;
        drawn = "";
    }

    /** Shows the progress once more, to stay. */
    synchronized void unwatch() {
        Supplier<String> source = progress;
        progress = null;
        if (source != null) {
            note("%s", source.get());
        }
    }

    private synchronized void redraw() {
        String line = progress == null ? drawn : progress.get();
        if (line.equals(drawn)) {
            return;
        }
        drawn = line;
        if (live) {
            System.out.print(CLEAR_LINE + "    " + line);
            System.out.flush();
        } else {
            note("%s", line);
        }
    }

    private void paint() {
        try {
            while (true) {
                redraw();
                Thread.sleep(live ? LIVE_MILLIS : PLAIN_MILLIS);
            }
        } catch (InterruptedException e) {
            return; // closed
        }
    }

    // System.console() tells of standard input as well, and on later JDKs it is always there.
    /** Whether standard output is a terminal that understands escape sequences. */
    public static boolean isTerminal() {
        try {
            return new ProcessBuilder("test", "-t", "1").inheritIO().start().waitFor() == 0
                    && !"dumb".equals(System.getenv("TERM"));
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        painter.interrupt();
        synchronized (this) {
            if (live && progress != null) {
                System.out.println();
            }
            progress = null;
        }
    }
}
