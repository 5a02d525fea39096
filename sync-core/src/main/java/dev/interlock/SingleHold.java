package dev.interlock;

import dev.interlock.internal.Names;
import dev.interlock.internal.session.Holding;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** The hold of one name, or of permits of one semaphore. */
final class SingleHold implements Hold {
    private final Holding held;

    SingleHold(Holding held) {
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
        long token = held.token();
        held.assertValid();
        return token;
    }

    @Override
    public long fencingToken(String name) {
        if (!held.name().equals(name)) {
            throw new IllegalArgumentException(
                    "name must be " + Names.quoted(held.name()) + ", which is held, not " + Names.quoted(name));
        }
        return fencingToken();
    }

    @Override
    public boolean isValid() {
        return held.isValid();
    }

    @Override
    public void assertValid() {
        held.assertValid();
    }

    @Override
    public CompletionStage<LeaseLostException> lost() {
        return held.lost();
    }

    @Override
    public CompletionStage<Void> extend(Duration lease) {
        return held.extend(Holds.leaseMillis(lease)).copy();
    }

    @Override
    public CompletionStage<Void> release() {
        return held.release().copy();
    }

    @Override
    public void close() {
        held.close();
    }

    @Override
    public String toString() {
        return held.toString();
    }
}
