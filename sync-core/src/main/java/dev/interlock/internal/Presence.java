package dev.interlock.internal;

import com.google.common.base.Splitter;
import com.google.common.base.Suppliers;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The name, host and process of a session, as it tells operators.
 *
 * @param name its name for people, or the empty string if it isn't known
 * @param host the machine on which it runs, or the empty string if it isn't known
 * @param pid its process, or 0 if it isn't known
 */
public record Presence(String name, String host, long pid) {
    /** A session that doesn't say who it is. */
    public static final Presence UNKNOWN = new Presence("", "", 0);

    /**
     * Tells this JVM from all others. Host and process don't: in containers, many processes have the same id, and hosts
     * may have the same name.
     */
    public static final String JVM = UUID.randomUUID().toString();

    private static final Supplier<String> HOST = Suppliers.memoize(Presence::localHost);

    /** Returns that of a session of this process. */
    public static Presence ofThisProcess(String name) {
        return new Presence(name, HOST.get(), ProcessHandle.current().pid());
    }

    private static String localHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    /** Returns it as words. */
    public String words() {
        return Stake.word(host) + ' ' + pid + ' ' + Stake.word(name);
    }

    /**
     * Reads such words.
     *
     * @throws RuntimeException if they are none
     */
    public static Presence parse(String words) {
        List<String> list = Splitter.on(' ').splitToList(words);
        return new Presence(Stake.text(list.get(2)), Stake.text(list.get(0)), Stake.count(list.get(1)));
    }
}
