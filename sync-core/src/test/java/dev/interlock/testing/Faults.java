package dev.interlock.testing;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The switches that all connections of a {@link FaultProxy} obey. */
final class Faults {

    enum Kind {
        DROP_REPLY,
        DELAY_REPLY,
        DROP_REQUEST,
        DELAY_REQUEST,
        DUPLICATE_REQUEST,
        DROP_MESSAGE,
        DELAY_MESSAGE
    }

    /** What to do to the next so many frames that match. */
    record Rule(Kind kind, Predicate<List<String>> matches, Duration delay, Loss loss, AtomicInteger left) {

        private boolean take(Kind wanted, List<String> words) {
            return kind == wanted && left.get() > 0 && isMatch(words) && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
        }

        private boolean isMatch(List<String> words) {
            try {
                return matches.test(words);
            } catch (IndexOutOfBoundsException e) {
                return false; // a request too short to have the argument that was asked for
            }
        }
    }

    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final Map<Kind, LongAdder> counts = new ConcurrentHashMap<>();
    private volatile Duration delay = Duration.ZERO;
    private boolean stalled;

    void add(Kind kind, Predicate<List<String>> matches, Duration ruleDelay, Loss loss, int times) {
        rules.add(new Rule(kind, matches, ruleDelay, loss, new AtomicInteger(times)));
    }

    /** A rule of that kind for that frame, used up by one; null if there is none. */
    @Nullable
    Rule take(Kind kind, List<String> words) {
        for (Rule rule : rules) {
            if (rule.take(kind, words)) {
                return rule;
            }
        }
        return null;
    }

    /** The delay of a rule of that kind for that frame, used up by one. */
    Duration takeDelay(Kind kind, List<String> words) {
        Rule rule = take(kind, words);
        return rule == null ? Duration.ZERO : rule.delay();
    }

    void count(Kind kind) {
        counts.computeIfAbsent(kind, k -> new LongAdder()).increment();
    }

    long counted(Kind kind) {
        var count = counts.get(kind);
        return count == null ? 0 : count.sum();
    }

    Duration delay() {
        return delay;
    }

    void delay(Duration each) {
        delay = each;
    }

    void clear() {
        rules.clear();
        delay = Duration.ZERO;
        stall(false);
    }

    synchronized void stall(boolean on) {
        stalled = on;
        notifyAll();
    }

    synchronized void awaitFlow() throws InterruptedException {
        while (stalled) {
            wait();
        }
    }
}
