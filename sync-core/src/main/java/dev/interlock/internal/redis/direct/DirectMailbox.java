package dev.interlock.internal.redis.direct;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Presence;
import dev.interlock.internal.redis.Deliveries;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import dev.interlock.internal.redis.RedissonMailbox;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mailbox on a connection of its own: one that listens falls under a limit of Redis' on how much may be kept for it,
 * which would end commands as well.
 */
public final class DirectMailbox implements Mailbox {
    private static final Logger log = LoggerFactory.getLogger(DirectMailbox.class);

    /** From the beginning of an attempt to connect to that of the next one. */
    private static final long ATTEMPT_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** After so long without a message it looks whether the connection is still there, and leads to the master. */
    private static final int QUIET_MILLIS = 5_000;

    private final Endpoint endpoint;
    private final String session;
    private final String channel;
    private final String presenceChannel;
    private final Timer timer;
    private final String threadName;

    @GuardedBy("this")
    private @Nullable Listener listener;

    /**
     * Creates the mailbox of a session, not yet open.
     *
     * @param client says where Redis is
     * @param threadName that of the thread that listens
     */
    public DirectMailbox(RedissonClient client, String session, Presence presence, Timer timer, String threadName) {
        this.endpoint = new Endpoint(client, threadName);
        this.session = session;
        this.channel = RedissonMailbox.channel(session);
        this.presenceChannel = RedissonMailbox.presenceChannel(session, presence);
        this.timer = timer;
        this.threadName = threadName;
    }

    @Override
    public synchronized CompletableFuture<?> open(Consumer<Mail> receiver, Runnable connected) {
        Listener opened = new Listener(receiver, connected);
        listener = opened;
        opened.connect();
        return opened.opened;
    }

    @Override
    public synchronized void abandon() {
        if (listener != null) {
            listener.abandon();
        }
    }

    @Override
    public synchronized CompletableFuture<?> close() {
        return listener == null ? CompletableFuture.completedFuture(null) : listener.close();
    }

    /** Listens on a thread of its own, and connects anew when the connection is gone. */
    private final class Listener {
        final CompletableFuture<Void> opened = new CompletableFuture<>();
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private final Consumer<Mail> receiver;
        private final Runnable connected;

        @GuardedBy("this")
        private @Nullable Wire wire;

        private volatile boolean closed;

        Listener(Consumer<Mail> receiver, Runnable connected) {
            this.receiver = receiver;
            this.connected = connected;
        }

        void connect() {
            Threads.start(threadName, this::run);
        }

        private void run() {
            long begun = System.nanoTime();
            try {
                attempt();
            } finally {
                if (closed) {
                    opened.completeExceptionally(new RedisConnectionException("the mailbox was closed"));
                    ended.complete(null);
                } else {
                    connectAgain(begun + ATTEMPT_NANOS - System.nanoTime());
                }
            }
        }

        private void connectAgain(long nanos) {
            timer.schedule(
                    () -> {
                        try {
                            connect();
                        } catch (Error e) {
                            // There are too many threads.
                            connectAgain(ATTEMPT_NANOS);
                            throw e;
                        }
                    },
                    Math.max(0, TimeUnit.NANOSECONDS.toMillis(nanos)) + 1);
        }

        private void attempt() {
            try (Wire connection = endpoint.connect()) {
                use(connection);
                listen(connection);
            } catch (IOException | RuntimeException e) {
                log.debug("The mailbox of session {} has lost its connection", session, e);
                if (!opened.isDone()) {
                    // The caller of open() decides whether to try again.
                    closed = true;
                    opened.completeExceptionally(new RedisConnectionException("Redis can't be reached", e));
                }
            } finally {
                use(null);
            }
        }

        private synchronized void use(@Nullable Wire connection) {
            wire = connection;
        }

        private void listen(Wire connection) throws IOException {
            connection.socket.setSoTimeout(QUIET_MILLIS);
            write(connection, "SUBSCRIBE", channel);
            boolean isQuiet = false;
            boolean subscribed = false;
            while (!closed || subscribed) {
                try {
                    Object message = connection.in.read();
                    isQuiet = false;
                    if (message instanceof List<?> parts && !parts.isEmpty()) {
                        subscribed = received(connection, parts);
                    } else if (message instanceof RedisException refusal && !subscribed) {
                        throw refusal;
                    }
                } catch (SocketTimeoutException e) {
                    if (isQuiet || closed || !connection.in.isBetweenReplies() || endpoint.hasMovedFrom(connection)) {
                        throw e;
                    }
                    isQuiet = true;
                    write(connection, "PING");
                }
            }
        }

        /** Takes a message. Returns whether the mailbox is subscribed to its channel. */
        private boolean received(Wire connection, List<?> parts) throws IOException {
            String kind = String.valueOf(parts.get(0));
            boolean isOwn = parts.size() == 3 && channel.equals(parts.get(1));
            if (isOwn && kind.equals("message") && parts.get(2) instanceof String text) {
                Deliveries.deliver(text, session, receiver);
            } else if (isOwn && kind.equals("subscribe")) {
                // If that is refused, the session works as well.
                write(connection, "SUBSCRIBE", presenceChannel);
                connected.run();
                opened.complete(null);
                if (closed) {
                    write(connection, "UNSUBSCRIBE");
                }
            }
            boolean isLeft = kind.equals("unsubscribe") && Long.valueOf(0).equals(parts.get(parts.size() - 1));
            return !isLeft;
        }

        private synchronized void write(Wire connection, Object... parts) throws IOException {
            CommandBuffer command = new CommandBuffer();
            command.command(parts.length);
            for (Object part : parts) {
                command.part(part);
            }
            command.writeTo(connection.out);
        }

        synchronized void abandon() {
            closed = true;
            if (wire != null) {
                wire.close();
            }
        }

        synchronized CompletableFuture<Void> close() {
            closed = true;
            if (wire == null) {
                return CompletableFuture.completedFuture(null);
            }
            try {
                write(wire, "UNSUBSCRIBE");
            } catch (IOException e) {
                log.debug("The mailbox of session {} could not be closed in an orderly way", session, e);
                wire.close();
            }
            return ended;
        }
    }
}
