package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** The faults as the client meets them for which they are made. */
class RedissonThroughProxyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private RedisServer server;
    private FaultProxy proxy;
    private RedissonClient client;

    @BeforeEach
    void connect() {
        server = RedisServer.launch();
        proxy = FaultProxy.to(server);
        var config = new Config();
        config.useSingleServer()
                .setAddress(proxy.url())
                .setTimeout(500)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(4)
                .setSubscriptionConnectionMinimumIdleSize(1);
        client = Redisson.create(config);
    }

    @AfterEach
    void close() {
        client.shutdown();
        proxy.close();
        server.close();
    }

    @Test
    void answerLostByACutMakesRedissonRunAScriptTwice() {
        assertThat(increment()).isEqualTo(1);
        proxy.dropReplies(RedissonThroughProxyTest::isIncrement, 1, Loss.CUT);
        assertThat(increment()).isEqualTo(3);
        assertThat(proxy.dropped()).isEqualTo(1);
    }

    /** Redisson may send all its attempts on the connection that is mute: each is executed, none is answered. */
    @Test
    void answerLostInSilenceMakesRedissonRunAScriptTwiceOrMore() {
        assertThat(increment()).isEqualTo(1);
        proxy.dropReplies(RedissonThroughProxyTest::isIncrement, 1, Loss.muteFor(Duration.ofMillis(800)));
        assertThat(increment()).isGreaterThanOrEqualTo(3);
        assertThat(proxy.dropped()).isEqualTo(1);
    }

    @Test
    void lateRequestBecomesADuplicate() {
        assertThat(increment()).isEqualTo(1);
        proxy.delayRequests(RedissonThroughProxyTest::isIncrement, Duration.ofMillis(800), 1);
        increment();
        await().atMost(PATIENCE).until(() -> server.commandCalls("incr") >= 3);
    }

    @Test
    void duplicateIsExecutedOnce() {
        assertThat(increment()).isEqualTo(1);
        proxy.duplicateRequests(RedissonThroughProxyTest::isIncrement, Duration.ofMillis(20), 1);
        assertThat(increment()).isEqualTo(2);
        await().atMost(PATIENCE).until(() -> proxy.duplicated() == 1);
        assertThat(server.command("GET", "k")).isEqualTo("3");
    }

    @Test
    void lostMessageIsNoMoreThanThat() {
        var heard = new CopyOnWriteArrayList<String>();
        var topic = client.getTopic("news", StringCodec.INSTANCE);
        topic.addListener(String.class, (channel, text) -> heard.add(text));
        proxy.dropMessages(message -> message.get(2).equals("lost"), 1);
        server.command("PUBLISH", "news", "lost");
        server.command("PUBLISH", "news", "kept");
        await().atMost(PATIENCE).until(() -> heard.contains("kept"));
        assertThat(heard).containsExactly("kept");
        assertThat(proxy.droppedMessages()).isEqualTo(1);
    }

    @Test
    void redissonComesBackAfterEveryFault() {
        proxy.cut();
        assertThat(increment()).isPositive();
        server.restart();
        assertThat(increment()).isPositive();
        proxy.refuse(true);
        proxy.cut();
        var answer = Background.run(this::increment);
        proxy.refuse(false);
        assertThat(answer).succeedsWithin(PATIENCE);
    }

    private static boolean isIncrement(List<String> request) {
        return request.get(0).equals("EVALSHA") && request.get(3).equals("k");
    }

    private long increment() {
        return client.getScript(StringCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "return redis.call('incr', KEYS[1])",
                        RScript.ReturnType.LONG,
                        List.<Object>of("k"));
    }
}
