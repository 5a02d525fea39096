package dev.interlock.internal.semaphore;

import dev.interlock.LeaseLostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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

    /** Permits that threads have and that are the session's, as far as is known. */
    private long valid;

    /** Permits that threads have and that were lost. */
    private long lost;

    /** The last loss. There is one as soon as permits are {@link #lost}. */
    private @Nullable LeaseLostException loss;

    /** Releases to the pool that Redis hasn't counted yet, the oldest first. */
    private final Deque<Release> releases = new ArrayDeque<>();

    /** A release of permits by a thread. */
    static final class Release {
        /** Why some of it frees nothing, if that is so: it was lost before. */
        private @Nullable LeaseLostException loss;

        /** How many permits go back to the pool. */
        private long permits;

        /** The sum of what the session has given back that includes these, if there are any. */
        private long sum;

        /** Whether the permits were certainly the session's then. */
        final boolean isCertain;

        /** Whether its thread waits no more for Redis' confirmation. */
        private boolean abandoned;

        Release(boolean isCertain) {
            this.isCertain = isCertain;
        }

        /** Returns whether nothing goes back to the pool, so that there is nothing for Redis to confirm. */
        boolean isSettled() {
            return permits == 0;
        }

        /** Returns why some of it frees nothing, if that is known. */
        @Nullable
        LeaseLostException loss() {
            return loss;
        }
    }

    boolean isEmpty() {
        return valid + lost == 0;
    }

    long valid() {
        return valid;
    }

    long lost() {
        return lost;
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
    int removeLost(int permits, Release by) {
        int removed = (int) Math.min(lost, permits);
        lost -= removed;
        if (removed > 0) {
            by.loss = loss;
        }
        return removed;
    }

    // ---- releases that Redis has yet to confirm

    /** A release gives so many back to the pool, which is confirmed by that sum. */
    void released(Release release, int permits, long sum) {
        release.permits = permits;
        release.sum = sum;
        releases.add(release);
    }

    /** Redis has counted what was given back up to that sum. */
    void counted(long sum) {
        while (!releases.isEmpty() && releases.element().sum <= sum) {
            releases.remove();
        }
    }

    /** No release that Redis has not counted by now will be; returns these. */
    List<Release> takeUncounted() {
        List<Release> uncounted = new ArrayList<>(releases);
        releases.clear();
        return uncounted;
    }

    /** The thread waits no more for the confirmation. Returns why its release has freed nothing, if that is known. */
    @Nullable
    LeaseLostException abandon(Release release) {
        release.abandoned = true;
        return release.loss;
    }

    // ---- loss

    /**
     * All permits that threads have are lost, and with them what threads are about to release. Returns the news, if
     * there were any.
     */
    @Nullable
    LeaseLostException lose(String name, String reason, List<Release> releasing) {
        long relied = valid;
        for (Release release : releasing) {
            relied += release.abandoned ? 0 : release.permits;
        }
        if (relied == 0) {
            return null;
        }
        loss = LeaseLostException.ofPermits(name, relied, reason);
        for (Release release : releasing) {
            release.loss = loss;
        }
        lost += valid;
        valid = 0;
        return loss;
    }

    /** Returns the loss of which the threads that were about to release hear no more, if there are any. */
    static @Nullable LeaseLostException unnoticed(String name, String reason, List<Release> releasing) {
        long unnoticed = releasing.stream()
                .filter(release -> release.abandoned)
                .mapToLong(release -> release.permits)
                .sum();
        return unnoticed == 0 ? null : LeaseLostException.ofPermits(name, unnoticed, reason);
    }
}
