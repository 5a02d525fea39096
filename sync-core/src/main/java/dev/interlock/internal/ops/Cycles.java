package dev.interlock.internal.ops;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.Deadlock.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The graph of threads that hold locks and wait for others. A lock is held by one thread: if several sessions tell that
 * theirs does, by that with the greatest token, since the others have lost it. A thread waits for one lock at a time;
 * but answers come from different moments, so that it may be seen to wait for several, each of which is followed.
 * Threads that share a lock to read aren't known, so that a path ends there.
 */
final class Cycles {
    /**
     * A thread of some JVM, which may use several sessions.
     *
     * @param jvm what tells the JVM from all others, on whatever host and with whatever process id
     */
    private record Actor(String jvm, long threadId) {}

    private record Holding(Actor actor, String session, Answer answer, Hold hold) {}

    /** A thread on a path, and the locks that it waits for and that have not been followed. */
    private record Visit(Actor actor, Iterator<Site> rest) {
        Visit(Actor actor, Set<Site> wanted) {
            this(actor, wanted.iterator());
        }
    }

    private final Map<Site, Holding> holders = new HashMap<>();
    private final SetMultimap<Actor, Site> wanted = LinkedHashMultimap.create();
    private final Set<Deadlock> found = new LinkedHashSet<>();

    private Cycles(Map<String, Answer> answers) {
        answers.forEach((id, answer) -> answer.stakes().forEach(stake -> add(id, answer, stake)));
    }

    /** Returns the cycles in what sessions have answered. */
    static Set<Deadlock> in(Map<String, Answer> answers) {
        Cycles cycles = new Cycles(answers);
        cycles.find();
        return cycles.found;
    }

    private void add(String id, Answer answer, Stake stake) {
        Site site = Site.of(stake);
        for (Hold hold : stake.holds()) {
            if (hold.threadId() != 0) {
                Actor actor = new Actor(answer.jvm(), hold.threadId());
                holders.merge(
                        site,
                        new Holding(actor, id, answer, hold),
                        (one, other) -> one.hold.token() >= other.hold.token() ? one : other);
            }
        }
        for (Wait wait : stake.waits()) {
            if (wait.condition().isEmpty()) {
                wanted.put(new Actor(answer.jvm(), wait.threadId()), site);
            }
        }
    }

    private void find() {
        Set<Actor> seen = new HashSet<>();
        for (Actor start : wanted.keySet()) {
            if (seen.add(start)) {
                findFrom(start, seen);
            }
        }
    }

    /** Follows all paths that begin with a thread, and that have not been followed from others. */
    private void findFrom(Actor start, Set<Actor> seen) {
        List<Visit> path = new ArrayList<>(List.of(new Visit(start, wanted.get(start))));
        Map<Actor, Integer> places = new HashMap<>(Map.of(start, 0));
        List<Site> ways = new ArrayList<>();
        while (!path.isEmpty()) {
            Visit last = path.get(path.size() - 1);
            if (!last.rest.hasNext()) {
                path.remove(path.size() - 1);
                places.remove(last.actor);
                if (!ways.isEmpty()) {
                    ways.remove(ways.size() - 1);
                }
                continue;
            }
            Site way = last.rest.next();
            Holding ahead = holders.get(way);
            Integer place = ahead == null ? null : places.get(ahead.actor);
            if (place != null) {
                List<Site> cycle = new ArrayList<>(ways.subList(place, ways.size()));
                cycle.add(way);
                found.add(deadlock(cycle));
            } else if (ahead != null && seen.add(ahead.actor)) {
                places.put(ahead.actor, path.size());
                path.add(new Visit(ahead.actor, wanted.get(ahead.actor)));
                ways.add(way);
            }
        }
    }

    /** Returns the deadlock of locks, of which the thread that holds one waits for the next. */
    private Deadlock deadlock(List<Site> cycle) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < cycle.size(); i++) {
            Site held = cycle.get(i);
            Holding holding = requireNonNull(holders.get(held));
            steps.add(new Step(
                    holding.session,
                    holding.answer.name(),
                    holding.answer.presence().host(),
                    holding.answer.presence().pid(),
                    holding.hold.thread(),
                    held.name(),
                    holding.hold.token(),
                    cycle.get((i + 1) % cycle.size()).name()));
        }
        int first = steps.indexOf(
                steps.stream().min(Comparator.comparing(Step::holds)).orElseThrow());
        Collections.rotate(steps, -first);
        return new Deadlock(List.copyOf(steps));
    }
}
