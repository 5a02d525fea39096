package dev.interlock.internal.barrier;

/** What a barrier without an action does, as seen by those who know its current generation. */
final class BarrierModel {
    private final int parties;
    private int arrived;
    private boolean broken;
    private int generations;
    private int trips;

    BarrierModel(int parties) {
        this.parties = parties;
    }

    void arrive() {
        if (!broken && ++arrived == parties) {
            trips++;
            begin();
        }
    }

    void breakIt() {
        if (!broken) {
            broken = true;
            arrived = 0;
        }
    }

    void reset() {
        broken = false;
        begin();
    }

    private void begin() {
        arrived = 0;
        generations++;
    }

    int arrived() {
        return arrived;
    }

    boolean isBroken() {
        return broken;
    }

    int generations() {
        return generations;
    }

    int trips() {
        return trips;
    }
}
