package dev.interlock.benchmarks;

import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** A way to do one thing over and over: a lock of ours, a peer's, or a limit that no lock can beat. */
@FunctionalInterface
interface Contestant {

    /** Connects to Redis with a client of its own, so that no contestant queues behind another's commands. */
    Opened open(String redisUrl);

    /** A connected contestant of one JVM. */
    interface Opened extends AutoCloseable {

        /** The work on one name; the threads of a JVM share it. */
        Work work(String name);

        @Override
        void close();
    }

    /** What is counted. */
    @FunctionalInterface
    interface Work {

        /**
         * One operation. A section that should exclude all others is booked in the ledger.
         *
         * @return false if it has waited for its partner in vain, so that there was none
         */
        boolean once(Ledger ledger);

        /** Called by each thread after its last operation of a round. */
        default void end() {}
    }

    /**
     * A contestant that locks, books and unlocks.
     *
     * @param open connects
     * @param lock gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant locking(Function<String, C> open, BiFunction<C, String, Lock> lock, Consumer<C> close) {
        return redisUrl -> {
            C client = open.apply(redisUrl);
            return new Opened() {
                @Override
                public Work work(String name) {
                    return section(lock.apply(client, name));
                }

                @Override
                public void close() {
                    close.accept(client);
                }
            };
        };
    }

    private static Work section(Lock lock) {
        return ledger -> {
            ledger.come();
            lock.lock();
            try {
                ledger.book();
            } finally {
                lock.unlock();
            }
            return true;
        };
    }
}
