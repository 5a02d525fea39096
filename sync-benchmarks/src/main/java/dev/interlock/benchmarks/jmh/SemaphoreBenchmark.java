package dev.interlock.benchmarks.jmh;

import dev.interlock.SemaphoreOptions;
import dev.interlock.benchmarks.jmh.Arena.Section;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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
import org.redisson.api.RSemaphore;

/**
 * A semaphore of four permits: to take one and to give it back is one operation. A fifth thread inside fails the trial.
 *
 * <p>What {@link LockBenchmark} doesn't say it doesn't either.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class SemaphoreBenchmark {

    private static final int PERMITS = 4;

    /**
     * Ours, whose permits return when their JVM dies; ours without that; ours over Redisson's; Redisson's; the JDK's.
     */
    @Param({"Interlock", "Interlock-unowned", "Interlock-adapted", "Redisson", "JDK"})
    public String impl;

    private Entrance in;
    private Runnable out;

    /** Makes the semaphore. */
    @Setup
    public void open(Arena arena) {
        if (impl.equals("Redisson")) {
            RSemaphore semaphore = redissons(arena);
            in = semaphore::acquire;
            out = semaphore::release;
            return;
        }
        Semaphore semaphore = switch (impl) {
            case "Interlock" -> arena.session().semaphore(arena.name(), PERMITS);
            case "Interlock-unowned" -> arena.session().semaphore(arena.name(), PERMITS, SemaphoreOptions.unowned());
            case "Interlock-adapted" -> arena.session().adapt(redissons(arena));
            case "JDK" -> arena.local(new Semaphore(PERMITS));
            default ->
                throw new IllegalArgumentException(
                        "impl must be Interlock, Interlock-unowned, Interlock-adapted, Redisson or JDK, but is "
                                + impl);
        };
        in = semaphore::acquire;
        out = semaphore::release;
    }

    private static RSemaphore redissons(Arena arena) {
        RSemaphore semaphore = arena.redisson().getSemaphore(arena.name());
        semaphore.trySetPermits(PERMITS);
        return semaphore;
    }

    /** One thread, and nobody else unless there are other JVMs. */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void uncontended(Section section) throws InterruptedException {
        pass(section);
    }

    /** Eight threads that want a permit all the time. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Threads(8)
    public void contended(Section section) throws InterruptedException {
        pass(section);
    }

    private void pass(Section section) throws InterruptedException {
        in.acquire();
        try {
            section.among(PERMITS);
        } finally {
            out.run();
        }
    }

    /** How all of them give a permit. */
    private interface Entrance {
        void acquire() throws InterruptedException;
    }
}
