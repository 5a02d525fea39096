package dev.interlock.benchmarks.jmh;

import dev.interlock.benchmarks.jmh.Arena.Section;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A lock of one name: to lock and to unlock is one operation.
 *
 * <p>What it doesn't say: what a thread waits that wants the lock at a time of its own choosing. Threads of a benchmark
 * come back at once, so those that wait long come less often (coordinated omission); the Scoreboard's waits are told
 * per thread. Redis is on this machine and has nothing else to do, and all code and data are hot.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class LockBenchmark {

    /**
     * Ours, ours over Redisson's, Redisson's, the JDK's; or one of the Scoreboard's peers, such as {@code Curator} or
     * {@code SETNX}.
     */
    @Param({"Interlock", "Interlock-adapted", "Redisson", "JDK"})
    public String impl;

    private Lock lock;

    /** Makes the lock. */
    @Setup
    public void open(Arena arena) {
        lock = switch (impl) {
            case "Interlock" -> arena.session().lock(arena.name());
            case "Interlock-adapted" -> arena.session().adapt(arena.redisson().getLock(arena.name()));
            case "Redisson" -> arena.redisson().getLock(arena.name());
            case "JDK" -> arena.local(new ReentrantLock());
            default -> arena.peer(impl);
        };
    }

    /**
     * One thread, and nobody else unless there are other JVMs: two round trips, if there is a Redis. Ours doesn't wait
     * for the second, and makes none while it keeps the name.
     */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void uncontended(Section section) {
        section.alone(lock);
    }

    /**
     * As {@link #uncontended}, by a {@code tryLock()} that succeeds; a failed one, where others have the lock, counts
     * as much.
     */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void tryLock(Section section) {
        if (lock.tryLock()) {
            try {
                section.alone();
            } finally {
                lock.unlock();
            }
        }
    }

    /** By a thread that has the lock already. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    @Threads(1)
    public void reentrant(Holder holder) {
        lock.lock();
        lock.unlock();
    }

    /** Eight threads that want the lock all the time. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Threads(8)
    public void contended(Section section) {
        section.alone(lock);
    }

    /** A thread that has the lock as long as the trial lasts. */
    @State(Scope.Thread)
    public static class Holder {

        /** Takes it. */
        @Setup
        public void lock(LockBenchmark benchmark, Arena arena) {
            arena.requireOneJvm();
            benchmark.lock.lock();
        }

        /** Gives it back. */
        @TearDown
        public void unlock(LockBenchmark benchmark) {
            benchmark.lock.unlock();
        }
    }
}
