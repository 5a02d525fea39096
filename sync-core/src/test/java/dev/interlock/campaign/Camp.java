package dev.interlock.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.campaign.Fault.Where;
import dev.interlock.campaign.Lookout.Delay;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A fleet of JVMs, each with a proxy of its own before a Redis of theirs, to which faults happen in waves: in each,
 * some to a JVM, some to a connection and some to Redis, side by side. After each wave everybody must get on.
 */
final class Camp implements AutoCloseable {
    static final int JVMS = 3;

    /**
     * For so long nothing goes wrong after a wave: beyond its aftermath, so that the order of those who queue can be
     * judged.
     */
    private static final Duration QUIET = Duration.ofSeconds(5);

    private static final int MOST_FAULTS = 3;
    private static final int MOST_PAUSE_MILLIS = 400;
    private static final Duration RECOVERY = Duration.ofSeconds(40);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** A JVM of the fleet. */
    record Tent(int jvm, ChildJvm child, FaultProxy proxy, Path log) {}

    /** A fault that has happened, by the clock of the machine. */
    record Happening(Fault fault, long from, long to) {}

    private final RedisServer server =
            RedisServer.launch("--appendonly", "yes", "--appendfsync", "always", "--busy-reply-threshold", "100");
    private final Path folder;
    private final Optional<Path> library;
    private final Random random;
    private final List<FaultProxy> proxies =
            Stream.generate(() -> FaultProxy.to(server)).limit(JVMS).toList();
    private final List<Tent> tents = new ArrayList<>(); // guarded by this
    private final List<Path> logs = new ArrayList<>(); // guarded by this
    private final List<Happening> happenings = Collections.synchronizedList(new ArrayList<>());
    private final Map<Where, Deque<Fault>> decks = new EnumMap<>(Where.class);
    private final Blackboard board;
    private final Lookout lookout = new Lookout(server);

    /** However many faults happen side by side, none waits for another's thread. */
    private final ExecutorService hands = Executors.newCachedThreadPool();

    private long losses;

    /** Pitches it. One JVM after the other behind the first proxy has the library of a jar, if there is one. */
    Camp(Path folder, long seed, Optional<Path> library) throws IOException {
        this.folder = folder;
        this.library = library;
        this.random = new Random(seed);
        this.board = Blackboard.open(folder.resolve("board"));
        try {
            proxies.forEach(this::pitch);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    RedisServer server() {
        return server;
    }

    FaultProxy proxy(Random by) {
        return proxies.get(by.nextInt(JVMS));
    }

    synchronized Tent anyone(Random by) {
        return tents.get(by.nextInt(tents.size()));
    }

    /** Kills a JVM, and starts another in its place. */
    void replace(Tent tent) {
        synchronized (this) {
            tents.remove(tent);
        }
        tent.child.kill();
        pitch(tent.proxy);
    }

    private void pitch(FaultProxy proxy) {
        Tent tent;
        synchronized (this) {
            int jvm = logs.size();
            Path log = folder.resolve("steps-" + jvm);
            logs.add(log);
            Task task =
                    CampaignWork.task(proxy.url(), "jvm-" + jvm, folder.resolve("board"), log, JVMS, random.nextLong());
            ChildJvm child = library.filter(jar -> proxy == proxies.get(0))
                    .map(task::start)
                    .orElseGet(task::start);
            tent = new Tent(jvm, child, proxy, log);
            tents.add(tent);
        }
        tent.child.await("READY", PATIENCE);
        tent.child.send("go");
    }

    /** Lets a wave of faults go over the camp, and waits until everybody has got on. */
    void endure() {
        List<CompletableFuture<Void>> wave = Arrays.stream(Where.values())
                .map(where -> {
                    List<Fault> next = dealt(where);
                    var by = new Random(random.nextLong());
                    return aside(() -> happen(next, by));
                })
                .toList();
        wave.forEach(CompletableFuture::join);
        proxies.forEach(FaultProxy::heal);
        pause(QUIET);
        awaitProgress();
    }

    /** Returns the next faults of a kind. All others come before one comes again. */
    private List<Fault> dealt(Where where) {
        Deque<Fault> deck = decks.computeIfAbsent(where, none -> new ArrayDeque<>());
        List<Fault> next = new ArrayList<>();
        for (int i = 1 + random.nextInt(MOST_FAULTS); i > 0; i--) {
            if (deck.isEmpty()) {
                List<Fault> all = new ArrayList<>(Fault.of(where));
                Collections.shuffle(all, random);
                deck.addAll(all);
            }
            next.add(deck.remove());
        }
        return next;
    }

    CompletableFuture<Void> aside(Runnable deed) {
        return CompletableFuture.runAsync(deed, hands);
    }

    private void happen(List<Fault> faults, Random by) {
        for (Fault fault : faults) {
            long from = Monotonic.nanos();
            fault.happen(this, by);
            happenings.add(new Happening(fault, from, Monotonic.nanos()));
            pause(Duration.ofMillis(by.nextInt(MOST_PAUSE_MILLIS)));
        }
    }

    static void pause(Duration duration) {
        if (!duration.isZero()) {
            await("a moment")
                    .pollDelay(duration)
                    .timeout(duration.plus(PATIENCE))
                    .until(() -> true);
        }
    }

    private synchronized void awaitProgress() {
        for (Tent tent : tents) {
            List<Long> before = progress(tent);
            try {
                await("progress of all threads of " + tent.child)
                        .atMost(RECOVERY)
                        .until(() -> areAllBeyond(progress(tent), before));
            } catch (ConditionTimeoutException e) {
                throw new AssertionError("steps before: " + before + ", now: " + progress(tent) + "\n" + dump(), e);
            }
        }
    }

    private static boolean areAllBeyond(List<Long> now, List<Long> before) {
        for (int i = 0; i < before.size(); i++) {
            if (now.get(i) <= before.get(i) && now.get(i) < StepLog.MOST_STEPS) {
                return false;
            }
        }
        return true;
    }

    private static List<Long> progress(Tent tent) {
        return Hammers.progress(tent.child).records();
    }

    private String dump() {
        var text = new StringBuilder();
        for (Tent tent : tents) {
            tent.child.send("dump");
            tent.child.await("DUMPED", PATIENCE);
            text.append(tent.child)
                    .append('\n')
                    .append(String.join("\n", tent.child.lines()))
                    .append('\n');
        }
        return text.toString();
    }

    /** Ends all JVMs, and returns what all of them have done, those that were killed, too. */
    synchronized List<Step> strike() throws IOException {
        tents.forEach(tent -> tent.child.send("stop"));
        for (Tent tent : tents) {
            try {
                String[] words = tent.child.await("STOPPED", PATIENCE).split(" ", -1);
                losses += Long.parseLong(words[1]);
            } catch (AssertionError e) {
                throw new AssertionError(dump(), e);
            }
            assertThat(tent.child.waitFor(PATIENCE)).isZero();
        }
        tents.clear();
        var steps = new ArrayList<Step>();
        for (int jvm = 0; jvm < logs.size(); jvm++) {
            steps.addAll(StepLog.FORMAT.read(jvm, logs.get(jvm), Worker.THREADS));
        }
        return steps;
    }

    List<Happening> happenings() {
        return List.copyOf(happenings);
    }

    /** When Redis, or the machine, was busy with something else. */
    List<Delay> delays() {
        return lookout.delays();
    }

    /** How many faults of each kind there were. */
    Map<Fault, Long> faults() {
        var counts = new EnumMap<Fault, Long>(Fault.class);
        happenings().forEach(happening -> counts.merge(happening.fault, 1L, Long::sum));
        return counts;
    }

    /** How many losses were reported by JVMs that have ended in good order. */
    long losses() {
        return losses;
    }

    /** How many writes a store with fencing tokens would have refused. */
    long refused() {
        return board.refused();
    }

    @Override
    public synchronized void close() {
        lookout.close();
        hands.shutdown();
        tents.forEach(tent -> tent.child.close());
        proxies.forEach(FaultProxy::close);
        server.close();
    }
}
