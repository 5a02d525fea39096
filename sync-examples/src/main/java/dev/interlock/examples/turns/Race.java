package dev.interlock.examples.turns;

import dev.interlock.Interlock;
import dev.interlock.examples.Screen;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The first experiment with a lock across JVMs: two JVMs with one thread each, which lock, add one to a number in a
 * file and unlock, in a loop. Redisson's {@code RLock} and ours do so in turn, in short rounds, so that a busy machine
 * slows down both.
 *
 * <p>With {@code RLock} most sections cost a message and a thread that wakes up. A session of ours keeps the name
 * between {@code unlock()} and a {@code lock()} that follows soon, for up to 10 ms while the other JVM waits.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=turns.Race} takes 20 seconds. The bars are the numbers in the two files, as they
 * grow.
 */
public final class Race {

    private static final int JVMS = 2;
    private static final int ROUNDS = 20;
    private static final Duration ROUND = Duration.ofMillis(500);
    private static final Duration LEAD = Duration.ofMillis(20);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Race() {}

    /** A number in a file. Nothing but the lock protects it: the file is read, and then written. */
    private static final class Counter implements AutoCloseable {

        private final FileChannel file;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);

        Counter(Path path) throws IOException {
            file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        }

        void increment() throws IOException {
            write(read() + 1);
        }

        long read() throws IOException {
            file.read(buffer.clear(), 0);
            return buffer.getLong(0);
        }

        void write(long number) throws IOException {
            file.write(buffer.clear().putLong(0, number), 0);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /** One of the JVMs. */
    static final class Runner {

        public static void main(String[] args) throws InterruptedException, IOException {
            try (var counter = new Counter(Path.of(args[1]))) {
                if (args[2].equals("RLock")) {
                    var config = new Config();
                    config.useSingleServer().setAddress(args[0]);
                    RedissonClient redis = Redisson.create(config);
                    run(redis.getLock("race:RLock"), counter);
                    redis.shutdown();
                } else {
                    try (Interlock interlock = Interlock.connect(args[0])) {
                        run(interlock.lock("race:Interlock"), counter);
                    }
                }
            }
        }

        private static void run(Lock lock, Counter counter) throws InterruptedException, IOException {
            ChildConsole.say("READY");
            for (String command = ChildConsole.readCommand();
                    !command.equals("end");
                    command = ChildConsole.readCommand()) {
                String[] startAndEnd = command.split(" ", 2);
                parkUntil(Long.parseLong(startAndEnd[0]));
                ChildConsole.say("RAN " + round(lock, counter, Long.parseLong(startAndEnd[1])));
            }
        }

        private static String round(Lock lock, Counter counter, long endNanos) throws IOException {
            long sections = 0;
            long longestWaitNanos = 0;
            for (long now = Monotonic.nanos(); now < endNanos; now = Monotonic.nanos()) {
                lock.lock();
                try {
                    longestWaitNanos = Math.max(longestWaitNanos, Monotonic.nanos() - now);
                    counter.increment();
                    sections++;
                } finally {
                    lock.unlock();
                }
            }
            return sections + " " + longestWaitNanos;
        }
    }

    /** Two JVMs that use the same kind of lock, and what they have done. */
    private static final class Team implements AutoCloseable {

        private final String lock;
        private final Path file;
        private final Counter counter;
        private final Fleet runners;
        private long sections;
        private long longestWaitNanos;

        Team(String lock, String redisUrl) throws IOException {
            this.lock = lock;
            file = Files.write(Files.createTempFile("race", ".number"), new byte[Long.BYTES]);
            counter = new Counter(file);
            runners = Fleet.start(JVMS, Runner.class, redisUrl, file.toString(), lock);
        }

        /** Gives the JVMs time to compile what they do. That doesn't count. */
        void warmUp(Duration round) throws IOException {
            runners.awaitAll("READY", PATIENCE);
            start(round);
            finish();
            counter.write(0);
            sections = 0;
            longestWaitNanos = 0;
        }

        /** Returns the end of the round. */
        long start(Duration round) {
            long startNanos = Monotonic.nanos() + LEAD.toNanos();
            long endNanos = startNanos + round.toNanos();
            runners.send(startNanos + " " + endNanos);
            return endNanos;
        }

        void finish() {
            for (String line : runners.awaitAll("RAN ", PATIENCE)) {
                String[] words = line.split(" ", 3);
                sections += Long.parseLong(words[1]);
                longestWaitNanos = Math.max(longestWaitNanos, Long.parseLong(words[2]));
            }
        }

        boolean isExact() throws IOException {
            return sections > 0 && counter.read() == sections;
        }

        String summary() {
            return String.format(
                    Locale.ROOT,
                    "%,d sections with %s (longest wait %,d ms)",
                    sections,
                    lock,
                    TimeUnit.NANOSECONDS.toMillis(longestWaitNanos));
        }

        @Override
        public void close() throws IOException {
            runners.send("end");
            runners.forEach(runner -> runner.waitFor(PATIENCE));
            runners.close();
            counter.close();
            Files.delete(file);
        }
    }

    /** A bar for each team: redrawn in place in a terminal, else drawn again every second. */
    private static final class Bars {

        private static final int WIDTH = 50;
        private static final Duration LIVE = Duration.ofMillis(50);
        private static final Duration PLAIN = Duration.ofSeconds(1);

        private final boolean isLive = Screen.isTerminal();
        private final Duration interval = isLive ? LIVE : PLAIN;
        private final List<Team> teams;
        private long nextNanos = Monotonic.nanos();

        Bars(List<Team> teams) {
            this.teams = teams;
            System.out.print(isLive ? "\n".repeat(teams.size()) : "");
        }

        void drawUntil(long endNanos) throws IOException {
            while (nextNanos < endNanos) {
                parkUntil(nextNanos);
                draw();
                nextNanos = Monotonic.nanos() + interval.toNanos();
            }
            parkUntil(endNanos);
        }

        void draw() throws IOException {
            long most = 1;
            for (Team team : teams) {
                most = Math.max(most, team.counter.read());
            }
            System.out.print(isLive ? "\033[" + teams.size() + "A" : ""); // up to the first bar
            for (Team team : teams) {
                long number = team.counter.read();
                String bar = "█".repeat((int) Math.min(WIDTH, (WIDTH * number + most - 1) / most));
                System.out.printf(Locale.ROOT, "%-9s %-" + WIDTH + "s %,d%n", team.lock, bar, number);
            }
        }
    }

    private static void parkUntil(long nanos) {
        for (long left = nanos - Monotonic.nanos(); left > 0; left = nanos - Monotonic.nanos()) {
            LockSupport.parkNanos(left);
        }
    }

    /**
     * Runs the race; the exit code is 0 if both numbers are those of the sections.
     *
     * @param args the milliseconds of a round, if not 500
     */
    public static void main(String[] args) throws IOException {
        Duration round = args.length == 0 ? ROUND : Duration.ofMillis(Long.parseLong(args[0]));
        boolean isOk;
        try (RedisServer redis = RedisServer.launch();
                var theirs = new Team("RLock", redis.url());
                var ours = new Team("Interlock", redis.url())) {
            List<Team> teams = List.of(theirs, ours);
            for (Team team : teams) {
                team.warmUp(round);
            }
            var bars = new Bars(teams);
            for (int i = 0; i < ROUNDS; i++) {
                for (Team team : teams) {
                    bars.drawUntil(team.start(round));
                    team.finish();
                }
            }
            bars.draw();
            isOk = theirs.isExact() && ours.isExact();
            System.out.printf(
                    Locale.ROOT,
                    "RACE %s: %s, %s: %.1f times as many; the numbers in the files are %s%n",
                    isOk ? "OK" : "FAILED",
                    ours.summary(),
                    theirs.summary(),
                    (double) ours.sections / Math.max(1, theirs.sections),
                    isOk ? "right" : "wrong");
        }
        System.exit(isOk ? 0 : 1);
    }
}
