package dev.interlock.faults;

import dev.interlock.Interlock;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Tells the scripts of the lock apart by their arguments, as a proxy sees them. */
public final class Requests {
    private static final int FIRST_KEY = 3;

    private enum Script {
        TAKE(5, 3),
        ACQUIRE(9, 7),
        DROP(4, 5),
        RELEASE(9, 9),
        RENEW(5, 5),
        SIGNAL(5, 5),
        AWAIT(8, 6),
        DOWNGRADE(8, 6);

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
                    && words.get(FIRST_KEY).equals(key);
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

    /** Requests that signal waiters of this key's conditions while its tenure goes on. */
    public static Predicate<List<String>> signal(String key) {
        return words -> Script.SIGNAL.isRunBy(words, key);
    }

    /** Requests that ask how waiters of this key's conditions stand, or have them leave. */
    public static Predicate<List<String>> await(String key) {
        return words -> Script.AWAIT.isRunBy(words, key) && !isDowngrade(words);
    }

    /** Requests that make a reader of this key's owner. */
    public static Predicate<List<String>> downgrade(String key) {
        return words -> Script.DOWNGRADE.isRunBy(words, key) && isDowngrade(words);
    }

    // Await has as many arguments, but waiters where this has a number.
    private static boolean isDowngrade(List<String> words) {
        return words.get(FIRST_KEY + Script.DOWNGRADE.keys + 4).matches("\\d+");
    }

    /** Of all these requests, those of one session. */
    public static Predicate<List<String>> of(Interlock session) {
        return words -> words.stream().anyMatch(word -> word.contains(session.id()));
    }

    /** Of all these requests, those about one sequence of a session. */
    public static Predicate<List<String>> of(Interlock session, long sequence) {
        String owner = session.id() + ":" + sequence;
        String number = Long.toString(sequence);
        return words -> words.contains(owner)
                || (words.contains(session.id())
                        && Stream.of(words.get(words.indexOf(session.id()) + 1).split(" ", -1))
                                .anyMatch(request -> request.equals(number) || request.startsWith(number + ":")));
    }

    /** Grants that are on their way to a session. */
    public static Predicate<List<String>> grant(Interlock session) {
        return words -> isMail(words, session) && words.get(2).startsWith("g ");
    }

    /** Messages that tell a session that somebody waits for what it has. */
    public static Predicate<List<String>> demand(Interlock session) {
        return words -> isMail(words, session) && words.get(2).startsWith("d ");
    }

    /** Messages to a session. */
    public static boolean isMail(List<String> words, Interlock session) {
        return words.get(1).equals("interlock:mailbox:" + session.id());
    }
}
