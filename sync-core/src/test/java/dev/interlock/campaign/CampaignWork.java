package dev.interlock.campaign;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.SessionWork;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Threads use all synchronizers at once, and are interrupted now and then. In the end the parent is told how many
 * losses there were.
 */
final class CampaignWork extends SessionWork {
    static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration NUISANCE = Duration.ofMillis(100);

    private final LongAdder losses;
    private final Worker.Site site;
    private final long seed;
    private List<Worker> workers = List.of();

    CampaignWork(Task task) throws IOException {
        this(task, new LongAdder());
    }

    private CampaignWork(Task task, LongAdder losses) throws IOException {
        super(open(task.url(), new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                losses.increment();
            }
        }));
        this.losses = losses;
        site = new Worker.Site(interlock(), Blackboard.open(Path.of(task.word(0))), task.number(1));
        seed = Long.parseLong(task.word(2));
    }

    /** Describes it. {@code name} is that of the JVM, for people. */
    static Task task(String url, String name, Path board, Path log, int parties, long seed) {
        return Task.of(CampaignWork.class, url, name, Worker.THREADS, log, board, parties, seed);
    }

    /** Opens a session, which takes until Redis is well: this JVM may have been started in the midst of a fault. */
    private static Interlock open(String uri, SyncListener listener) {
        return RedisServer.connect(() -> Interlock.builder()
                .uri(uri)
                .lease(LEASE)
                .redisTimeout(REDIS_TIMEOUT)
                .commandTimeout(COMMAND_TIMEOUT)
                .listener(listener)
                .open());
    }

    @Override
    public LogFormat<?> format() {
        return StepLog.FORMAT;
    }

    @Override
    public void assign(List<Thread> threads, List<Log> logs) {
        workers = IntStream.range(0, Worker.THREADS)
                .mapToObj(i -> new Worker(site, i, new StepLog(logs.get(i)), seed + i))
                .toList();
    }

    @Override
    public Duration interrupts() {
        return NUISANCE;
    }

    @Override
    public void once(int thread, Log log) {
        workers.get(thread).once();
    }

    @Override
    public void end() {
        workers.forEach(Worker::stop);
        workers.get(0).wakeTraders();
    }

    @Override
    public String farewell() {
        return losses.toString();
    }
}
