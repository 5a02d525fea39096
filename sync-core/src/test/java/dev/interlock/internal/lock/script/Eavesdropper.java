package dev.interlock.internal.lock.script;

import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPatternTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Hears every message that Redis publishes. It listens by pattern, so nobody who counts the listeners of a channel
 * counts it in.
 */
final class Eavesdropper implements AutoCloseable {
    private static final String END = "interlock:end";

    private final RedisServer server;
    private final RPatternTopic topic;
    private final BlockingQueue<Message> incoming = new LinkedBlockingQueue<>();
    private final List<Message> heard = new ArrayList<>();

    record Message(String channel, String text) {}

    Eavesdropper(RedisServer server, RedissonClient redisson) {
        this.server = server;
        this.topic = redisson.getPatternTopic("*", StringCodec.INSTANCE);
        topic.addListener(
                String.class, (pattern, channel, text) -> incoming.add(new Message(channel.toString(), text)));
    }

    /** What was published on a channel since the last call for it. */
    List<String> hear(String channel) throws InterruptedException {
        Message end = new Message(END, UUID.randomUUID().toString());
        server.command("PUBLISH", end.channel, end.text);
        while (true) {
            Message message = incoming.poll(20, TimeUnit.SECONDS);
            if (message == null) {
                throw new IllegalStateException("Redis doesn't deliver");
            }
            if (message.equals(end)) {
                break;
            }
            heard.add(message);
        }
        List<String> texts = heard.stream()
                .filter(message -> message.channel.equals(channel))
                .map(Message::text)
                .toList();
        heard.removeIf(message -> message.channel.equals(channel));
        return texts;
    }

    @Override
    public void close() {
        topic.removeAllListeners();
    }
}
