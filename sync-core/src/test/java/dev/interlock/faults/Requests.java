package dev.interlock.faults;

import dev.interlock.Interlock;
import java.util.List;
import java.util.function.Predicate;

/** Tells the scripts of the lock apart by their arguments, as a proxy sees them. */
public final class Requests {
    private static final int FIRST_KEY = 3;

    private enum Script {
        TAKE(4, 3),
        ACQUIRE(6, 7),
        DROP(3, 5),
        RELEASE(6, 7),
        RENEW(3, 4);

        final int keys;
        final int arguments;

        Script(int keys, int arguments) {
            this.keys = keys;
            this.arguments = arguments;
        }

        boolean isRunBy(List<String> words, String key) {
            return words.get(0).equalsIgnoreCase("EVALSHA")
                    && words.get(2).equals(Integer.toString(keys))
                    && words.size() == FIRST_KEY + keys + arguments
                    && words.get(FIRST_KEY).equals(key)
                    && (this != ACQUIRE || !isPublishing(words))
                    && (this != RELEASE || isPublishing(words));
        }

        private static boolean isPublishing(List<String> words) {
            return words.get(words.size() - 2).endsWith("publish");
        }
    }

    private Requests() {}

    /** Requests that acquire this key, or ask how a ticket for it stands. */
    public static Predicate<List<String>> acquire(String key) {
        return words -> Script.TAKE.isRunBy(words, key) || Script.ACQUIRE.isRunBy(words, key);
    }

    /** Requests that release this key, or cancel a ticket for it. */
    public static Predicate<List<String>> release(String key) {
        return words -> Script.DROP.isRunBy(words, key) || Script.RELEASE.isRunBy(words, key);
    }

    /** Requests that renew the lease of this key. */
    public static Predicate<List<String>> renew(String key) {
        return words -> Script.RENEW.isRunBy(words, key);
    }

    /** Of all these requests, those of one session. */
    public static Predicate<List<String>> of(Interlock session) {
        return words -> words.stream().anyMatch(word -> word.contains(session.id()));
    }

    /** Of all these requests, those about one sequence of a session. */
    public static Predicate<List<String>> of(Interlock session, long sequence) {
        String owner = session.id() + ":" + sequence;
        return words -> {
            int apart = words.indexOf(session.id()) + 1;
            return words.contains(owner) || (apart > 0 && words.get(apart).matches(sequence + "(:.*)?"));
        };
    }

    /** Grants that are on their way to a session. */
    public static Predicate<List<String>> grant(Interlock session) {
        return words -> isMail(words, session) && words.get(2).startsWith("g ");
    }

    /** Messages to a session. */
    public static boolean isMail(List<String> words, Interlock session) {
        return words.get(1).equals("interlock:mailbox:" + session.id());
    }
}
