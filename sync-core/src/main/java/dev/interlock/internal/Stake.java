package dev.interlock.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a session has in a name, as one session tells it to another.
 *
 * @param name the name, without namespace; on its way to the other session, with it
 * @param kind what it is the name of
 * @param holds how the session has it
 * @param waits which of its threads wait
 */
public record Stake(String name, String kind, List<Hold> holds, List<Wait> waits) {
    /** In place of milliseconds that aren't known. */
    public static final long UNKNOWN = -1;

    private static final long MOST = 1L << 53;

    /**
     * How it has the name.
     *
     * @param state the name of a constant of {@code NameView.State}
     * @param thread the name of the thread that is inside, or the empty string
     * @param threadId the id of that thread in its JVM, or 0
     * @param permits how many permits it has, if it is a semaphore; how many read locks, if it reads; else 0
     * @param token of that thread, or 0
     */
    public record Hold(
            String state, String thread, long threadId, boolean reads, long permits, long token, long ageMillis) {
        /** Returns how a session has a name in which no thread is inside. */
        public static Hold nobodyInside(String state) {
            return new Hold(state, "", 0, false, 0, 0, UNKNOWN);
        }

        /** Returns how a session has a name in which a thread is inside, or threads that aren't known. */
        public static Hold inside(@Nullable Thread thread, long token, long ageMillis) {
            return thread == null
                    ? new Hold("INSIDE", "", 0, false, 0, token, ageMillis)
                    : new Hold("INSIDE", thread.getName(), thread.getId(), false, 0, token, ageMillis);
        }

        /** Returns how a session has a name that threads share to read: by so many read locks. */
        public static Hold shared(long readLocks, long token, long ageMillis) {
            return new Hold("INSIDE", "", 0, true, readLocks, token, ageMillis);
        }
    }

    /**
     * A thread that waits.
     *
     * @param threadId its id in its JVM
     * @param condition which one has to be signalled before, or the empty string
     * @param place the sequence of its ticket, or 0
     */
    public record Wait(String thread, long threadId, String condition, long place, long ageMillis) {
        /** Returns how that thread waits. */
        public static Wait of(Thread thread, String condition, long place, long ageMillis) {
            return new Wait(thread.getName(), thread.getId(), condition, place, ageMillis);
        }

        /** Returns how a thread, or another object that is shown by its text, has waited for so many nanoseconds. */
        public static Wait of(Object who, long nanos) {
            return who instanceof Thread thread
                    ? of(thread, "", nanos)
                    : new Wait(who.toString(), 0, "", 0, TimeUnit.NANOSECONDS.toMillis(nanos));
        }

        /** Returns how a thread waits that began to wait so many nanoseconds ago. */
        public static Wait of(Thread thread, String condition, long nanos) {
            return of(thread, condition, 0, TimeUnit.NANOSECONDS.toMillis(nanos));
        }
    }

    /** Returns what a session has in a name for which threads wait, in this order. */
    public static Stake ofWaiting(String name, String kind, List<Wait> waits) {
        return new Stake(name, kind, List.of(), waits);
    }

    /** Returns the same, of a session whose threads have so many permits besides. */
    public Stake holding(long permits) {
        return permits == 0
                ? this
                : new Stake(name, kind, List.of(new Hold("INSIDE", "", 0, false, permits, 0, UNKNOWN)), waits);
    }

    /** Returns whether the session has nothing in the name. */
    public boolean isEmpty() {
        return holds.isEmpty() && waits.isEmpty();
    }

    /** Returns the same under another name. */
    public Stake named(String otherName) {
        return new Stake(otherName, kind, holds, waits);
    }

    /** Returns it as a line of words. */
    public String line() {
        StringBuilder line = new StringBuilder(word(name)).append(' ').append(word(kind));
        for (Hold hold : holds) {
            line.append(" h ").append(hold.state).append(' ').append(word(hold.thread));
            line.append(' ').append(hold.threadId);
            line.append(' ').append(hold.reads ? 1 : 0).append(' ').append(hold.permits);
            line.append(' ').append(hold.token);
            line.append(' ').append(hold.ageMillis);
        }
        for (Wait wait : waits) {
            line.append(" w ").append(word(wait.thread)).append(' ').append(wait.threadId);
            line.append(' ').append(word(wait.condition));
            line.append(' ').append(wait.place).append(' ').append(wait.ageMillis);
        }
        return line.toString();
    }

    /**
     * Reads such a line.
     *
     * @throws RuntimeException if it is none
     */
    public static Stake parse(String line) {
        Iterator<String> words = List.of(line.split(" ", -1)).iterator();
        String name = text(words.next());
        String kind = text(words.next());
        List<Hold> holds = new ArrayList<>();
        List<Wait> waits = new ArrayList<>();
        while (words.hasNext()) {
            if (words.next().equals("h")) {
                holds.add(new Hold(
                        words.next(),
                        text(words.next()),
                        count(words.next()),
                        words.next().equals("1"),
                        count(words.next()),
                        Long.parseLong(words.next()),
                        age(words.next())));
            } else {
                waits.add(new Wait(
                        text(words.next()),
                        count(words.next()),
                        text(words.next()),
                        Long.parseLong(words.next()),
                        age(words.next())));
            }
        }
        return new Stake(name, kind, holds, waits);
    }

    /** Returns text without spaces and line ends. */
    public static String word(String text) {
        return URLEncoder.encode(text, UTF_8);
    }

    /** Returns the text of such a word. */
    public static String text(String word) {
        return URLDecoder.decode(word, UTF_8);
    }

    /**
     * Returns what such a word counts.
     *
     * @throws IllegalArgumentException if that is less than nothing, or more than all programs can read in JSON
     */
    public static long count(String word) {
        long count = Long.parseLong(word);
        if (count < 0 || count > MOST) {
            throw new IllegalArgumentException("not from 0 to 2^53");
        }
        return count;
    }

    private static long age(String word) {
        return word.equals(String.valueOf(UNKNOWN)) ? UNKNOWN : count(word);
    }
}
