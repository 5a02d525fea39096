package dev.interlock.internal.ops;

import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.Deadlock.Step;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The graph of threads that hold locks and wait for others. A thread waits for one lock at a time, which one thread
 * holds; so a walk from thread to thread gets into a cycle or comes to an end. Threads that share a lock to read aren't
 * known, so that a walk ends there.
 */
final class Cycles {
    /** A thread of some JVM. */
    private record Actor(String host, long pid, long threadId) {}

    private record Holding(
            Actor actor, String session, @Nullable String sessionName, Hold hold) {}

    private final Map<Site, Holding> holders = new HashMap<>();
    private final Map<Actor, Site> wanted = new HashMap<>();

    private Cycles(Map<String, @Nullable Answer> answers) {
        answers.forEach((id, answer) -> {
            if (answer != null) {
                answer.stakes().forEach(stake -> add(id, answer, stake));
            }
        });
    }

    /** Returns the cycles in what sessions have answered. */
    static Set<Deadlock> in(Map<String, @Nullable Answer> answers) {
        return new Cycles(answers).found();
    }

    private void add(String id, Answer answer, Stake stake) {
        Site site = Site.of(stake);
        for (Hold hold : stake.holds()) {
            if (hold.threadId() != 0) {
                Actor actor = new Actor(answer.host(), answer.pid(), hold.threadId());
                holders.put(site, new Holding(actor, id, Answer.nameIn(answer), hold));
            }
        }
        for (Wait wait : stake.waits()) {
            if (wait.condition().isEmpty()) {
                wanted.put(new Actor(answer.host(), answer.pid(), wait.threadId()), site);
            }
        }
    }

    private Set<Deadlock> found() {
        Set<Deadlock> deadlocks = new LinkedHashSet<>();
        Set<Actor> seen = new HashSet<>();
        for (Actor start : wanted.keySet()) {
            List<Actor> path = new ArrayList<>();
            Actor next = start;
            while (next != null && seen.add(next)) {
                path.add(next);
                next = ahead(next);
            }
            int begin = next == null ? -1 : path.indexOf(next);
            if (begin >= 0) {
                deadlocks.add(deadlock(path.subList(begin, path.size())));
            }
        }
        return deadlocks;
    }

    /** Returns the thread that holds what another one waits for, if there is one. */
    private @Nullable Actor ahead(Actor actor) {
        Site site = wanted.get(actor);
        Holding holding = site == null ? null : holders.get(site);
        return holding == null ? null : holding.actor;
    }

    private Deadlock deadlock(List<Actor> cycle) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < cycle.size(); i++) {
            Actor actor = cycle.get(i);
            Actor before = cycle.get((i + cycle.size() - 1) % cycle.size());
            Site held = wanted.get(before);
            Site next = wanted.get(actor);
            Holding holding = held == null ? null : holders.get(held);
            if (held != null && next != null && holding != null) {
                steps.add(new Step(
                        holding.session,
                        holding.sessionName,
                        actor.host,
                        actor.pid,
                        holding.hold.thread(),
                        held.name(),
                        holding.hold.token(),
                        next.name()));
            }
        }
        int first = steps.indexOf(
                steps.stream().min(Comparator.comparing(Step::holds)).orElseThrow());
        List<Step> ordered = new ArrayList<>(steps.subList(first, steps.size()));
        ordered.addAll(steps.subList(0, first));
        return new Deadlock(List.copyOf(ordered));
    }
}
