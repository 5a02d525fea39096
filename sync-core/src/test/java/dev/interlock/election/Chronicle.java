package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A listener that writes down what it is told, and sees to it that it is told one thing after the other. */
class Chronicle implements TermListener {
    /** The calls of this listener for one term; {@code why} is null until the term has ended. */
    record Entry(Term term, Term.@Nullable End why, long nanos) {}

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<Entry> entries = new CopyOnWriteArrayList<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public void elected(Term term) throws InterruptedException {
        begin();
        if (!entries.isEmpty() && entries.get(entries.size() - 1).why() == null) {
            faults.add("elected twice");
        }
        entries.add(new Entry(term, null, System.nanoTime()));
        calls.decrementAndGet();
    }

    @Override
    public void deposed(Term term, Term.End why) {
        begin();
        Entry last = entries.get(entries.size() - 1);
        if (last.term() != term || last.why() != null || term.isValid()) {
            faults.add("deposed from " + term + " after " + last);
        }
        entries.add(new Entry(term, why, System.nanoTime()));
        calls.decrementAndGet();
    }

    private void begin() {
        if (calls.incrementAndGet() > 1) {
            faults.add("two calls at a time");
        }
    }

    /** Waits until this was told of that many beginnings of terms, and returns the last one. */
    Term awaitElected(int times) {
        return awaited("elected", 2 * times - 1).term();
    }

    /** Returns when this was told of something last. */
    long lastNanos() {
        return entries.get(entries.size() - 1).nanos();
    }

    /** Waits until this was told of that many ends of terms, and asserts why the last one has ended. */
    Term awaitDeposed(int times, Term.End why) {
        Entry entry = awaited("deposed", 2 * times);
        assertThat(entry.why()).isEqualTo(why);
        return entry.term();
    }

    private Entry awaited(String what, int size) {
        await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> entries.size() >= size);
        assertFaultless();
        return entries.get(size - 1);
    }

    void assertFaultless() {
        assertThat(faults).isEmpty();
    }

    /** Returns how often it was told anything. */
    int size() {
        return entries.size();
    }
}
