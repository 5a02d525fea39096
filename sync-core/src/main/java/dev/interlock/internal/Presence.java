package dev.interlock.internal;

import com.google.common.base.Splitter;
import com.google.common.base.Suppliers;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The name, host and process of a session, and its version of this library, as it tells operators.
 *
 * @param name its name for people, or the empty string if it isn't known
 * @param host the machine on which it runs, or the empty string if it isn't known
 * @param pid its process, or 0 if it isn't known
 * @param version that of this library, or the empty string if it isn't known
 */
public record Presence(String name, String host, long pid, String version) {
    /** A session that doesn't say who it is. */
    public static final Presence UNKNOWN = new Presence("", "", 0, "");

    /**
     * Tells this JVM from all others. Host and process don't: in containers, many processes have the same id, and hosts
     * may have the same name.
     */
    public static final String JVM = UUID.randomUUID().toString();

    private static final Supplier<String> HOST = Suppliers.memoize(Presence::localHost);
    private static final Supplier<String> VERSION = Suppliers.memoize(Presence::ownVersion);
    private static final int WORDS_WITH_VERSION = 4;

    /** Returns that of a session of this process. */
    public static Presence ofThisProcess(String name) {
        return new Presence(name, HOST.get(), ProcessHandle.current().pid(), VERSION.get());
    }

    private static String localHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    // A file of the build's: the manifest would be that of an application which has this library inside its jar.
    private static String ownVersion() {
        try (InputStream file = Presence.class.getResourceAsStream("/dev/interlock/version.txt")) {
            return file == null ? "" : new String(file.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns it as words. */
    public String words() {
        return String.join(" ", Stake.word(host), String.valueOf(pid), Stake.word(name), Stake.word(version));
    }

    /**
     * Reads such words. A later version may say more; one before 0.1.0 doesn't tell its version.
     *
     * @throws RuntimeException if they are none
     */
    public static Presence parse(String words) {
        List<String> list = Splitter.on(' ').splitToList(words);
        String version = list.size() < WORDS_WITH_VERSION ? "" : Stake.text(list.get(3));
        return new Presence(Stake.text(list.get(2)), Stake.text(list.get(0)), Stake.count(list.get(1)), version);
    }
}
