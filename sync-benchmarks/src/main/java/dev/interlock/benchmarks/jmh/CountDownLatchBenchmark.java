package dev.interlock.benchmarks.jmh;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.redisson.api.RCountDownLatch;

/**
 * Latches of one: those that are open already, and those that the thread opens itself.
 *
 * <p>What it doesn't say: how soon a thread goes on that waits in another JVM, which the Scoreboard measures.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class CountDownLatchBenchmark {

    private static final Duration RETENTION = Duration.ofSeconds(1);

    /** Ours, ours over Redisson's, Redisson's, the JDK's. */
    @Param({"Interlock", "Interlock-adapted", "Redisson", "JDK"})
    public String impl;

    private final AtomicLong numbers = new AtomicLong();
    private Arena arena;
    private Gate open;

    /** Makes a latch, and opens it. */
    @Setup
    public void open(Arena some) throws InterruptedException {
        arena = some;
        arena.requireNoSection();
        arena.requireOneJvm();
        open = gate(arena.name());
        open.open();
        open.pass();
    }

    private Gate gate(String name) {
        if (impl.equals("Redisson")) {
            RCountDownLatch latch = redissons(name);
            return Gate.of(latch::countDown, latch::await);
        }
        CountDownLatch latch = switch (impl) {
            case "Interlock" -> arena.session().countDownLatch(name, 1, RETENTION);
            case "Interlock-adapted" -> arena.session().adapt(redissons(name));
            case "JDK" -> arena.local(new CountDownLatch(1));
            default ->
                throw new IllegalArgumentException(
                        "impl must be Interlock, Interlock-adapted, Redisson or JDK, but is " + impl);
        };
        return Gate.of(latch::countDown, latch::await);
    }

    private RCountDownLatch redissons(String name) {
        RCountDownLatch latch = arena.redisson().getCountDownLatch(name);
        latch.trySetCount(1);
        return latch;
    }

    /** {@code await()} of a latch that is open, by one thread. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    @Threads(1)
    public void pass() throws InterruptedException {
        open.pass();
    }

    /** The whole life of a latch, by one thread: it is made, counted down and awaited. */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void life() throws InterruptedException {
        live();
    }

    /** The same by eight threads, each with its own latches. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Threads(8)
    public void lives() throws InterruptedException {
        live();
    }

    private void live() throws InterruptedException {
        Gate gate = gate(arena.name() + ":" + numbers.incrementAndGet());
        gate.open();
        gate.pass();
    }

    /** What all of them do. */
    private interface Gate {
        void open();

        void pass() throws InterruptedException;

        static Gate of(Runnable open, Wait pass) {
            return new Gate() {
                @Override
                public void open() {
                    open.run();
                }

                @Override
                public void pass() throws InterruptedException {
                    pass.await();
                }
            };
        }
    }

    /** A wait. */
    private interface Wait {
        void await() throws InterruptedException;
    }
}
