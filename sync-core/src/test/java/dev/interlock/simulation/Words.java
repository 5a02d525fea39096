package dev.interlock.simulation;

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
        if (!hasNext()) {
            throw new CommandError("ERR Wrong number of args calling Redis command from script");
        }
        return words[next++];
    }

    /** Returns the last argument, and refuses the command if there are others. */
    String last() {
        String word = next();
        end();
        return word;
    }

    /** Refuses the command if there are more arguments. */
    void end() {
        if (hasNext()) {
            throw new CommandError("ERR Wrong number of args calling Redis command from script");
        }
    }

    /** Returns the rest of the arguments, of which there is one at least. */
    List<String> rest() {
        List<String> rest = List.of(words).subList(next, words.length);
        next();
        next = words.length;
        return rest;
    }

    /** Returns the next argument, an option, in lower case. */
    String option() {
        return next().toLowerCase(Locale.ROOT);
    }

    long integer() {
        return Numbers.integer(next(), CommandError.NOT_AN_INTEGER);
    }

    double number() {
        return Numbers.number(next(), "ERR value is not a valid float");
    }

    /** Returns what fails a test: this Redis doesn't know what the real one may. */
    UnsupportedOperationException unknown() {
        return new UnsupportedOperationException("Not simulated: " + String.join(" ", words));
    }
}
