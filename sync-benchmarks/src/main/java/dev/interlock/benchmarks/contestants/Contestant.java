package dev.interlock.benchmarks.contestants;

import dev.interlock.benchmarks.peers.Mutex;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.benchmarks.servers.Service;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** A way to do one thing over and over: a lock or limiter of ours, a peer's, or a limit that no lock can beat. */
@FunctionalInterface
public interface Contestant {

    /**
     * Connects with a client of its own, so that no contestant queues behind another's commands.
     *
     * @param address of its service
     */
    Opened open(String address);

    /** What it depends on: Redis, unless it says otherwise. */
    default Service service() {
        return Service.REDIS;
    }

    /** Connects to wherever its service is. */
    default Opened open(Addresses addresses) {
        return open(addresses.of(service()));
    }

    /** The same contestant, depending on another service. */
    default Contestant on(Service service) {
        Contestant self = this;
        return new Contestant() {
            @Override
            public Opened open(String address) {
                return self.open(address);
            }

            @Override
            public Service service() {
                return service;
            }
        };
    }

    /** A connected contestant of one JVM. */
    interface Opened extends AutoCloseable {

        /** The work on one name; the threads of a JVM share it. */
        Work work(String name);

        /**
         * The lock of a name.
         *
         * @throws IllegalArgumentException if the contestant is no lock that one thread at a time has
         */
        default Lock lock(String name) {
            throw new IllegalArgumentException("it is no lock that one thread at a time has");
        }

        @Override
        void close();
    }

    /** What is counted. */
    @FunctionalInterface
    interface Work {

        /**
         * One operation. A section that should exclude all others is booked in the ledger.
         *
         * @return false if it has waited for its partner in vain, or was refused, so that there was none
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
        return excluding(open, lock.andThen(Mutex::of), close);
    }

    /**
     * The same by a lock of another name for each section: none that anybody has ever used.
     *
     * @param open connects
     * @param lock gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant lockingNewNames(
            Function<String, C> open, BiFunction<C, String, Lock> lock, Consumer<C> close) {
        return working(
                open,
                (client, name) -> {
                    var count = new AtomicLong();
                    String prefix = name + ":" + UUID.randomUUID() + ":";
                    return ledger -> section(
                                    Mutex.of(lock.apply(client, prefix + count.incrementAndGet())), Ledger::book)
                            .once(ledger);
                },
                close);
    }

    /**
     * The same after a pause of 1 to 50 ms, drawn at random, which doesn't count as waiting.
     *
     * @param open connects
     * @param lock gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant lockingNowAndThen(
            Function<String, C> open, BiFunction<C, String, Lock> lock, Consumer<C> close) {
        return working(
                open,
                (client, name) -> {
                    Work section = section(Mutex.of(lock.apply(client, name)), Ledger::book);
                    return ledger -> {
                        try {
                            Thread.sleep(ThreadLocalRandom.current().nextInt(1, 51));
                        } catch (InterruptedException e) {
                            throw new IllegalStateException("nobody interrupts contestants", e);
                        }
                        return section.once(ledger);
                    };
                },
                close);
    }

    /**
     * The same for what is no JDK lock.
     *
     * @param open connects
     * @param mutex gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant excluding(Function<String, C> open, BiFunction<C, String, Mutex> mutex, Consumer<C> close) {
        return opening(
                open,
                mutex.andThen(exclusive -> section(exclusive, Ledger::book)),
                mutex.andThen(Mutex::toLock),
                close);
    }

    /**
     * A contestant that locks to read or to write, as the ledger says, and unlocks.
     *
     * @param open connects
     * @param lock gives the lock of a name
     * @param close disconnects
     */
    static <C> Contestant sharing(
            Function<String, C> open, BiFunction<C, String, ReadWriteLock> lock, Consumer<C> close) {
        return working(open, lock.andThen(Contestant::sections), close);
    }

    /** How threads get a permit. */
    @FunctionalInterface
    interface Entrance {

        /** Waits for a permit. */
        void acquire() throws InterruptedException;
    }

    /**
     * What threads of a section pass that only so many of them share at a time.
     *
     * @param permits how many
     * @param in takes a permit
     * @param out gives it back
     */
    record Turnstile(int permits, Entrance in, Runnable out) {}

    /**
     * A contestant that takes one of several permits, books, and gives it back.
     *
     * @param open connects
     * @param turnstile gives the semaphore of a name
     * @param close disconnects
     */
    static <C> Contestant crowding(
            Function<String, C> open, BiFunction<C, String, Turnstile> turnstile, Consumer<C> close) {
        return working(open, turnstile.andThen(Contestant::passage), close);
    }

    /**
     * A contestant that does something else.
     *
     * @param open connects
     * @param work gives the work on a name
     * @param close disconnects
     */
    static <C> Contestant working(Function<String, C> open, BiFunction<C, String, Work> work, Consumer<C> close) {
        return opening(
                open,
                work,
                (client, name) -> {
                    throw new IllegalArgumentException("it is no lock that one thread at a time has");
                },
                close);
    }

    private static <C> Contestant opening(
            Function<String, C> open,
            BiFunction<C, String, Work> work,
            BiFunction<C, String, Lock> lock,
            Consumer<C> close) {
        return address -> {
            C client = open.apply(address);
            return new Opened() {
                @Override
                public Work work(String name) {
                    return work.apply(client, name);
                }

                @Override
                public Lock lock(String name) {
                    return lock.apply(client, name);
                }

                @Override
                public void close() {
                    close.accept(client);
                }
            };
        };
    }

    private static Work sections(ReadWriteLock lock) {
        Work reading = section(Mutex.of(lock.readLock()), Ledger::look);
        Work writing = section(Mutex.of(lock.writeLock()), Ledger::book);
        return ledger -> (ledger.willWrite() ? writing : reading).once(ledger);
    }

    private static Work passage(Turnstile turnstile) {
        return ledger -> {
            ledger.come();
            try {
                turnstile.in().acquire();
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts contestants", e);
            }
            try {
                ledger.crowd(turnstile.permits());
            } finally {
                turnstile.out().run();
            }
            return true;
        };
    }

    private static Work section(Mutex lock, Consumer<Ledger> inside) {
        return ledger -> {
            ledger.come();
            lock.lock();
            try {
                inside.accept(ledger);
            } finally {
                lock.unlock();
            }
            return true;
        };
    }
}
