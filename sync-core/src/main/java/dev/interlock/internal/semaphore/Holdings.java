package dev.interlock.internal.semaphore;

import dev.interlock.LeaseLostException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The permits that threads of a session have, if permits are owned: those that are the session's, and those that it has
 * lost while threads relied on them, which haven't released them yet. Permits are all alike, so the threads that
 * release next release the lost ones.
 */
final class Holdings {
    /** Listeners that are told of a loss. */
    final List<Consumer<LeaseLostException>> listeners = new CopyOnWriteArrayList<>();

    private long valid;
    private long lost;
    private @Nullable LeaseLostException loss;

    boolean isEmpty() {
        return valid + lost == 0;
    }

    long valid() {
        return valid;
    }

    void add(int permits) {
        valid += permits;
    }

    /** Removes so many that are the session's, or all of these; returns how many. */
    int remove(int permits) {
        int removed = (int) Math.min(valid, permits);
        valid -= removed;
        return removed;
    }

    /** Removes so many that are lost, or all of these; returns how many. */
    int removeLost(int permits) {
        int removed = (int) Math.min(lost, permits);
        lost -= removed;
        return removed;
    }

    /** Returns why some were lost, if any ever were. */
    @Nullable
    LeaseLostException loss() {
        return loss;
    }

    /** All permits that threads have are lost. Returns the news, if there were any. */
    @Nullable
    LeaseLostException lose(String name, String reason) {
        if (valid == 0) {
            return null;
        }
        loss = LeaseLostException.ofPermits(name, valid, reason);
        lost += valid;
        valid = 0;
        return loss;
    }
}
