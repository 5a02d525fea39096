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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A lock that serves threads in the order of their arrival, in all JVMs together: the price of that order. To lock and
 * to unlock is one operation.
 *
 * <p>What it doesn't say: whether the order is kept, which the Scoreboard looks at. What {@link LockBenchmark} doesn't
 * say it doesn't either.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class FairLockBenchmark {

    /** Ours, ours over Redisson's, Redisson's, the JDK's. */
    @Param({"Interlock", "Interlock-adapted", "Redisson", "JDK"})
    public String impl;

    private Lock lock;

    /** Makes the lock. */
    @Setup
    public void open(Arena arena) {
        lock = switch (impl) {
            case "Interlock" -> arena.session().fairLock(arena.name());
            case "Interlock-adapted" -> arena.session().adapt(arena.redisson().getFairLock(arena.name()));
            case "Redisson" -> arena.redisson().getFairLock(arena.name());
            case "JDK" -> arena.local(new ReentrantLock(true));
            default ->
                throw new IllegalArgumentException(
                        "impl must be Interlock, Interlock-adapted, Redisson or JDK, but is " + impl);
        };
    }

    /** One thread, and nobody else unless there are other JVMs: two round trips, if there is a Redis. */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void uncontended(Section section) {
        section.alone(lock);
    }

    /** Eight threads that want the lock all the time. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Threads(8)
    public void contended(Section section) {
        section.alone(lock);
    }
}
