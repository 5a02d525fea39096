package dev.interlock.faults;

import dev.interlock.Interlock;
import java.util.List;
import java.util.function.Predicate;

/** Tells the scripts of the lock apart by their arguments, as a proxy sees them. */
final class Requests {
    private static final int KEYS_OF_RENEW = 3;
    private static final int KEYS_OF_OTHERS = 6;
    private static final int FIRST_KEY = 3;
    private static final int SESSION = FIRST_KEY + KEYS_OF_OTHERS;
    private static final int LAST_ARGUMENT = SESSION + 5;

    private Requests() {}

    /** Requests that acquire this key, or ask how a ticket for it stands. */
    static Predicate<List<String>> acquire(String key) {
        return words -> isScript(words, key, KEYS_OF_OTHERS)
                && !words.get(LAST_ARGUMENT).endsWith("publish");
    }

    /** Requests that release this key, or cancel a ticket for it. */
    static Predicate<List<String>> release(String key) {
        return words ->
                isScript(words, key, KEYS_OF_OTHERS) && words.get(LAST_ARGUMENT).endsWith("publish");
    }

    /** Requests that renew the lease of this key. */
    static Predicate<List<String>> renew(String key) {
        return words -> isScript(words, key, KEYS_OF_RENEW);
    }

    /** Of acquiring and releasing requests, those of one session. */
    static Predicate<List<String>> of(Interlock session) {
        return words -> words.get(SESSION).equals(session.id());
    }

    /** Grants that are on their way to a session. */
    static Predicate<List<String>> grant(Interlock session) {
        return words -> isMail(words, session) && words.get(2).startsWith("g ");
    }

    /** Messages to a session. */
    static boolean isMail(List<String> words, Interlock session) {
        return words.get(1).equals("interlock:mailbox:" + session.id());
    }

    private static boolean isScript(List<String> words, String key, int keys) {
        return words.get(0).equalsIgnoreCase("EVALSHA")
                && words.get(2).equals(Integer.toString(keys))
                && words.get(FIRST_KEY).equals(key);
    }
}
