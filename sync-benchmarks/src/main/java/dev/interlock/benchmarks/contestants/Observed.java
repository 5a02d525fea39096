package dev.interlock.benchmarks.contestants;

import dev.interlock.Interlock;
import dev.interlock.benchmarks.contestants.Contestant.Opened;
import dev.interlock.benchmarks.contestants.Contestant.Work;
import dev.interlock.micrometer.InterlockMetrics;
import dev.interlock.ops.Operator;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import java.util.function.Function;
import jdk.jfr.Recording;

/** Contestants that are observed while they play, and only then, so that it costs the others nothing. */
final class Observed {

    private Observed() {}

    /** What observes. */
    interface Observer extends AutoCloseable {

        /** A round begins. */
        void begin();

        /** The round ends. */
        void end();

        @Override
        void close();
    }

    /**
     * A contestant that is observed.
     *
     * @param contestant who plays
     * @param observer opens what observes, connected to the same Redis
     */
    static Contestant by(Contestant contestant, Function<String, Observer> observer) {
        return address -> new Stage(contestant.open(address), observer.apply(address));
    }

    /** A contestant whose session has meters, as a service's has. */
    static Contestant metered(BiFunction<Interlock, String, Lock> lock) {
        return address -> {
            Interlock session = Interlock.connect(address);
            Contestant playing = Contestant.locking(nowhere -> session, lock, Interlock::close);
            return new Stage(playing.open(address), metrics(session));
        };
    }

    private static Observer metrics(Interlock session) {
        MeterRegistry registry = new SimpleMeterRegistry();
        InterlockMetrics metrics = new InterlockMetrics(session);
        return new Observer() {
            @Override
            public void begin() {
                metrics.bindTo(registry);
            }

            @Override
            public void end() {
                metrics.close();
            }

            @Override
            public void close() {
                metrics.close();
            }
        };
    }

    /** Looks at all names as {@code top} does: when a round begins, and every second. */
    static Observer operator(String address) {
        Interlock session = Interlock.connect(address);
        Operator operator = session.operator();
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        return new Observer() {
            private Future<?> looks = timer.submit(() -> operator.find("*"));

            @Override
            public void begin() {
                looks = timer.scheduleAtFixedRate(() -> operator.find("*"), 0, 1, TimeUnit.SECONDS);
            }

            @Override
            public void end() {
                looks.cancel(false);
            }

            @Override
            public void close() {
                timer.shutdownNow();
                session.close();
            }
        };
    }

    /** Records the events of locks, as any recording does. */
    static Observer recording() {
        return new Observer() {
            private Recording recording = new Recording();

            @Override
            public void begin() {
                recording = new Recording();
                recording.enable("dev.interlock.LockWait");
                recording.enable("dev.interlock.LockHold");
                recording.start();
            }

            @Override
            public void end() {
                recording.close();
            }

            @Override
            public void close() {
                recording.close();
            }
        };
    }

    /** A contestant, and what observes it. */
    private static final class Stage implements Opened {
        private final Opened contestant;
        private final Observer observer;
        private volatile boolean isObserved;

        Stage(Opened contestant, Observer observer) {
            this.contestant = contestant;
            this.observer = observer;
        }

        @Override
        public Work work(String name) {
            Work work = contestant.work(name);
            return new Work() {
                @Override
                public boolean once(Ledger ledger) {
                    if (!isObserved) {
                        observe(true);
                    }
                    return work.once(ledger);
                }

                @Override
                public void end() {
                    work.end();
                    observe(false);
                }
            };
        }

        // Of several threads the first one begins, and the first one ends.
        private synchronized void observe(boolean begins) {
            if (isObserved == begins) {
                return;
            }
            if (begins) {
                observer.begin();
            } else {
                observer.end();
            }
            isObserved = begins;
        }

        @Override
        public Lock lock(String name) {
            return contestant.lock(name);
        }

        @Override
        public void close() {
            observer.close();
            contestant.close();
        }
    }
}
