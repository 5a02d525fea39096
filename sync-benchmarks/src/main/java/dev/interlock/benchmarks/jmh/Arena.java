package dev.interlock.benchmarks.jmh;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkState;
import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.benchmarks.contestants.Contestant;
import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.benchmarks.servers.Service;
import dev.interlock.benchmarks.servers.SlowWire;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.Blackhole;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * What every benchmark of the suite stands in: a Redis (that of {@code REDIS_URL}, or an embedded one), a network that
 * may be slower than this machine's, clients, what a thread does in a section, and other JVMs that want the same name.
 * When a trial ends, all sections of all JVMs are counted up: if one is missing, two threads were inside at a time, and
 * the trial fails.
 */
@State(Scope.Benchmark)
public class Arena {

    private static final long MOST_MICROS = TimeUnit.SECONDS.toMicros(1);
    private static final int MOST_JVMS = 16;
    private static final long CALIBRATION = 1_000_000;

    /**
     * How long a thread stays in a section, in microseconds, at work ({@link Blackhole#consumeCPU}): 0 to 1,000,000.
     */
    @Param("0")
    public int sectionMicros;

    /**
     * What the network adds to each round trip, in milliseconds: 0 to 1,000. There is a proxy on the way unless it is
     * 0.
     */
    @Param("0")
    public double delayMillis;

    /** JVMs that want the same name, this one included: 1 to 16. Each of the others has as many threads as this one. */
    @Param("1")
    public int jvms;

    private final List<Ledger> ledgers = new ArrayList<>();
    private final Deque<Runnable> opened = new ArrayDeque<>();
    private @Nullable Servers servers;
    private Addresses addresses;
    private ByteBuffer page;
    private Runnable stay;
    private String name;
    private int threads;
    private @Nullable Interlock session;
    private @Nullable RedissonClient redisson;
    private @Nullable Path ledgerFile;
    private @Nullable Background background;

    /** Starts the servers. */
    @Setup(Level.Trial)
    public void open(BenchmarkParams params) throws IOException {
        checkArgument(
                sectionMicros >= 0 && sectionMicros <= MOST_MICROS,
                "sectionMicros must be from 0 to %s, but is %s",
                MOST_MICROS,
                sectionMicros);
        checkArgument(
                delayMillis >= 0 && delayMillis <= 1_000,
                "delayMillis must be from 0 to 1,000, but is %s",
                delayMillis);
        checkArgument(jvms >= 1 && jvms <= MOST_JVMS, "jvms must be from 1 to %s, but is %s", MOST_JVMS, jvms);
        String url = RedisServer.provided().url();
        if (delayMillis > 0) {
            SlowWire wire = SlowWire.before(url, Math.round(delayMillis * 1_000));
            opened.push(wire::close);
            url = wire.url();
        }
        Path file = Files.createTempFile("interlock-jmh", ".ledger");
        opened.push(() -> checkState(!Files.exists(file) || file.toFile().delete(), "%s can't be deleted", file));
        // Nothing of an earlier trial, if Redis isn't ours.
        String trial = "jmh-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
        enter(trial, params.getThreads(), Addresses.ofRedis(url), Ledger.page(file));
        ledgerFile = file;
    }

    /** Starts the other JVMs, when all that is to be set up here has been found to make sense. */
    @Setup(Level.Iteration)
    public void openOthers(BenchmarkParams params) {
        if (jvms > 1 && background == null) {
            background = Background.start(params, this, requireNonNull(ledgerFile));
        }
    }

    /** What a JVM needs, whoever has started the servers. */
    final void enter(String nameOfAll, int threadsPerJvm, Addresses known, ByteBuffer shared) {
        name = nameOfAll;
        addresses = known;
        page = shared;
        threads = threadsPerJvm;
        stay = staying();
    }

    // As many tokens of the CPU as take that long on a core that is hot and idle.
    private Runnable staying() {
        if (sectionMicros == 0) {
            return () -> {};
        }
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long startNanos = System.nanoTime();
            Blackhole.consumeCPU(CALIBRATION);
            least = Math.min(least, System.nanoTime() - startNanos);
        }
        long tokens = TimeUnit.MICROSECONDS.toNanos(sectionMicros) * CALIBRATION / least;
        return () -> Blackhole.consumeCPU(tokens);
    }

    /** Ends everything, and looks whether everybody was alone in the section. */
    @TearDown(Level.Trial)
    public void close() {
        try {
            Tally all = tally();
            if (background != null) {
                all = all.plus(background.end());
            }
            all.check(Ledger.sum(page));
        } finally {
            leave();
        }
    }

    /** What the threads of this JVM have done. */
    Tally tally() {
        synchronized (ledgers) {
            return new Tally(
                    ledgers.stream().mapToLong(Ledger::booked).sum(),
                    ledgers.stream().mapToLong(Ledger::torn).sum());
        }
    }

    /** Closes what this JVM has opened. */
    void leave() {
        if (background != null) {
            background.close();
        }
        if (session != null) {
            session.close(); // before the clients of the objects that it has adapted
        }
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
    }

    /** A session of this JVM, the same at every call. */
    synchronized Interlock session() {
        if (session == null) {
            session = Interlock.connect(redisUrl());
        }
        return session;
    }

    /** A client of this JVM, the same at every call, with Redisson's defaults. */
    RedissonClient redisson() {
        return redisson(new Config());
    }

    /** The same, but with a lease that its watchdog renews of so many milliseconds. */
    RedissonClient redisson(long leaseMillis) {
        return redisson(new Config().setLockWatchdogTimeout(leaseMillis));
    }

    private synchronized RedissonClient redisson(Config config) {
        if (redisson == null) {
            config.useSingleServer().setAddress(redisUrl());
            redisson = Redisson.create(config);
            opened.push(redisson::shutdown);
        }
        return redisson;
    }

    private String redisUrl() {
        return addresses.of(Service.REDIS);
    }

    /**
     * The lock of one of the Scoreboard's peers, such as {@code Curator} or {@code Hazelcast}.
     *
     * @throws IllegalArgumentException if there is no such peer, or it is no lock
     * @throws IllegalStateException if this machine doesn't have what it needs
     */
    synchronized Lock peer(String contestant) {
        Contestant known = Contestants.named(contestant);
        checkArgument(
                jvms == 1 && delayMillis == 0,
                "impl=%s is measured with jvms=1 and delayMillis=0 here, by the Scoreboard with others",
                contestant);
        if (servers == null) {
            servers = new Servers(RedisServer.provided());
            opened.push(servers::close);
        }
        Contestants.absence(contestant, servers).ifPresent(reason -> {
            throw new IllegalStateException(reason);
        });
        Contestant.Opened peer = known.open(servers.addresses());
        opened.push(peer::close);
        return peer.lock(name);
    }

    /**
     * For what the JDK has, which is of one JVM.
     *
     * @throws IllegalArgumentException if there are others, or a network
     */
    <T> T local(T synchronizer) {
        checkArgument(
                jvms == 1 && delayMillis == 0,
                "a %s knows one JVM and no network: jvms must be 1 and delayMillis 0, but they are %s and %s",
                synchronizer.getClass().getSimpleName(),
                jvms,
                delayMillis);
        return synchronizer;
    }

    /**
     * For benchmarks in which nobody is in a section.
     *
     * @throws IllegalArgumentException if it has a length all the same
     */
    void requireNoSection() {
        checkArgument(
                sectionMicros == 0, "there is no section here: sectionMicros must be 0, but is %s", sectionMicros);
    }

    /**
     * For benchmarks that have no use for other JVMs.
     *
     * @throws IllegalArgumentException if there are some
     */
    void requireOneJvm() {
        checkArgument(jvms == 1, "others would change nothing here: jvms must be 1, but is %s", jvms);
    }

    /** The name that all threads of all JVMs use. */
    String name() {
        return name;
    }

    /** How many threads take part, in all JVMs together. */
    int participants() {
        return threads * jvms;
    }

    int threads() {
        return threads;
    }

    Addresses addresses() {
        return addresses;
    }

    /** A thread's account of its sections. */
    private Ledger account() {
        synchronized (ledgers) {
            var ledger = new Ledger(page, Timing.NOTHING, stay, 0, ledgers.size());
            ledgers.add(ledger);
            return ledger;
        }
    }

    /** What a thread does in a section, and how it keeps count of that. */
    @State(Scope.Thread)
    public static class Section {

        private Ledger ledger;
        private ByteBuffer page;
        private long last;

        /** Opens an account. */
        @Setup(Level.Trial)
        public void open(Arena arena) {
            ledger = arena.account();
            page = arena.page;
        }

        /** The section of a thread that excludes all others. */
        void alone() {
            ledger.book();
        }

        /** Locks, enters the section of a thread that excludes all others, and unlocks. */
        void alone(Lock lock) {
            lock.lock();
            try {
                alone();
            } finally {
                lock.unlock();
            }
        }

        /** The same in a benchmark in which threads take turns. */
        void turn() {
            ledger.book();
            last = Ledger.sum(page);
        }

        /** Whether nobody has had a turn since this thread's last one. Called inside the section. */
        boolean isMineAgain() {
            return last != 0 && Ledger.sum(page) == last;
        }

        /** The section of a thread that excludes writers. */
        void reading() {
            ledger.look();
        }

        /** The section of one of at most so many threads. */
        void among(int most) {
            ledger.crowd(most);
        }
    }

    /**
     * What threads have done.
     *
     * @param booked sections that excluded all others
     * @param torn sections in which somebody was met who should have been excluded
     */
    record Tally(long booked, long torn) {

        Tally plus(Tally other) {
            return new Tally(booked + other.booked, torn + other.torn);
        }

        void check(long sum) {
            checkState(
                    sum == booked && torn == 0,
                    "exclusion is broken: %s sections added up to %s, and in %s others somebody else was met",
                    booked,
                    sum,
                    torn);
        }
    }
}
