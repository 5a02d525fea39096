package dev.interlock;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Lists;
import com.google.common.collect.Maps;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.script.HoldQueue.Held;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The hold of several names: it is valid for as long as each of them is. */
final class CombinedHold implements Hold {
    private final ImmutableMap<String, Held> parts;
    private final CompletableFuture<LeaseLostException> lost = new CompletableFuture<>();

    /** Creates one of these, in the order in which they were acquired. */
    CombinedHold(List<Held> parts) {
        this.parts = Maps.uniqueIndex(parts, Held::name);
        parts.forEach(part -> part.lost().thenAccept(lost::complete));
    }

    @Override
    public Set<String> names() {
        return parts.keySet();
    }

    @Override
    public String name() {
        if (parts.size() != 1) {
            throw severalNames();
        }
        return parts.keySet().iterator().next();
    }

    private IllegalStateException severalNames() {
        return new IllegalStateException("the hold has " + parts.size() + " names; say which one is meant");
    }

    @Override
    public long fencingToken() {
        return fencingToken(name());
    }

    @Override
    public long fencingToken(String name) {
        Held part = parts.get(name);
        if (part == null) {
            throw new IllegalArgumentException("name must be one of those that are held, not " + Names.quoted(name));
        }
        assertValid();
        return part.token();
    }

    @Override
    public boolean isValid() {
        return parts.values().stream().allMatch(Held::isValid);
    }

    @Override
    public void assertValid() {
        parts.values().forEach(Held::assertValid);
    }

    @Override
    public CompletionStage<LeaseLostException> lost() {
        return lost.copy();
    }

    /** Releases the names in the reverse of the order in which they were acquired. */
    static CompletableFuture<Void> release(List<Held> some) {
        return CompletableFuture.allOf(
                Lists.reverse(some).stream().map(Held::release).toArray(CompletableFuture<?>[]::new));
    }

    @Override
    public CompletionStage<Void> extend(Duration lease) {
        long leaseMillis = Holds.leaseMillis(lease);
        return unwrapped(CompletableFuture.allOf(
                parts.values().stream().map(part -> part.extend(leaseMillis)).toArray(CompletableFuture<?>[]::new)));
    }

    @Override
    public CompletionStage<Void> release() {
        return unwrapped(release(parts.values().asList()));
    }

    /** Returns a result without what allOf() wraps its failure in. */
    private static CompletableFuture<Void> unwrapped(CompletableFuture<Void> all) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        all.whenComplete((done, failure) -> {
            if (failure == null) {
                result.complete(null);
            } else {
                result.completeExceptionally(failure.getCause() == null ? failure : failure.getCause());
            }
        });
        return result;
    }

    @Override
    public void close() {
        LeaseLostException loss = null;
        for (Held part : parts.values().asList().reverse()) {
            try {
                part.close();
            } catch (LeaseLostException e) {
                loss = loss == null ? e : loss;
            }
        }
        if (loss != null) {
            throw loss;
        }
    }

    @Override
    public String toString() {
        return "hold of " + parts.size() + " names, beginning with "
                + parts.values().asList().get(0);
    }
}
