package dev.interlock.examples;

import java.util.ArrayList;
import java.util.List;

/** What has been observed, and what should have been. */
final class Verdict {

    private static final Outcome WANTED = new Outcome(Stock.UNITS, 0, 1, 1);

    private final List<String> missing = new ArrayList<>();
    private Outcome outcome = new Outcome(0, 0, 0, 0);

    /** The numbers of the sale under Interlock. */
    record Outcome(int sold, int oversold, int killed, int refused) {
        @Override
        public String toString() {
            return sold + " sold, " + oversold + " oversold, " + killed + (killed == 1 ? " jvm" : " jvms") + " killed, "
                    + refused + (refused == 1 ? " stale write" : " stale writes") + " refused";
        }
    }

    /** Notes that something had to be seen. */
    void expect(boolean seen, String what) {
        if (!seen) {
            missing.add(what);
        }
    }

    void outcome(Outcome observed) {
        outcome = observed;
    }

    boolean isOk() {
        return missing.isEmpty() && outcome.equals(WANTED);
    }

    @Override
    public String toString() {
        if (isOk()) {
            return "FLASH SALE OK: " + outcome;
        }
        return "FLASH SALE FAILED: " + outcome + (missing.isEmpty() ? "" : "; not seen: " + String.join(", ", missing));
    }
}
