package dev.interlock.testing;

import com.google.common.base.CharMatcher;
import dev.interlock.Interlock;
import dev.interlock.internal.redis.Script;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Tells the scripts of the lock apart, as a proxy sees them. */
public final class Requests {
    private static final int FIRST_KEY = 3;

    private static final String TAKE = digest("take");
    private static final String ACQUIRE = digest("acquire");
    private static final String DROP = digest("drop");
    private static final String RELEASE = digest("release");
    private static final String RENEW = digest("renew");
    private static final String PROLONG = digest("prolong");
    private static final String SIGNAL = digest("signal");
    private static final String AWAIT = digest("await");
    private static final String DOWNGRADE = digest("downgrade");
    private static final String HEARTBEAT = digest("heartbeat");

    private Requests() {}

    private static String digest(String script) {
        return Script.load("lock/" + script).digest();
    }

    private static boolean isRun(String digest, List<String> words, String key) {
        return words.get(0).equalsIgnoreCase("EVALSHA")
                && words.get(1).equals(digest)
                && words.size() > FIRST_KEY
                && words.get(FIRST_KEY).equals(key);
    }

    /** Requests that acquire this key, or ask how a ticket for it stands: maybe with those for other keys behind it. */
    public static Predicate<List<String>> acquire(String key) {
        return words -> isRun(TAKE, words, key) || isRun(ACQUIRE, words, key) || isRun(HEARTBEAT, words, key);
    }

    /** Requests that release this key, or cancel a ticket for it. */
    public static Predicate<List<String>> release(String key) {
        return words -> isRun(DROP, words, key) || isRun(RELEASE, words, key);
    }

    /** Requests that renew the lease of this key. */
    public static Predicate<List<String>> renew(String key) {
        return words -> isRun(RENEW, words, key);
    }

    /** Requests that extend a fixed lease of this key. */
    public static Predicate<List<String>> extend(String key) {
        return words -> isRun(PROLONG, words, key);
    }

    /** Requests that signal waiters of this key's conditions while its tenure goes on. */
    public static Predicate<List<String>> signal(String key) {
        return words -> isRun(SIGNAL, words, key);
    }

    /** Requests that ask how waiters of this key's conditions stand, or have them leave. */
    public static Predicate<List<String>> await(String key) {
        return words -> isRun(AWAIT, words, key);
    }

    /** Requests that make a reader of this key's owner. */
    public static Predicate<List<String>> downgrade(String key) {
        return words -> isRun(DOWNGRADE, words, key);
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
                                .map(request -> CharMatcher.anyOf("*-").trimLeadingFrom(request))
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
