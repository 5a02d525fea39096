package dev.interlock.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A name goes into keys, commands and messages, so none is longer than 1,024 bytes. */
class NameLengthTest extends TwoConnections {
    private static final int MOST = 1_024;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private static RateLimiter limiter(String name) {
        return interlock.rateLimiter(name, RateLimit.fixedWindow(1, Duration.ofSeconds(1)));
    }

    /** All that takes a name, by what the error calls it. */
    private static Map<Consumer<String>, String> takers() {
        return Map.ofEntries(
                Map.entry(name -> interlock.lock(name), "name"),
                Map.entry(name -> interlock.fairLock(name), "name"),
                Map.entry(name -> interlock.lock(name, LockOptions.retain(Duration.ofSeconds(1))), "name"),
                Map.entry(name -> interlock.readWriteLock(name), "name"),
                Map.entry(name -> interlock.fairReadWriteLock(name), "name"),
                Map.entry(name -> interlock.semaphore(name, 1), "name"),
                Map.entry(name -> interlock.countDownLatch(name, 1), "name"),
                Map.entry(name -> interlock.cyclicBarrier(name, 1), "name"),
                Map.entry(NameLengthTest::limiter, "name"),
                Map.entry(name -> interlock.operator().inspect(name), "name"),
                Map.entry(name -> limiter("any").forKey(name), "key"),
                Map.entry(name -> interlock.lock("any").newCondition(name), "conditionName"),
                Map.entry(name -> interlock.readWriteLock("any").writeLock().newCondition(name), "conditionName"),
                Map.entry(name -> Interlock.builder().namespace(name), "namespace"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "ß", "€", "😀"})
    void longerNamesAreRefused(String character) {
        int bytes = character.getBytes(UTF_8).length;
        String tooLong = character.repeat(MOST / bytes + 1);
        takers().forEach((taker, argument) -> assertThatIllegalArgumentException()
                .isThrownBy(() -> taker.accept(tooLong))
                .withMessage(
                        argument + " must be at most 1024 bytes long in UTF-8, but has " + bytes * (MOST / bytes + 1)));
    }

    @Test
    void theLongestNamesWork() {
        String name = keyspace.name("x");
        String longest = name + "€".repeat((MOST - name.length()) / 3);
        DistributedReentrantLock lock = interlock.lock(longest);
        lock.lock();
        assertThat(other.lock(longest).tryLock()).isFalse();
        assertThat(lock.hasWaiters(lock.newCondition(longest))).isFalse();
        lock.unlock();
        assertThat(limiter(longest).forKey(longest).tryAcquire()).isTrue();
    }
}
