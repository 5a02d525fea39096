package dev.interlock.simulation;

import dev.interlock.simulation.SortedSet.Member;
import java.util.Set;
import java.util.function.Predicate;

/** What commands on sorted sets say of scores, and of ranges of scores and of names. */
final class Ranges {
    static final Set<String> ADD_OPTIONS = Set.of("xx", "nx", "gt", "lt");

    private static final String NO_SCORE = "ERR min or max is not a float";
    private static final String NO_NAME = "ERR min or max not valid string range item";

    private Ranges() {}

    /** Reads a score. Redis keeps no sign of a zero, in small sets. */
    static double score(String word) {
        return Numbers.number(word, "ERR value is not a valid float") + 0.0;
    }

    /** Reads two scores, each without itself after a parenthesis. */
    static Predicate<Member> scores(Words words) {
        String first = words.next();
        String last = words.next();
        double from = bound(first);
        double to = bound(last);
        boolean isOverFrom = first.startsWith("(");
        boolean isUnderTo = last.startsWith("(");
        return member -> (isOverFrom ? member.score() > from : member.score() >= from)
                && (isUnderTo ? member.score() < to : member.score() <= to);
    }

    private static double bound(String word) {
        return Numbers.number(word.startsWith("(") ? word.substring(1) : word, NO_SCORE);
    }

    /** Reads two names, each with itself after a bracket and without itself after a parenthesis; or - or + for any. */
    static Predicate<Member> names(Words words) {
        String first = words.next();
        String last = words.next();
        return from(first, 1).and(from(last, -1));
    }

    /** Those that come after a bound, if the sign is 1, or before it. */
    private static Predicate<Member> from(String word, int sign) {
        if (word.equals("-") || word.equals("+")) {
            boolean isAny = word.equals("-") == sign > 0;
            return member -> isAny;
        }
        if (!word.startsWith("[") && !word.startsWith("(")) {
            throw new CommandError(NO_NAME);
        }
        String name = word.substring(1);
        boolean isIn = word.startsWith("[");
        return member -> {
            int order = member.name().compareTo(name) * sign;
            return isIn ? order >= 0 : order > 0;
        };
    }
}
