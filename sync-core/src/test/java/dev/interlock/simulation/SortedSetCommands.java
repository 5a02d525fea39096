package dev.interlock.simulation;

import dev.interlock.simulation.Commands.Command;
import dev.interlock.simulation.SortedSet.Member;
import dev.interlock.simulation.Value.Scores;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Commands on sorted sets. */
final class SortedSetCommands {
    private static final SortedSet NONE = new SortedSet();

    private final Database database;

    SortedSetCommands(Database database) {
        this.database = database;
    }

    Map<String, Command> all() {
        Function<Words, Predicate<Member>> scores = Ranges::scores;
        Function<Words, Predicate<Member>> names = Ranges::names;
        return Map.ofEntries(
                Map.entry("zadd", this::add),
                Map.entry("zrem", this::remove),
                Map.entry("zscore", this::score),
                Map.entry("zcard", words -> (long) members(words.last()).size()),
                Map.entry("zpopmin", this::popFirst),
                Map.entry("zrange", this::ranks),
                Map.entry("zcount", words -> count(words, scores)),
                Map.entry("zlexcount", words -> count(words, names)),
                Map.entry("zrangebyscore", words -> range(words, scores)),
                Map.entry("zrangebylex", words -> range(words, names)),
                Map.entry("zremrangebyscore", words -> removeRange(words, scores)),
                Map.entry("zremrangebylex", words -> removeRange(words, names)));
    }

    private SortedSet members(String key) {
        Scores scores = database.value(key, Scores.class);
        return scores == null ? NONE : scores.members();
    }

    private Long add(Words words) {
        String key = words.next();
        Set<String> options = new HashSet<>();
        String word = words.next();
        while (Ranges.ADD_OPTIONS.contains(word)) {
            options.add(word);
            word = words.next();
        }
        if (words.left() % 2 != 1) {
            throw CommandError.syntax();
        }
        List<Member> given = new ArrayList<>();
        given.add(new Member(words.next(), Ranges.score(word)));
        while (words.hasNext()) {
            double score = Ranges.score(words.next());
            given.add(new Member(words.next(), score));
        }
        Scores scores = database.value(key, Scores.class);
        Scores written = scores == null ? new Scores() : scores;
        long added = 0;
        for (Member member : given) {
            Double before = written.members().score(member.name());
            if (before == null ? !options.contains("xx") : isMoved(before, member.score(), options)) {
                written.members().put(member.name(), member.score());
                added += before == null ? 1 : 0;
            }
        }
        if (scores == null && !written.isEmpty()) {
            database.put(key, written);
        }
        return added;
    }

    private static boolean isMoved(double before, double score, Set<String> options) {
        return !options.contains("nx")
                && (!options.contains("gt") || score > before)
                && (!options.contains("lt") || score < before);
    }

    private Long remove(Words words) {
        String key = words.next();
        SortedSet members = members(key);
        return removed(key, words.rest().stream().filter(members::remove).count());
    }

    private long removed(String key, long count) {
        Scores scores = database.value(key, Scores.class);
        if (scores != null) {
            database.removeIfEmpty(key, scores);
        }
        return count;
    }

    private @Nullable String score(Words words) {
        Double score = members(words.next()).score(words.last());
        return score == null ? null : Numbers.text(score);
    }

    private List<Object> popFirst(Words words) {
        String key = words.next();
        long count = words.hasNext() ? words.integer() : 1;
        words.end();
        SortedSet members = members(key);
        List<Member> first = new ArrayList<>(count == 0 ? List.of() : members.ranks(0, count - 1));
        first.forEach(member -> members.remove(member.name()));
        removed(key, first.size());
        return reply(first, true);
    }

    private List<Object> ranks(Words words) {
        String key = words.next();
        long first = words.integer();
        long last = words.integer();
        boolean withScores = words.hasNext();
        if ((withScores && !words.option().equals("withscores")) || words.hasNext()) {
            throw words.unknown();
        }
        return reply(members(key).ranks(first, last), withScores);
    }

    private long count(Words words, Function<Words, Predicate<Member>> range) {
        String key = words.next();
        Predicate<Member> wanted = range.apply(words);
        words.end();
        return members(key).in(wanted).size();
    }

    private List<Object> range(Words words, Function<Words, Predicate<Member>> range) {
        String key = words.next();
        Predicate<Member> wanted = range.apply(words);
        boolean withScores = false;
        long offset = 0;
        long limit = -1;
        while (words.hasNext()) {
            switch (words.option()) {
                case "withscores" -> withScores = true;
                case "limit" -> {
                    offset = words.integer();
                    limit = words.integer();
                }
                default -> throw words.unknown();
            }
        }
        List<Member> found = members(key).in(wanted);
        long from = offset < 0 ? found.size() : Math.min(offset, found.size());
        long to = limit < 0 ? found.size() : Math.min(from + limit, found.size());
        return reply(found.subList((int) from, (int) to), withScores);
    }

    private long removeRange(Words words, Function<Words, Predicate<Member>> range) {
        String key = words.next();
        Predicate<Member> wanted = range.apply(words);
        words.end();
        SortedSet members = members(key);
        List<Member> found = members.in(wanted);
        found.forEach(member -> members.remove(member.name()));
        return removed(key, found.size());
    }

    private static List<Object> reply(List<Member> members, boolean withScores) {
        List<Object> reply = new ArrayList<>();
        for (Member member : members) {
            reply.add(member.name());
            if (withScores) {
                reply.add(Numbers.text(member.score()));
            }
        }
        return reply;
    }
}
