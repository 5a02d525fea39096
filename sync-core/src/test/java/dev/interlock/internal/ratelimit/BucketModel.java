package dev.interlock.internal.ratelimit;

import java.math.BigInteger;

/**
 * A token bucket without rounding: what it lacked when something was taken last. A token is as much as a window, times
 * permits.
 */
final class BucketModel extends LimitModel {
    private BigInteger lacked = BigInteger.ZERO;
    private long takenAt;
    private long burstThen;

    BucketModel(long permits, long window, long burst) {
        super(permits, window, burst);
        this.burstThen = burst;
    }

    private BigInteger lacks(long now) {
        // A bucket that has become another lacks no more than it holds.
        BigInteger then = burst == burstThen
                ? lacked
                : lacked.min(BigInteger.valueOf(burst).multiply(BigInteger.valueOf(window)));
        return then.subtract(BigInteger.valueOf(now - takenAt).multiply(BigInteger.valueOf(permits)))
                .max(BigInteger.ZERO);
    }

    private long ceiling(BigInteger scaled) {
        BigInteger[] parts = scaled.divideAndRemainder(BigInteger.valueOf(permits));
        return parts[0].longValueExact() + (parts[1].signum() > 0 ? 1 : 0);
    }

    @Override
    long earliest(long now, long wanted) {
        BigInteger missing = lacks(now).add(BigInteger.valueOf(wanted - burst).multiply(BigInteger.valueOf(window)));
        return now + Math.max(0, ceiling(missing));
    }

    @Override
    void take(long now, long time, long wanted) {
        lacked = lacks(now).add(BigInteger.valueOf(wanted).multiply(BigInteger.valueOf(window)));
        takenAt = now;
        burstThen = burst;
    }

    @Override
    long reset(long now) {
        return ceiling(lacks(now));
    }

    @Override
    void forget() {
        lacked = BigInteger.ZERO;
        takenAt = 0;
    }
}
