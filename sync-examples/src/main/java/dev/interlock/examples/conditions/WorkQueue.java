package dev.interlock.examples.conditions;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RMap;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Work that is handed out in one JVM and done in others, none of which is missed when it dies: a job that a worker has
 * taken is noted down as its own until it is done, and goes back to the queue when the worker gives no sign of life any
 * more.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=conditions.WorkQueue} hands out jobs to three workers, kills one of them in the
 * middle of a job, and checks that every job was done, and counted once.
 */
public final class WorkQueue {

    private static final int WORKERS = 3;
    private static final int JOBS = 300;
    private static final int JOBS_BEFORE_THE_KILL = 20;
    private static final Duration WORK = Duration.ofMillis(20);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration PULSE = Duration.ofMillis(300);
    private static final Duration SILENCE = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int KILLED = 128 + 9;
    private static final String OPEN = "jobs:open";
    private static final String RUNNING = "jobs:running";
    private static final String DONE = "jobs:done";

    private WorkQueue() {}

    /** The queue. What it keeps is in Redis, under a lock; who waits, waits for a condition of that. */
    private static final class Jobs {

        private final ReentrantLock lock;
        private final Condition jobThere;
        private final Condition allDone;
        private final RedissonClient redis;
        private final RQueue<String> open;
        private final RMap<String, String> running;
        private final RMap<String, String> done;

        Jobs(ReentrantLock lock, RedissonClient redis) {
            this.lock = lock;
            this.jobThere = lock.newCondition();
            this.allDone = lock.newCondition();
            this.redis = redis;
            this.open = redis.getQueue(OPEN, StringCodec.INSTANCE);
            this.running = redis.getMap(RUNNING, StringCodec.INSTANCE);
            this.done = redis.getMap(DONE, StringCodec.INSTANCE);
        }

        void add(String job) {
            lock.lock();
            try {
                open.add(job);
                jobThere.signal();
            } finally {
                lock.unlock();
            }
        }

        /** Waits for a job. Whoever waits in vain looks after the others meanwhile. */
        String take(String worker) throws InterruptedException {
            lock.lock();
            try {
                String job = awaitJob();
                move(batch -> {
                    batch.getQueue(OPEN, StringCodec.INSTANCE).pollAsync();
                    batch.getMap(RUNNING, StringCodec.INSTANCE).fastPutAsync(job, worker);
                });
                return job;
            } finally {
                lock.unlock();
            }
        }

        private String awaitJob() throws InterruptedException {
            String job = open.peek();
            while (job == null) {
                if (!jobThere.await(SILENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                    reopenAbandoned();
                }
                job = open.peek();
            }
            return job;
        }

        private void reopenAbandoned() {
            for (Map.Entry<String, String> taken : running.readAllEntrySet()) {
                if (!redis.getBucket(signOf(taken.getValue())).isExists()) {
                    move(batch -> {
                        batch.getMap(RUNNING, StringCodec.INSTANCE).fastRemoveAsync(taken.getKey());
                        batch.getQueue(OPEN, StringCodec.INSTANCE).addAsync(taken.getKey());
                    });
                    jobThere.signal();
                    ChildConsole.say("REOPENED " + taken.getKey());
                }
            }
        }

        /** Counts a job as done, unless it was taken away from the worker that had been too quiet. */
        void finish(String job, String worker) {
            lock.lock();
            try {
                if (worker.equals(running.get(job))) {
                    move(batch -> {
                        batch.getMap(RUNNING, StringCodec.INSTANCE).fastRemoveAsync(job);
                        batch.getMap(DONE, StringCodec.INSTANCE).fastPutAsync(job, worker);
                    });
                    if (done.size() == JOBS) {
                        allDone.signalAll();
                    }
                }
            } finally {
                lock.unlock();
            }
        }

        /** Moves a job at one stroke: the lock keeps others out, but not death from falling between two commands. */
        private void move(Consumer<RBatch> steps) {
            RBatch batch = redis.createBatch(
                    BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.REDIS_WRITE_ATOMIC));
            steps.accept(batch);
            batch.execute();
        }

        boolean awaitAllDone() throws InterruptedException {
            lock.lock();
            try {
                long left = PATIENCE.toNanos();
                while (done.size() < JOBS && left > 0) {
                    left = allDone.awaitNanos(left);
                }
                return done.size() == JOBS && open.isEmpty() && running.isEmpty();
            } finally {
                lock.unlock();
            }
        }

        void giveSign(String worker) {
            redis.getBucket(signOf(worker), StringCodec.INSTANCE).set("alive", SILENCE);
        }

        private static String signOf(String worker) {
            return "jobs:worker:" + worker;
        }
    }

    /** One of the JVMs that do the work. */
    static final class Worker {

        public static void main(String[] args) throws InterruptedException {
            RedissonClient redis = connect(args[0]);
            String self = args[1];
            try (Interlock interlock = session(redis)) {
                var jobs = new Jobs(interlock.lock("jobs"), redis);
                jobs.giveSign(self);
                var pulse = new Thread(() -> live(jobs, self));
                pulse.setDaemon(true);
                pulse.start();
                ChildConsole.say("READY");
                while (true) {
                    String job = jobs.take(self);
                    ChildConsole.say("TAKEN " + job);
                    LockSupport.parkNanos(WORK.toNanos());
                    jobs.finish(job, self);
                }
            }
        }

        private static void live(Jobs jobs, String self) {
            while (true) {
                jobs.giveSign(self);
                LockSupport.parkNanos(PULSE.toNanos());
            }
        }
    }

    private static RedissonClient connect(String url) {
        var config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    private static Interlock session(RedissonClient redis) {
        return Interlock.builder().client(redis).lease(LEASE).open();
    }

    /** Has the work done; the exit code is 0 if all of it was, in spite of the kill. */
    public static void main(String[] args) throws InterruptedException {
        boolean isDone;
        int exitCode;
        List<String> reopened;
        try (RedisServer server = RedisServer.launch();
                Fleet workers = Fleet.start(
                        WORKERS, i -> ChildJvm.of(Worker.class).arguments(server.url(), "worker-" + (i + 1)))) {
            workers.awaitAll("READY", PATIENCE);
            RedissonClient redis = connect(server.url());
            try (Interlock interlock = session(redis)) {
                var jobs = new Jobs(interlock.lock("jobs"), redis);
                for (int i = 1; i <= JOBS; i++) {
                    jobs.add("job-" + i);
                }
                ChildJvm victim = workers.get(0);
                for (int i = 0; i < JOBS_BEFORE_THE_KILL; i++) {
                    victim.await("TAKEN ", PATIENCE);
                }
                victim.kill();
                exitCode = victim.waitFor(PATIENCE);
                isDone = jobs.awaitAllDone();
            }
            redis.shutdown();
            reopened = List.of(workers.get(1), workers.get(2)).stream()
                    .flatMap(worker -> worker.lines().stream())
                    .filter(line -> line.startsWith("REOPENED "))
                    .toList();
        }
        boolean isOk = isDone && exitCode == KILLED && reopened.size() <= 1;
        System.out.printf(
                "WORK QUEUE %s: %s %d jobs done, and counted once each;"
                        + " 1 of %d workers killed, %d of its jobs done by another%n",
                isOk ? "OK" : "FAILED", isDone ? "all" : "not all", JOBS, WORKERS, reopened.size());
        System.exit(isOk ? 0 : 1);
    }
}
