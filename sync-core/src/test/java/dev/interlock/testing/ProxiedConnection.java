package dev.interlock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a client through a {@link FaultProxy}.
 *
 * <p>Four threads serve it: for each direction one reads frames and decides their fate, the other delivers them when
 * they are due. Every request is noted when it is read, before it can reach the server; every reply is matched with the
 * oldest note. Not matched are the frames that no request has asked for: pub/sub messages, and the confirmations of
 * subscriptions beyond those that a request has announced.
 *
 * <p>The end of a stream waits behind the frames before it. A request that is held back therefore reaches the server
 * even if its client has long given up.
 */
final class ProxiedConnection {

    private static final Set<String> SUBSCRIPTIONS =
            Set.of("subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe");
    private static final Set<String> MESSAGES = Set.of("message", "pmessage", "smessage");

    /** What a request that is under way has to be answered with. */
    private static final class Expected {

        private final String verb;
        private final @Nullable Loss loss;
        private final Duration delay;
        private int frames;

        Expected(String verb, @Nullable Loss loss, Duration delay, int frames) {
            this.verb = verb;
            this.loss = loss;
            this.delay = delay;
            this.frames = frames;
        }
    }

    /** What a connection needs of its proxy. */
    interface Owner {
        void closed(ProxiedConnection connection);

        void later(Duration delay, Runnable task);

        void sendAgain(byte[] request, Duration delay);
    }

    private final Socket client;
    private final Socket server;
    private final Faults faults;
    private final Owner owner;
    private final DelayLine toServer;
    private final DelayLine toClient;
    private final Queue<Expected> expected = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads;

    private volatile boolean muted;
    private volatile boolean deaf;
    private long channels; // of the thread that reads replies
    private long shardChannels; // of the thread that reads replies

    ProxiedConnection(Socket client, Socket server, Faults faults, Owner owner) {
        this.client = client;
        this.server = server;
        this.faults = faults;
        this.owner = owner;
        this.toServer = new DelayLine(faults);
        this.toClient = new DelayLine(faults);
        this.threads = List.of(
                new Thread(() -> read(client, toServer, this::onRequest), "proxy-requests-in"),
                new Thread(this::deliverRequests, "proxy-requests-out"),
                new Thread(() -> read(server, toClient, this::onReply), "proxy-replies-in"),
                new Thread(this::deliverReplies, "proxy-replies-out"));
    }

    void start() {
        threads.forEach(thread -> thread.setDaemon(true));
        threads.forEach(Thread::start);
    }

    /** Whether the client hears or is heard no more. */
    boolean isLossy() {
        return muted || deaf;
    }

    /** Whether the server has yet to get requests that are held back. */
    boolean holdsRequests() {
        return toServer.isBusy();
    }

    /** Closes both sides at once; what is under way is lost. */
    void cut() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        threads.forEach(Thread::interrupt);
        owner.closed(this);
    }

    private void read(Socket from, DelayLine to, BiConsumer<List<String>, RespReader> onFrame) {
        try {
            var reader = new RespReader(from.getInputStream());
            while (reader.next()) {
                onFrame.accept(words(reader.value()), reader);
            }
        } catch (IOException e) {
            // The sender is gone, which is an end like any other.
        } finally {
            to.end();
        }
    }

    private static List<String> words(@Nullable Object value) {
        return value instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of(String.valueOf(value));
    }

    private void onRequest(List<String> words, RespReader reader) {
        if (deaf) {
            return;
        }
        var dropped = faults.take(Faults.Kind.DROP_REQUEST, words);
        if (dropped != null) {
            faults.count(Faults.Kind.DROP_REQUEST);
            deaf = true;
            owner.later(dropped.loss().silence(), this::cut);
            return;
        }
        var again = faults.take(Faults.Kind.DUPLICATE_REQUEST, words);
        if (again != null) {
            owner.sendAgain(reader.bytes(), again.delay());
        }
        Duration delay = faults.takeDelay(Faults.Kind.DELAY_REQUEST, words);
        expectReply(words);
        toServer.put(reader.bytes(), delay);
    }

    private void expectReply(List<String> words) {
        String verb = first(words).toLowerCase(Locale.ROOT);
        if (verb.isEmpty()) {
            return;
        }
        var loss = faults.take(Faults.Kind.DROP_REPLY, words);
        Duration delay = faults.takeDelay(Faults.Kind.DELAY_REPLY, words);
        // One confirmation per channel. To leave "all" channels brings an unknown number, which nobody waits for.
        int frames = SUBSCRIPTIONS.contains(verb) ? words.size() - 1 : 1;
        if (frames > 0) {
            expected.add(new Expected(verb, loss == null ? null : loss.loss(), delay, frames));
        }
    }

    private void onReply(List<String> words, RespReader reader) {
        boolean message = isMessage(words, reader);
        var request = message ? null : answered(words, reader);
        if (request == null) {
            onMessage(words, reader.bytes());
        } else if (request.loss == null) {
            forward(reader.bytes(), request.delay);
        } else {
            faults.count(Faults.Kind.DROP_REPLY);
            mute(request.loss);
        }
    }

    private boolean isMessage(List<String> words, RespReader reader) {
        return reader.type() == '*' && channels + shardChannels > 0 && MESSAGES.contains(first(words));
    }

    /** The request that a reply belongs to, or null if none has asked for it. */
    private @Nullable Expected answered(List<String> words, RespReader reader) {
        var oldest = expected.peek();
        if (isConfirmation(words, reader)) {
            if (words.get(0).startsWith("s") && !words.get(0).equals("subscribe")) {
                shardChannels = Long.parseLong(words.get(2));
            } else {
                channels = Long.parseLong(words.get(2));
            }
            if (oldest == null || !oldest.verb.equals(words.get(0))) {
                return null;
            }
        }
        if (oldest != null && --oldest.frames == 0) {
            expected.remove();
        }
        return oldest;
    }

    private static boolean isConfirmation(List<String> words, RespReader reader) {
        return reader.type() == '*'
                && words.size() == 3
                && SUBSCRIPTIONS.contains(words.get(0))
                && reader.value() instanceof List<?> list
                && list.get(2) instanceof Long;
    }

    private static String first(List<String> words) {
        return words.isEmpty() ? "" : words.get(0);
    }

    private void onMessage(List<String> words, byte[] bytes) {
        if (faults.take(Faults.Kind.DROP_MESSAGE, words) != null) {
            faults.count(Faults.Kind.DROP_MESSAGE);
        } else {
            forward(bytes, faults.takeDelay(Faults.Kind.DELAY_MESSAGE, words));
        }
    }

    private void forward(byte[] bytes, Duration delay) {
        if (!muted) {
            toClient.put(bytes, delay);
        }
    }

    private void mute(Loss loss) {
        muted = true;
        if (loss.silence().isZero()) {
            toClient.end(); // behind the replies that came before
        } else {
            owner.later(loss.silence(), this::cut);
        }
    }

    private void deliverRequests() {
        try {
            toServer.deliver(server.getOutputStream());
            // Not closed: a reset could overtake the requests, and the server may still have to answer.
            server.shutdownOutput();
        } catch (IOException e) {
            // The server has closed first.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void deliverReplies() {
        try {
            toClient.deliver(client.getOutputStream());
        } catch (IOException e) {
            // The client has closed first.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            cut();
        }
    }
}
