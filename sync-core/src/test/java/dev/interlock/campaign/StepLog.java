package dev.interlock.campaign;

import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.testing.MappedWords;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The steps of one thread, in its part of a mapped file that belongs to its JVM. Each is written while it goes on, so
 * that what is known of the last one outlives {@code kill -9}.
 */
final class StepLog {
    private static final int WORDS = 7;
    static final int MOST_STEPS = 30_000;
    private static final int WORDS_OF_A_THREAD = WORDS * MOST_STEPS;
    private static final List<Act> ACTS = List.of(Act.values());
    private static final List<End> ENDS = List.of(End.values());
    private static final int BEGUN = 0;
    private static final int ACT = 1;
    private static final int ENTERED = 2;
    private static final int UNTIL = 3;
    private static final int TOKEN = 4;
    private static final int NUMBER = 5;
    private static final int END = 6;

    private final LongBuffer words;
    private int at = -WORDS;
    private volatile int size;

    private StepLog(LongBuffer words) {
        this.words = words;
    }

    /** Opens the logs of the threads of one JVM, empty ones if the file is new. */
    static List<StepLog> open(Path file, int threads) throws IOException {
        return MappedWords.open(file, threads, WORDS_OF_A_THREAD).stream()
                .map(StepLog::new)
                .toList();
    }

    void begin(Act act, long number, long begun) {
        at += WORDS;
        put(ACT, ACTS.indexOf(act));
        put(NUMBER, number);
        put(BEGUN, begun); // last, since it says that there is a step
    }

    void enter(long entered, long token) {
        put(UNTIL, entered);
        put(TOKEN, token);
        put(ENTERED, entered); // last, as above
    }

    /** What was entered was still there then. */
    void stillThere(long until) {
        put(UNTIL, until);
    }

    void number(long number) {
        put(NUMBER, number);
    }

    void end(End end) {
        put(END, ENDS.indexOf(end));
        size = at / WORDS + 1;
    }

    private void put(int word, long value) {
        words.put(at + word, value);
    }

    /** How many steps have ended. */
    int size() {
        return size;
    }

    boolean isFull() {
        return size == MOST_STEPS;
    }

    static List<Step> read(int jvm, Path file, int threads) throws IOException {
        var steps = new ArrayList<Step>();
        List<StepLog> logs = open(file, threads);
        for (int thread = 0; thread < threads; thread++) {
            LongBuffer words = logs.get(thread).words;
            for (int i = 0; i < WORDS_OF_A_THREAD && words.get(i + BEGUN) != 0; i += WORDS) {
                steps.add(new Step(
                        jvm,
                        thread,
                        ACTS.get((int) words.get(i + ACT)),
                        words.get(i + BEGUN),
                        words.get(i + ENTERED),
                        words.get(i + UNTIL),
                        words.get(i + TOKEN),
                        words.get(i + NUMBER),
                        ENDS.get((int) words.get(i + END))));
            }
        }
        return steps;
    }
}
