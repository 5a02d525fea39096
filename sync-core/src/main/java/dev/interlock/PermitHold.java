package dev.interlock;

import dev.interlock.internal.Names;
import dev.interlock.internal.semaphore.PermitQueue.Held;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** The hold of permits of a semaphore. */
final class PermitHold implements Hold {
    private final Held held;

    PermitHold(Held held) {
        this.held = held;
    }

    @Override
    public Set<String> names() {
        return Set.of(held.name());
    }

    @Override
    public String name() {
        return held.name();
    }

    @Override
    public long fencingToken() {
        throw new UnsupportedOperationException("permits have no fencing tokens, since several may be held at a time");
    }

    @Override
    public long fencingToken(String name) {
        return fencingToken();
    }

    @Override
    public boolean isValid() {
        return held.isValid();
    }

    @Override
    public void assertValid() {
        if (held.isReleased()) {
            throw new IllegalStateException("the permits of " + Names.quoted(held.name()) + " have been released");
        }
        held.ask();
        LeaseLostException loss = held.loss();
        if (loss != null) {
            throw new LeaseLostException(loss);
        }
        if (!held.isValid()) {
            throw new RedisUnavailableException(
                    "Redis has not answered whether permits of " + Names.quoted(held.name()) + " are still held", null);
        }
    }

    @Override
    public CompletionStage<LeaseLostException> lost() {
        return held.lost();
    }

    @Override
    public CompletionStage<Void> release() {
        return held.release().copy();
    }

    @Override
    public void close() {
        boolean isFirst = !held.isReleased();
        LeaseLostException loss = held.loss();
        var unused = held.release();
        if (isFirst && loss != null) {
            throw new LeaseLostException(loss);
        }
    }

    @Override
    public String toString() {
        return held.toString();
    }
}
