package dev.interlock.lock.fair;

import dev.interlock.testing.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.redisson.api.RedissonClient;

/** The same with a replica, where every grant is confirmed before anybody enters. */
@SuppressWarnings("NullAway.Init") // launched before all tests
@Tag("proof")
class ReplicatedFairFaultsTest extends FairFaultsTest {
    private RedisServer replica;

    ReplicatedFairFaultsTest(TestReporter reporter) {
        super(reporter);
    }

    @Override
    protected void launchOthers() {
        replica = launchReplica();
    }

    @AfterAll
    @Override
    protected void shutDown() {
        replica.close();
        super.shutDown();
    }

    @Override
    protected RedissonClient client(String url, Duration timeout) {
        return replicatedClient(url, replica, timeout);
    }
}
