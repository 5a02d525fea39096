package dev.interlock.benchmarks.contestants;

import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.benchmarks.contestants.Contestant.Work;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Many sessions of one JVM, each with a client of its own, whose threads lock names that they draw at random. Each name
 * protects a counter of its own.
 *
 * <p>A thread waits until the end of the round at most. If it hasn't got the lock by then, or no answer from Redis, it
 * counts nothing: so a round ends, however many threads wait, and a lock that makes no progress has a rate of 0.
 */
final class Sessions implements AutoCloseable {

    /** How they lock, how many they are, and over how many names. */
    private static final Pattern NAME = Pattern.compile("(Interlock|Interlock-fair|RLock|RFairLock)-(\\d+)s-(\\d+)n");

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);

    /** What the clients share: with threads of its own for each, two hundred of them would have thousands. */
    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());

    private final ExecutorService executor = Executors.newFixedThreadPool(16);
    private final List<Session> all;

    /** One of them. */
    private record Session(Function<String, Lock> locks, Runnable end) {}

    private Sessions(String kind, int count, String redisUrl) {
        all = IntStream.range(0, count)
                .parallel()
                .mapToObj(i -> open(kind, redisUrl))
                .toList();
    }

    /** Whether a contestant's name is that of such sessions, as in {@code RLock-50s-100n}. */
    static boolean areNamed(String name) {
        return NAME.matcher(name).matches();
    }

    /** The name of the lock alone. */
    static String kind(String name) {
        return parsed(name).group(1);
    }

    static Contestant named(String name) {
        Matcher parts = parsed(name);
        int count = Integer.parseInt(parts.group(2));
        int names = Integer.parseInt(parts.group(3));
        return Contestant.working(
                redisUrl -> new Sessions(parts.group(1), count, redisUrl),
                (sessions, prefix) -> sessions.work(names, prefix),
                Sessions::close);
    }

    private static Matcher parsed(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches()) {
            throw new IllegalArgumentException("'" + name + "' doesn't say how many sessions and names");
        }
        return parts;
    }

    private Session open(String kind, String redisUrl) {
        var config = new Config().setEventLoopGroup(loops).setExecutor(executor);
        config.useSingleServer()
                .setAddress(redisUrl)
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(2)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1);
        RedissonClient client = Redisson.create(config);
        if (kind.startsWith("R")) {
            return new Session(kind.equals("RLock") ? client::getLock : client::getFairLock, client::shutdown);
        }
        Interlock session = Interlock.using(client);
        return new Session(kind.equals("Interlock") ? session::lock : session::fairLock, () -> {
            session.close();
            client.shutdown();
        });
    }

    private Work work(int names, String prefix) {
        var next = new AtomicInteger();
        var own = new ConcurrentHashMap<Thread, Session>();
        return ledger -> {
            int name = ledger.draw(names);
            Session session =
                    own.computeIfAbsent(Thread.currentThread(), absent -> all.get(next.getAndIncrement() % all.size()));
            return section(session.locks().apply(prefix + ":" + name), name, ledger);
        };
    }

    private static boolean section(Lock lock, int name, Ledger ledger) {
        long leftNanos = ledger.leftNanos();
        try {
            if (leftNanos == 0 || !lock.tryLock(leftNanos, TimeUnit.NANOSECONDS)) {
                return false;
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts contestants", e);
        } catch (RedisUnavailableException | RedisException e) {
            LOG.debug("an attempt without an answer", e); // so many may be more than Redis can answer in time
            LockSupport.parkNanos(PAUSE_NANOS);
            return false;
        }
        ledger.book(name);
        try {
            lock.unlock();
        } catch (RedisUnavailableException | RedisException e) {
            LOG.debug("a release without an answer", e); // others get in when the lease is over
        }
        return true;
    }

    @Override
    public void close() {
        all.parallelStream().forEach(session -> session.end().run());
        executor.shutdown();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
