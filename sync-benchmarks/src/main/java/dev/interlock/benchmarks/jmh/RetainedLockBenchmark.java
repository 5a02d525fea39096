package dev.interlock.benchmarks.jmh;

import dev.interlock.LockOptions;
import dev.interlock.benchmarks.jmh.Arena.Section;
import java.time.Duration;
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
 * A lock that its session keeps after {@code unlock()} until another JVM wants it: as long as none does, a pair needs
 * no Redis. To lock and to unlock is one operation.
 *
 * <p>With {@code -p jvms=2} every pair may cost another JVM's request. What {@link LockBenchmark} doesn't say it
 * doesn't either.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class RetainedLockBenchmark {

    /** Ours, retained for a second; the JDK's. */
    @Param({"Interlock", "JDK"})
    public String impl;

    private static final LockOptions RETAINING = LockOptions.retain(Duration.ofSeconds(1));

    private Lock lock;

    /** Makes the lock. */
    @Setup
    public void open(Arena arena) {
        lock = switch (impl) {
            case "Interlock" -> arena.session().lock(arena.name(), RETAINING);
            case "JDK" -> arena.local(new ReentrantLock());
            default -> throw new IllegalArgumentException("impl must be Interlock or JDK, but is " + impl);
        };
    }

    /** One thread; no round trip as long as no other JVM wants the name. */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
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
