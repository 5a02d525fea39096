package dev.interlock.internal.redis;

import static java.util.Objects.requireNonNull;

import com.google.common.primitives.ImmutableLongArray;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.RedisUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.redisson.api.RFuture;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.StatusListener;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one channel of a session, on which scripts tell it what other sessions' commands did for it. Nothing depends on a
 * message alone: the pulse finds out by itself what a lost one would have said.
 */
public final class Mailbox {
    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);

    /**
     * What a script has published: {@code <kind> <number>… <key>}, where the key comes last since it may contain
     * anything.
     *
     * @param kind what it is about: {@code g} a grant, {@code d} a demand, {@code p} a request to ask again later,
     *     {@code s} waiters of conditions that now queue for the lock, whose first number is how many others there are,
     *     {@code b} permits that were booked, {@code o} a latch that is open, {@code t} a generation of a barrier that
     *     is over, {@code q} a node of a quorum that has been freed
     * @param key the key of the lock, or of what else it is about
     * @param numbers as the kind has it
     */
    public record Message(char kind, String key, ImmutableLongArray numbers) {
        static Message parse(String text) {
            char kind = text.charAt(0);
            int count = switch (kind) {
                case 'g' -> 6;
                case 's' -> 1 + countIn(text);
                case 'b', 't' -> 2;
                default -> 1;
            };
            String[] fields = text.split(" ", count + 2);
            ImmutableLongArray.Builder numbers = ImmutableLongArray.builder();
            for (int i = 1; i <= count; i++) {
                numbers.add(Long.parseLong(fields[i]));
            }
            return new Message(kind, fields[count + 1], numbers.build());
        }

        @Override
        public String toString() {
            return kind + " " + numbers + " for " + Keys.quoted(key);
        }

        private static int countIn(String text) {
            int count = Integer.parseInt(text.substring(2, text.indexOf(' ', 2)));
            if (count < 0) {
                throw new NumberFormatException("negative count");
            }
            return count;
        }
    }

    private final RTopic topic;
    private final Consumer<Message> receiver;
    private final Runnable connected;

    /**
     * Creates a mailbox, not yet open.
     *
     * @param receiver takes the messages, on threads that must not block
     * @param connected runs when the channel has been connected, maybe not for the first time: messages may be missing
     */
    Mailbox(RedissonClient client, String session, Consumer<Message> receiver, Runnable connected) {
        this.topic = client.getTopic("interlock:mailbox:" + session, StringCodec.INSTANCE);
        this.receiver = receiver;
        this.connected = connected;
    }

    /** Opens the mailbox, or throws {@link RedisUnavailableException} when that time is over. */
    public void open(long timeoutMillis) {
        try {
            Uninterruptibles.getUninterruptibly(openSoon(), timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw unavailable(ScriptRunner.cause(requireNonNull(e.getCause())));
        } catch (TimeoutException e) {
            // The subscription may come yet, on a client that others go on using.
            abandon();
            throw unavailable(e);
        }
    }

    private static RedisUnavailableException unavailable(Throwable cause) {
        return new RedisUnavailableException(
                "Redis " + ScriptRunner.whyUnreachable(cause) + ": the session's mailbox doesn't open", cause);
    }

    // A client that connects when it is first used throws instead of returning a future.
    private void abandon() {
        try {
            topic.removeAllListenersAsync();
        } catch (RuntimeException e) {
            log.debug("The mailbox was never open", e);
        }
    }

    private RFuture<Integer> listen() {
        return topic.addListenerAsync(String.class, (channel, message) -> receive(message));
    }

    private RFuture<Integer> watch() {
        return topic.addListenerAsync(new StatusListener() {
            @Override
            public void onSubscribe(String channel) {
                connected.run();
            }

            @Override
            public void onUnsubscribe(String channel) {}
        });
    }

    /** Opens the mailbox as soon as Redis lets it. A mailbox that could not be opened may be opened anew. */
    public CompletableFuture<?> openSoon() {
        try {
            return listen().toCompletableFuture()
                    .thenCompose(listening -> watch().toCompletableFuture())
                    .whenComplete((watching, failure) -> {
                        if (failure != null) {
                            abandon();
                        }
                    });
        } catch (RuntimeException e) {
            // A client that is shut down, or connects only now and can't, throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
    }

    private void receive(String text) {
        Message message;
        try {
            message = Message.parse(text);
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            // The exception would hold the whole text once more.
            log.warn("Unreadable message in the mailbox: {}", Keys.excerpt(text));
            return;
        }
        try {
            receiver.accept(message);
        } catch (RuntimeException e) {
            // Whose it is doesn't matter to the other messages, nor to the client's other channels.
            log.error("A message in the mailbox could not be dealt with: {}", Keys.excerpt(text), e);
        }
    }

    /** Closes it, waiting for so long at most. */
    public void close(long timeoutMillis) {
        try {
            topic.removeAllListenersAsync().toCompletableFuture().get(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.debug("The mailbox could not be closed in an orderly way", e);
        }
    }
}
