package dev.interlock.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** Clients, their sessions, and threads that use them; they are closed together, the last opened first. */
final class Clients {
    static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

    private final Consumer<Config> connect;
    private final Deque<Runnable> sessions = new ArrayDeque<>();
    private final Deque<Runnable> opened = new ArrayDeque<>();
    private final List<Throwable> unclosed = new ArrayList<>();

    /**
     * Makes none yet.
     *
     * @param connect has a client use the servers
     */
    Clients(Consumer<Config> connect) {
        this.connect = connect;
    }

    /** Settings by which a client notices early that a node is gone. */
    static <T extends BaseMasterSlaveServersConfig<T>> T tuned(T servers) {
        return servers.setTimeout((int) COMMAND_TIMEOUT.toMillis())
                .setConnectTimeout(500)
                .setRetryAttempts(2)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
                .setFailedSlaveReconnectionInterval(500)
                .setMasterConnectionMinimumIdleSize(2)
                .setMasterConnectionPoolSize(16)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSlaveConnectionPoolSize(4)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(8);
    }

    /** A session with a client of its own. */
    Interlock session(Duration lease, Duration commandTimeout, Duration redisTimeout) {
        Interlock session = Interlock.builder()
                .client(client())
                .lease(lease)
                .commandTimeout(commandTimeout)
                .redisTimeout(redisTimeout)
                .open();
        sessions.push(session::close);
        return session;
    }

    RedissonClient client() {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(2);
        connect.accept(config);
        RedissonClient client = Redisson.create(config);
        onClose(() -> client.shutdown(0, 2, TimeUnit.SECONDS));
        return client;
    }

    Actor actor(String name) {
        Actor actor = new Actor(name);
        onClose(actor::close);
        return actor;
    }

    /** Has something else end after all that is opened later. */
    void onClose(Runnable end) {
        opened.push(end);
    }

    /** Closes everything, and fails if anything could not be closed. */
    void close() {
        // Sessions first, since that wakes threads that still wait after a failure.
        sessions.forEach(this::attempt);
        opened.forEach(this::attempt);
        assertThat(unclosed).isEmpty();
    }

    private void attempt(Runnable end) {
        try {
            end.run();
        } catch (RuntimeException | Error e) {
            unclosed.add(e);
        }
    }
}
