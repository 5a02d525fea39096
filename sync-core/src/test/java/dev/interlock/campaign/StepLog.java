package dev.interlock.campaign;

import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import java.util.List;

/**
 * The steps of one thread. Each is written while it goes on, so that what is known of the last one outlives its JVM.
 */
final class StepLog {
    static final int MOST_STEPS = 30_000;

    private static final int WORDS = 7;
    private static final List<Act> ACTS = List.of(Act.values());
    private static final List<End> ENDS = List.of(End.values());
    private static final int BEGUN = 0;
    private static final int ACT = 1;
    private static final int ENTERED = 2;
    private static final int UNTIL = 3;
    private static final int TOKEN = 4;
    private static final int NUMBER = 5;
    private static final int END = 6;

    static final LogFormat<Step> FORMAT = new LogFormat<>(WORDS, MOST_STEPS, StepLog::read);

    private final Log log;

    StepLog(Log log) {
        this.log = log;
    }

    void begin(Act act, long number, long begun) {
        log.begin();
        log.put(ACT, ACTS.indexOf(act));
        log.put(NUMBER, number);
        log.put(BEGUN, begun); // last, since it says that there is a step
    }

    void enter(long entered, long token) {
        log.put(UNTIL, entered);
        log.put(TOKEN, token);
        log.put(ENTERED, entered); // last, as above
    }

    /** What was entered was still there then. */
    void stillThere(long until) {
        log.put(UNTIL, until);
    }

    void number(long number) {
        log.put(NUMBER, number);
    }

    void end(End end) {
        log.put(END, ENDS.indexOf(end));
        log.end();
    }

    private static Step read(int jvm, int thread, long[] words) {
        return new Step(
                jvm,
                thread,
                ACTS.get((int) words[ACT]),
                words[BEGUN],
                words[ENTERED],
                words[UNTIL],
                words[TOKEN],
                words[NUMBER],
                ENDS.get((int) words[END]));
    }
}
