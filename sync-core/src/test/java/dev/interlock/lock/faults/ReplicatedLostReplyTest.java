package dev.interlock.lock.faults;

import dev.interlock.testing.Loss;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

/** The same with a replica, where acquisitions travel in a batch with WAIT; the faulty network is before the master. */
@SuppressWarnings("NullAway.Init") // launched before all tests
@Tag("proof")
class ReplicatedLostReplyTest extends LostReplyTest {
    private RedisServer replica;

    @Override
    Stream<Loss> losses() {
        return Stream.of(Loss.CUT, Loss.MUTE);
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
