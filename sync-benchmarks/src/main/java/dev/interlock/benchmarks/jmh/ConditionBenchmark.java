package dev.interlock.benchmarks.jmh;

import dev.interlock.benchmarks.jmh.Arena.Section;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
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
 * Threads that take turns through a condition: each waits until another one has had the lock, enters its section, and
 * signals. With two threads that is ping-pong. An operation is a turn. Redisson has no conditions.
 *
 * <p>With {@code -p jvms=2 -t 1} the turn passes from JVM to JVM each time. At the end of an iteration the last one
 * waits in vain, so all wait for a time.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class ConditionBenchmark {

    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Ours, ours that is fair, the JDK's. */
    @Param({"Interlock", "Interlock-fair", "JDK"})
    public String impl;

    private ReentrantLock lock;
    private Condition turn;

    /** Makes the lock and the condition. */
    @Setup
    public void open(Arena arena) {
        lock = switch (impl) {
            case "Interlock" -> arena.session().lock(arena.name());
            case "Interlock-fair" -> arena.session().fairLock(arena.name());
            case "JDK" -> arena.local(new ReentrantLock());
            default ->
                throw new IllegalArgumentException("impl must be Interlock, Interlock-fair or JDK, but is " + impl);
        };
        turn = lock.newCondition();
    }

    /** Two threads in each JVM. */
    @Benchmark
    @Threads(2)
    public void pingPong(Section section) throws InterruptedException {
        lock.lock();
        try {
            long left = PATIENCE_NANOS;
            while (section.isMineAgain() && left > 0) {
                left = turn.awaitNanos(left);
            }
            section.turn();
            turn.signal();
        } finally {
            lock.unlock();
        }
    }
}
