package dev.interlock.benchmarks.jmh;

import dev.interlock.benchmarks.jmh.Arena.Section;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.redisson.api.RedissonClient;

/**
 * A read-write lock that eight threads want all the time, of which so many read and the others write. JMH tells the
 * scores of readers and writers apart, and their sum. A reader that meets a writer fails the trial.
 *
 * <p>What it doesn't say: how fair that is; of threads that read all the time, writers may get little. What
 * {@link LockBenchmark} doesn't say it doesn't either.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class ReadWriteLockBenchmark {

    private static final long SHORT_LEASE_MILLIS = 5_000;

    /** Ours, ours over Redisson's, Redisson's, the JDK's. */
    @Param({"Interlock", "Interlock-adapted", "Redisson", "JDK"})
    public String impl;

    private ReadWriteLock lock;

    /** Makes the lock. */
    @Setup
    public void open(Arena arena) {
        lock = switch (impl) {
            case "Interlock" -> arena.session().readWriteLock(arena.name());
            case "Interlock-adapted" -> arena.session().adapt(redisson(arena).getReadWriteLock(arena.name()));
            case "Redisson" -> redisson(arena).getReadWriteLock(arena.name());
            case "JDK" -> arena.local(new ReentrantReadWriteLock());
            default ->
                throw new IllegalArgumentException(
                        "impl must be Interlock, Interlock-adapted, Redisson or JDK, but is " + impl);
        };
    }

    // A thread that begins to wait for an RReadWriteLock while it is released can miss that (Redisson's issue 4744),
    // and then
    // waits until the lease would be over: usually 30 s, at the end of an iteration, when nobody else comes by.
    private static RedissonClient redisson(Arena arena) {
        return arena.redisson(SHORT_LEASE_MILLIS);
    }

    /** Seven threads read. */
    @Benchmark
    @Group("mostlyReading")
    @GroupThreads(7)
    public void mostlyRead(Section section) {
        read(section);
    }

    /** One thread writes. */
    @Benchmark
    @Group("mostlyReading")
    @GroupThreads(1)
    public void seldomWrite(Section section) {
        write(section);
    }

    /** Four threads read. */
    @Benchmark
    @Group("balanced")
    @GroupThreads(4)
    public void read(Section section) {
        Lock reading = lock.readLock();
        reading.lock();
        try {
            section.reading();
        } finally {
            reading.unlock();
        }
    }

    /** Four threads write. */
    @Benchmark
    @Group("balanced")
    @GroupThreads(4)
    public void write(Section section) {
        section.alone(lock.writeLock());
    }
}
