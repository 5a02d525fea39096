package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SubscriptionMode;

/** The same with a replica, where acquisitions travel in a batch with WAIT; the faulty network is before the master. */
@SuppressWarnings("NullAway.Init") // launched before all tests
class ReplicatedLostReplyTest extends LostReplyTest {
    private RedisServer replica;

    @Override
    protected void launchOthers() {
        replica = RedisServer.launch("--replicaof", server().host(), Integer.toString(server().port()));
        await("replication")
                .until(() ->
                        String.valueOf(replica.command("INFO", "replication")).contains("master_link_status:up"));
        assertThat(String.valueOf(server().command("INFO", "replication"))).contains("connected_slaves:1");
    }

    @AfterAll
    @Override
    protected void shutDown() {
        replica.close();
        super.shutDown();
    }

    @Override
    protected RedissonClient client(String url) {
        Config config = smallConfig();
        config.useMasterSlaveServers()
                .setMasterAddress(url)
                .addSlaveAddress(replica.url())
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setTimeout((int) COMMAND_TIMEOUT.toMillis())
                .setConnectTimeout(1_000)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
                .setMasterConnectionMinimumIdleSize(2)
                .setMasterConnectionPoolSize(12)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSlaveConnectionPoolSize(2)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
        return shuttingDown(Redisson.create(config));
    }
}
