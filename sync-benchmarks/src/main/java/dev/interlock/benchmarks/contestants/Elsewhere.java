package dev.interlock.benchmarks.contestants;

import dev.interlock.benchmarks.contestants.Contestant.Opened;
import dev.interlock.benchmarks.contestants.Contestant.Work;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** Contestants of two sessions in one JVM, of which one tries to get the lock that the other uses. */
final class Elsewhere {

    /** So often the name is used in a row before the other session tries: enough for the first one to keep it. */
    private static final int USES = 5;

    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private Elsewhere() {}

    /**
     * The name is used some times, and after that the other session tries it: it has to get it.
     *
     * @param open connects a session
     * @param lock gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant afterwards(Function<String, C> open, BiFunction<C, String, Lock> lock, Consumer<C> close) {
        return address -> new Two<>(open.apply(address), open.apply(address), lock, close) {
            @Override
            public Work work(String name) {
                Lock here = lock.apply(first, name);
                Lock there = lock.apply(second, name);
                return ledger -> {
                    for (int i = 0; i < USES; i++) {
                        here.lock();
                        here.unlock();
                    }
                    if (!there.tryLock()) {
                        return false;
                    }
                    there.unlock();
                    return true;
                };
            }
        };
    }

    /**
     * Threads lock, book and unlock, while a thread of the other session does nothing but try.
     *
     * @param open connects a session
     * @param lock gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant storming(Function<String, C> open, BiFunction<C, String, Lock> lock, Consumer<C> close) {
        return address -> new Storm<>(open.apply(address), open.apply(address), lock, close);
    }

    /** Two sessions. */
    private abstract static class Two<C> implements Opened {
        final C first;
        final C second;
        final BiFunction<C, String, Lock> lock;
        private final Consumer<C> close;

        Two(C first, C second, BiFunction<C, String, Lock> lock, Consumer<C> close) {
            this.first = first;
            this.second = second;
            this.lock = lock;
            this.close = close;
        }

        @Override
        public Lock lock(String name) {
            return lock.apply(first, name);
        }

        @Override
        public void close() {
            close.accept(first);
            close.accept(second);
        }
    }

    /** Two sessions, one of which tries over and over as long as the other one uses the lock. */
    private static final class Storm<C> extends Two<C> {
        /** Written with the lock; the other session reads it late, which is soon enough. */
        private long uses;

        private volatile boolean isClosed;

        private final AtomicBoolean hasBegun = new AtomicBoolean();

        Storm(C first, C second, BiFunction<C, String, Lock> lock, Consumer<C> close) {
            super(first, second, lock, close);
        }

        @Override
        public Work work(String name) {
            Lock here = lock.apply(first, name);
            if (hasBegun.compareAndSet(false, true)) {
                Thread storm = new Thread(() -> tryOverAndOver(name), "storm");
                storm.setDaemon(true);
                storm.start();
            }
            return ledger -> {
                ledger.come();
                here.lock();
                try {
                    ledger.book();
                    uses++;
                } finally {
                    here.unlock();
                }
                return true;
            };
        }

        private void tryOverAndOver(String name) {
            Lock there = lock.apply(second, name);
            long known = 0;
            long usedNanos = System.nanoTime() - IDLE_NANOS;
            while (!isClosed) {
                long now = System.nanoTime();
                if (uses != known) {
                    known = uses;
                    usedNanos = now;
                }
                if (now - usedNanos >= IDLE_NANOS) {
                    pause();
                } else if (tries(there)) {
                    there.unlock();
                }
            }
        }

        private static boolean tries(Lock there) {
            try {
                return there.tryLock();
            } catch (IllegalStateException e) {
                // The session is closed just now.
                return false;
            }
        }

        private void pause() {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                isClosed = true;
            }
        }

        @Override
        public void close() {
            isClosed = true;
            super.close();
        }
    }
}
