package dev.interlock.internal.redis;

import java.util.function.LongSupplier;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisNoScriptException;

/** Tells the session's outage and its spinner of Redis' answers. */
public final class Answers {
    private final Outage outage;
    private final AnswerSpinner spinner;
    private final LongSupplier ticker;

    /** Creates what tells these. */
    public Answers(Outage outage, AnswerSpinner spinner, LongSupplier ticker) {
        this.outage = outage;
        this.spinner = spinner;
        this.ticker = ticker;
    }

    /** Returns the present instant, for when a command is sent. */
    public long now() {
        return ticker.getAsLong();
    }

    /** Redis has answered a command that was sent then. */
    public void heard(long sentNanos) {
        came(sentNanos);
        outage.heard();
    }

    /** Redis has answered a command that was sent then, and as many replicas as have to have acknowledged it. */
    public void acknowledged(long sentNanos) {
        came(sentNanos);
        outage.acknowledged();
    }

    /** A command that was sent then has failed. */
    public void failed(long sentNanos, Throwable cause) {
        if (cause instanceof RedisNoScriptException) {
            outage.forgot(sentNanos, cause);
        } else if (Failures.isTransient(cause) && !Failures.isSplit(cause)) {
            outage.failed(sentNanos, cause);
        } else if (!(cause instanceof RedissonShutdownException)) {
            outage.heard();
        }
    }

    private void came(long sentNanos) {
        spinner.heard(ticker.getAsLong() - sentNanos);
    }
}
