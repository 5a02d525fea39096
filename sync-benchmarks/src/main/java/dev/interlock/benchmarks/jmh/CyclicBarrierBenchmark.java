package dev.interlock.benchmarks.jmh;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

/**
 * A barrier for all threads of all JVMs: an operation is that a thread has come and been let go, so that there are as
 * many in a cycle as there are threads. Redisson has none.
 *
 * <p>At the end of an iteration the last ones wait in vain for those that have ended, and break it. So they wait for a
 * time, and whoever finds it broken takes the next one.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class CyclicBarrierBenchmark {

    private static final long PATIENCE_MILLIS = 200;

    /** Ours, the JDK's. */
    @Param({"Interlock", "JDK"})
    public String impl;

    private Arena arena;
    private volatile Generation current;

    /** Makes the barrier. */
    @Setup
    public void open(Arena some) {
        arena = some;
        arena.requireNoSection();
        current = generation(0);
    }

    private Generation generation(int number) {
        int parties = arena.participants();
        CyclicBarrier barrier = switch (impl) {
            case "Interlock" -> arena.session().cyclicBarrier(arena.name() + ":" + number, parties);
            case "JDK" -> arena.local(new CyclicBarrier(parties));
            default -> throw new IllegalArgumentException("impl must be Interlock or JDK, but is " + impl);
        };
        return new Generation(number, barrier);
    }

    /** One thread, which is all there is unless there are other JVMs: what it costs to come. */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void alone() throws InterruptedException {
        await();
    }

    /** Eight threads. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Threads(8)
    public void together() throws InterruptedException {
        await();
    }

    private void await() throws InterruptedException {
        Generation mine = current;
        try {
            mine.barrier.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | BrokenBarrierException e) {
            replace(mine);
        }
    }

    private synchronized void replace(Generation broken) {
        if (current.number == broken.number) {
            current = generation(broken.number + 1);
        }
    }

    /** A barrier, and how many have been broken before it. */
    private record Generation(int number, CyclicBarrier barrier) {}
}
