package dev.interlock.benchmarks;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Measures how long it takes to acquire a name and release it, again and again, by a hold and by a lock, while nobody
 * else wants it. It prints an {@code AGAIN} line for each way, with the scripts that Redis runs for a pair:
 *
 * <pre>{@code
 * java -cp benchmarks.jar dev.interlock.benchmarks.HoldAgain [rounds millis]
 * }</pre>
 *
 * <p>There are 15 rounds of 300 ms each for each way, unless other numbers are given. The ways take turns.
 */
public final class HoldAgain {
    private static final int WARM_UP = 5;
    private static final String NAME = "again:";

    private enum Way {
        /** The thread waits for the hold. */
        HOLD {
            @Override
            void pair(Parties parties) throws InterruptedException {
                parties.session.holds().hold(NAME + this).close();
            }
        },
        /** The thread waits for a future that an executor completes, and for the release. */
        ACQUIRE_JOIN {
            @Override
            void pair(Parties parties) {
                Hold hold = parties.session.holds().acquire(NAME + this).join();
                hold.release().toCompletableFuture().join();
            }
        },
        /** As before, but the future is completed by the thread that brings the news. */
        ACQUIRE_JOIN_INLINE {
            @Override
            void pair(Parties parties) {
                Hold hold = parties.inline.holds().acquire(NAME + this).join();
                hold.release().toCompletableFuture().join();
            }
        },
        LOCK {
            @Override
            void pair(Parties parties) {
                var lock = parties.session.lock(NAME + this);
                lock.lock();
                lock.unlock();
            }
        },
        /** The object is obtained once, as that of a field. */
        LOCK_OF_A_FIELD {
            @Override
            void pair(Parties parties) {
                parties.lock.lock();
                parties.lock.unlock();
            }
        },
        RLOCK {
            @Override
            void pair(Parties parties) {
                var lock = parties.client.getLock(NAME + this);
                lock.lock();
                lock.unlock();
            }
        };

        abstract void pair(Parties parties) throws InterruptedException;
    }

    private static final class Parties {
        final Interlock session;
        final Interlock inline;
        final Lock lock;
        final RedissonClient client;

        Parties(String url) {
            session = Interlock.connect(url);
            inline = Interlock.builder().uri(url).holdExecutor(Runnable::run).open();
            lock = session.lock(NAME + "field");
            Config config = new Config();
            config.useSingleServer().setAddress(url);
            client = Redisson.create(config);
        }
    }

    /** The figures of one round. */
    private record Round(double nanos, double scripts) {}

    private HoldAgain() {}

    /** Measures and prints. */
    public static void main(String[] args) throws InterruptedException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 15;
        long millis = args.length > 1 ? Long.parseLong(args[1]) : 300;
        Map<Way, List<Round>> results = new EnumMap<>(Way.class);
        try (RedisServer server = RedisServer.launch()) {
            Parties parties = new Parties(server.url());
            for (int round = -WARM_UP; round < rounds; round++) {
                for (Way way : Way.values()) {
                    Round result = play(way, parties, server, TimeUnit.MILLISECONDS.toNanos(millis));
                    if (round >= 0) {
                        results.computeIfAbsent(way, first -> new ArrayList<>()).add(result);
                    }
                }
            }
            parties.session.close();
            parties.inline.close();
            parties.client.shutdown();
        }
        results.forEach(HoldAgain::print);
    }

    private static Round play(Way way, Parties parties, RedisServer server, long lengthNanos)
            throws InterruptedException {
        Cost.reset(server);
        long pairs = 0;
        long begun = System.nanoTime();
        long now = begun;
        while (now - begun < lengthNanos) {
            // Reading the clock costs as much as some of the pairs.
            for (int i = 0; i < 20; i++) {
                way.pair(parties);
            }
            pairs += 20;
            now = System.nanoTime();
        }
        return new Round(
                (double) (now - begun) / pairs, (double) Cost.sinceReset(server).calls() / pairs);
    }

    private static void print(Way way, List<Round> rounds) {
        System.out.printf(
                Locale.ROOT,
                "AGAIN %s pair=%s scripts=%.4f%n",
                way,
                Spread.of(rounds.stream().map(Round::nanos).toList()).text(" ns"),
                rounds.stream().mapToDouble(Round::scripts).average().orElse(0));
    }
}
