package dev.interlock.simulation;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A command with its arguments, which are read one after the other. */
final class Words {
    private final String[] words;
    private int next = 1;

    Words(String[] words) {
        this.words = words;
    }

    String command() {
        return words[0];
    }

    boolean hasNext() {
        return next < words.length;
    }

    int left() {
        return words.length - next;
    }

    String next() {
        ensure(hasNext());
        return words[next++];
    }

    /** Returns the last argument. */
    String last() {
        String word = next();
        end();
        return word;
    }

    /** Refuses the command if there are more arguments. */
    void end() {
        ensure(!hasNext());
    }

    /** Returns the rest of the arguments, of which there is one at least. */
    List<String> rest() {
        return rest(1);
    }

    /** Returns the rest of the arguments, and refuses the command if there are less than some. */
    List<String> rest(int least) {
        ensure(left() >= least);
        List<String> rest = Arrays.asList(words).subList(next, words.length);
        next = words.length;
        return rest;
    }

    private static void ensure(boolean isEnough) {
        if (!isEnough) {
            throw new CommandError("ERR Wrong number of args calling Redis command from script");
        }
    }

    /** Returns the next argument, an option, in lower case. */
    String option() {
        return next().toLowerCase(Locale.ROOT);
    }

    long integer() {
        return Numbers.integer(next(), CommandError.NOT_AN_INTEGER);
    }

    /** Returns what fails a test: this Redis doesn't know what the real one may. */
    UnsupportedOperationException unknown() {
        return new UnsupportedOperationException("Not simulated: " + String.join(" ", words));
    }
}
