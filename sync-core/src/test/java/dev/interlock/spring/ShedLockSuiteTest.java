package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Objects;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** ShedLock's own tests of a provider whose locks can be extended. */
@Tag("proof")
class ShedLockSuiteTest extends AbstractExtensibleLockProviderIntegrationTest {
    private static final RedisServer REDIS = RedisServer.launch();
    private static final Interlock SESSION = Interlock.connect(REDIS.url());

    @AfterAll
    static void close() {
        SESSION.close();
        REDIS.close();
    }

    @BeforeEach
    void forget() {
        REDIS.command("FLUSHALL");
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return new InterlockLockProvider(SESSION);
    }

    private static boolean isLocked(String name) {
        return Objects.equals(REDIS.command("EXISTS", "shedlock:" + name), 1L)
                || Objects.equals(REDIS.command("EXISTS", "interlock:{shedlock:" + name + "}:rate"), 1L);
    }

    @Override
    protected void assertUnlocked(String lockName) {
        assertThat(isLocked(lockName)).isFalse();
    }

    @Override
    protected void assertLocked(String lockName) {
        assertThat(isLocked(lockName)).isTrue();
    }

    /** With the shortest {@code lockAtMostFor} that there is. */
    @Override
    @Test
    public void shouldTimeout() throws InterruptedException {
        doTestTimeout(Duration.ofMillis(100));
    }

    /** As above. */
    @Override
    @Test
    public void shouldNotBeAbleToExtendExpiredLock() {
        LockConfiguration shortest = lockConfig(LOCK_NAME1, Duration.ofMillis(100), Duration.ZERO);
        SimpleLock lock = getLockProvider().lock(shortest).orElseThrow();
        sleepFor(Duration.ofMillis(150));
        assertThat(lock.extend(Duration.ofSeconds(10), Duration.ZERO)).isEmpty();
        assertUnlocked(LOCK_NAME1);
    }
}
