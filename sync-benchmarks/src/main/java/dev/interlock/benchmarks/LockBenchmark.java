package dev.interlock.benchmarks;

import dev.interlock.benchmarks.contestants.Contestant.Opened;
import dev.interlock.benchmarks.contestants.Contestant.Work;
import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.testing.RedisServer;
import java.nio.ByteBuffer;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Lock and unlock, in one JVM. The Scoreboard compares; this is for looking at one lock with JMH's profilers. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LockBenchmark {

    /** The contestant. */
    @Param({"Interlock", "RLock", "ReentrantLock"})
    public String lock;

    /** How many operations in a hundred write, if the lock is {@code Interlock-rw} or {@code RReadWriteLock}. */
    @Param("0")
    public int writePercent;

    private final ByteBuffer page = Ledger.page();
    private Servers servers;
    private Opened opened;
    private Work work;

    /** Starts what the contestant depends on, and connects. */
    @Setup
    public void open() {
        servers = new Servers(RedisServer.provided());
        Contestants.absence(lock, servers).ifPresent(reason -> {
            throw new IllegalStateException(reason);
        });
        opened = Contestants.named(lock).open(servers.addresses());
        work = opened.work("jmh:" + lock);
    }

    /** Disconnects; Redis ends with the JVM. */
    @TearDown
    public void close() {
        opened.close();
        servers.close();
    }

    /** The lock is always free. */
    @Benchmark
    @Threads(1)
    public void uncontended(Account account) {
        work.once(account.ledger);
    }

    /** Eight threads want the lock all the time. */
    @Benchmark
    @Threads(8)
    public void contended(Account account) {
        work.once(account.ledger);
    }

    /** What belongs to one thread. */
    @State(Scope.Thread)
    public static class Account {

        private Ledger ledger;

        /** Opens an account on the page of the benchmark. */
        @Setup
        public void open(LockBenchmark benchmark) {
            ledger = new Ledger(
                    benchmark.page,
                    benchmark.writePercent,
                    Thread.currentThread().getId());
        }
    }
}
