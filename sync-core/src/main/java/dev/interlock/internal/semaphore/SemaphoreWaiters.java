package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import dev.interlock.internal.Stake.Wait;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Those in a session that wait for permits, are about to, or have just taken some from the stock: threads, mostly. */
final class SemaphoreWaiters {

    /** Permits on their way to a thread that waits neither in the superclass nor in the queue of the pool. */
    static class Taking {
        /** How many have arrived. */
        int arrived;

        /** Whether they were lost on their way. */
        boolean stray;
    }

    /**
     * Somebody who wants permits: a thread, mostly. Those that it has taken and may have lost are on their way to it.
     */
    static final class Waiter extends Taking {
        final Object who;
        final int permits;
        final long sinceNanos;

        Waiter(Object who, int permits, long nowNanos) {
            this.who = who;
            this.permits = permits;
            this.sinceNanos = nowNanos;
        }
    }

    /**
     * What the next waiter needs that the stock doesn't serve.
     *
     * @param permits how many it needs, 0 if there is no such waiter
     * @param surplus how many permits of the stock serve no waiter
     * @param certain whether the order of all waiters is known
     */
    record Need(int permits, int surplus, boolean certain) {}

    private final PermitStock local;

    /** In the order in which they came. */
    private final Map<Object, Waiter> byWho = new LinkedHashMap<>();

    /** How many waiters want so many permits. */
    private final Map<Integer, Integer> sizes = new HashMap<>();

    SemaphoreWaiters(PermitStock local) {
        this.local = local;
    }

    boolean isEmpty() {
        return byWho.isEmpty();
    }

    int size() {
        return byWho.size();
    }

    void add(Waiter waiter) {
        Waiter before = byWho.put(waiter.who, waiter);
        assert before == null : "each waits once";
        sizes.merge(waiter.permits, 1, Integer::sum);
    }

    boolean remove(Waiter waiter) {
        if (!byWho.remove(waiter.who, waiter)) {
            return false;
        }
        sizes.computeIfPresent(waiter.permits, (size, count) -> count == 1 ? null : count - 1);
        return true;
    }

    /** Returns those that are parked, for operators, in the order in which they are. */
    List<Wait> parked(long nowNanos) {
        List<Wait> waits = new ArrayList<>();
        for (Object who : local.queued()) {
            Waiter waiter = byWho.get(who);
            if (waiter != null) {
                waits.add(Wait.of(who, nowNanos - waiter.sinceNanos));
            }
        }
        return waits;
    }

    /** Returns the most that any of them wants. */
    int most() {
        int most = 0;
        for (int size : sizes.keySet()) {
            most = Math.max(most, size);
        }
        return most;
    }

    /**
     * Returns what the next one needs.
     *
     * @param supply permits that the superclass has, and those taken by threads that are still registered
     */
    Need need(int supply) {
        if (isEmpty()) {
            return new Need(0, supply, true);
        }
        if (sizes.size() > 1) {
            return need(local.queued(), local.availablePermits(), supply);
        }
        int each = byWho.values().iterator().next().permits;
        long all = (long) byWho.size() * each;
        return all > supply ? new Need(each, supply % each, true) : new Need(0, Ints.saturatedCast(supply - all), true);
    }

    // They want different numbers. Parked threads are those in the superclass's queue, in its order.
    private Need need(Collection<?> parked, int stock, int supply) {
        Map<Object, Waiter> others = new LinkedHashMap<>(byWho);
        parked.forEach(others::remove);
        int left = stock;
        for (Object who : parked) {
            Waiter waiter = byWho.get(who);
            if (waiter == null) {
                continue;
            }
            if (waiter.permits > left) {
                return new Need(waiter.permits, left, others.isEmpty());
            }
            left -= waiter.permits;
        }
        // The others have taken permits that left the stock, or are about to park.
        int rest = left + supply - stock;
        for (Waiter waiter : others.values()) {
            if (waiter.permits > rest) {
                return new Need(waiter.permits, Math.min(left, rest), false);
            }
            rest -= waiter.permits;
        }
        return new Need(0, Math.min(left, rest), others.isEmpty());
    }
}
