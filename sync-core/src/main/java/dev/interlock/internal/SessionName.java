package dev.interlock.internal;

import com.google.common.base.Ascii;
import com.google.common.base.CharMatcher;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The name of a session for people. Redis takes it for a connection's name, too: so it has no blanks. */
public final class SessionName {
    private static final int MOST = 100;

    /** Leaves room for the number of the process. */
    private static final int MOST_OF_A_HOST = 80;

    /** The resolver of a host without a network may take a minute. */
    private static final long LOOKUP_MILLIS = 500;

    private static final Path HOST_FILE = Path.of("/proc/sys/kernel/hostname");
    private static final String UNKNOWN_HOST = "localhost";
    private static final CharMatcher ALLOWED = CharMatcher.inRange('!', '~');

    private SessionName() {}

    /** Returns the name if it is one. */
    public static String checked(String argument, String name) {
        if (name.isEmpty() || name.length() > MOST || !ALLOWED.matchesAllOf(name)) {
            throw new IllegalArgumentException(argument + " must be 1 to " + MOST
                    + " printable ASCII characters without blanks, but is " + Names.quoted(name));
        }
        return name;
    }

    /** Returns the host and the process of this JVM, as {@code web-3-4711}. */
    public static String ofProcess() {
        String host = Stream.of(System.getenv("HOSTNAME"), System.getenv("COMPUTERNAME"), hostByFile())
                .filter(Objects::nonNull)
                .map(ALLOWED::retainFrom)
                .filter(name -> !name.isEmpty())
                .findFirst()
                .orElseGet(SessionName::hostByLookup);
        return Ascii.truncate(host, MOST_OF_A_HOST, "") + "-"
                + ProcessHandle.current().pid();
    }

    private static String hostByFile() {
        try {
            return Files.readString(HOST_FILE);
        } catch (IOException | SecurityException e) {
            return "";
        }
    }

    private static String hostByLookup() {
        return CompletableFuture.supplyAsync(SessionName::localHost, SessionName::runAside)
                .completeOnTimeout(UNKNOWN_HOST, LOOKUP_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }

    private static void runAside(Runnable lookup) {
        Thread thread = new Thread(lookup, "interlock-host-name");
        thread.setDaemon(true);
        thread.start();
    }

    private static String localHost() {
        try {
            String host = ALLOWED.retainFrom(InetAddress.getLocalHost().getHostName());
            return host.isEmpty() ? UNKNOWN_HOST : host;
        } catch (UnknownHostException e) {
            return UNKNOWN_HOST;
        }
    }
}
