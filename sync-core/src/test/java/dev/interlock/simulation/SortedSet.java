package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The members of a sorted set, by their scores and those of the same score by their names. */
final class SortedSet {
    /** A member. */
    record Member(String name, double score) implements Comparable<Member> {
        @Override
        public int compareTo(Member other) {
            int order = Double.compare(score, other.score);
            return order == 0 ? name.compareTo(other.name) : order;
        }
    }

    private final Map<String, Double> scores = new HashMap<>();
    private final List<Member> line = new ArrayList<>();

    SortedSet copy() {
        SortedSet copy = new SortedSet();
        copy.scores.putAll(scores);
        copy.line.addAll(line);
        return copy;
    }

    boolean isEmpty() {
        return line.isEmpty();
    }

    int size() {
        return line.size();
    }

    /** Returns all members in order. */
    List<Member> all() {
        return Collections.unmodifiableList(line);
    }

    /** Returns the score of a member, or null. */
    @Nullable
    Double score(String name) {
        return scores.get(name);
    }

    /** Adds a member or moves it to another score. */
    void put(String name, double score) {
        Double before = scores.put(name, score);
        if (before != null) {
            line.remove(Collections.binarySearch(line, new Member(name, before)));
        }
        Member member = new Member(name, score);
        line.add(-1 - Collections.binarySearch(line, member), member);
    }

    /** Removes a member, and returns whether there was one. */
    boolean remove(String name) {
        Double score = scores.remove(name);
        if (score == null) {
            return false;
        }
        line.remove(Collections.binarySearch(line, new Member(name, score)));
        return true;
    }

    /** Returns the members from one rank to another; a negative one counts from the end. */
    List<Member> ranks(long first, long last) {
        int size = line.size();
        int from = (int) Math.max(0, first < 0 ? first + size : first);
        int to = (int) Math.min(size - 1L, last < 0 ? last + size : last);
        return from > to ? List.of() : line.subList(from, to + 1);
    }

    /** Returns the members that are in a range. */
    List<Member> in(Predicate<Member> range) {
        List<Member> found = new ArrayList<>();
        for (Member member : line) {
            if (range.test(member)) {
                found.add(member);
            }
        }
        return found;
    }
}
