package dev.interlock.internal.redis.direct;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection on which commands follow each other without waiting for replies.
 *
 * <p>A thread that sends writes by itself, together with what others have added meanwhile: no other thread has to be
 * woken for that. So that this can't block it, it writes only while few commands are unanswered; they fit into the
 * socket's send buffer even if the server takes nothing. Otherwise another thread writes, as for virtual threads, whose
 * interrupt would close the socket. One thread reads, and completes the requests.
 *
 * <p>A connection whose server is silent takes no more commands after a while, so that a repeat doesn't wait behind the
 * first attempt. It ends when the replies have come, or are given up. A server isn't silent while replies come, however
 * many are still due: it is catching up, and another connection would only add to its work.
 */
final class Connection {
    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    /** So many commands and bytes fit into the send buffer, with what their packets take beside them. */
    private static final int MOST_UNANSWERED = 32;

    private static final int MOST_UNANSWERED_BYTES = Endpoint.SEND_BUFFER / 4;

    /** How often to look for overdue replies, and whether it is used. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Wire wire;
    private final Timer timer;
    private final long silenceNanos;
    private final long patienceNanos;
    private final Consumer<Connection> ended;
    private final ReentrantLock mutex = new ReentrantLock();

    /** In the order in which they are written. */
    @GuardedBy("mutex")
    private final Queue<Request> unanswered = new ArrayDeque<>();

    @GuardedBy("mutex")
    private int unansweredBytes;

    /** When the last reply came, or the connection began. */
    @GuardedBy("mutex")
    private long heardNanos = System.nanoTime();

    /** To be written. */
    @GuardedBy("mutex")
    private CommandBuffer out = new CommandBuffer();

    /** The other buffer, for the thread that writes. */
    @GuardedBy("mutex")
    private CommandBuffer spare = new CommandBuffer();

    /** Whether a thread writes, or is about to. */
    @GuardedBy("mutex")
    private boolean writing;

    /** Whether anything was sent since the timer last looked. */
    @GuardedBy("mutex")
    private boolean isUsed;

    /** Whether it takes no more requests. Always so once there is a reason why it ends. */
    @GuardedBy("mutex")
    private boolean retired;

    @GuardedBy("mutex")
    private @Nullable RedisException end;

    /**
     * Creates a connection, which has to be {@linkplain #start started}.
     *
     * @param silenceNanos after how long without a reply that is due the connection takes no more commands
     * @param patienceNanos after how long without one all replies that are due are given up
     * @param ended told once the connection has ended
     */
    Connection(Wire wire, Timer timer, long silenceNanos, long patienceNanos, Consumer<Connection> ended) {
        this.wire = wire;
        this.timer = timer;
        this.silenceNanos = silenceNanos;
        this.patienceNanos = patienceNanos;
        this.ended = ended;
    }

    void start(String readerName) {
        Threads.start(readerName, this::read);
        watchIn(LOOK_NANOS);
    }

    Wire wire() {
        return wire;
    }

    /**
     * Sends requests, one right after the other.
     *
     * @return false if it takes none any more; then none was sent
     */
    boolean send(List<? extends Request> requests) {
        boolean writes;
        mutex.lock();
        try {
            long now = System.nanoTime();
            if (retired || isSilent(now)) {
                return false;
            }
            for (Request request : requests) {
                add(request, now);
            }
            isUsed = true;
            writes = !writing;
            writing = true;
        } finally {
            mutex.unlock();
        }
        if (writes && Threads.mayWrite()) {
            write(false);
        } else if (writes) {
            Threads.write(() -> write(true));
        }
        return true;
    }

    @GuardedBy("mutex")
    private void add(Request request, long now) {
        int before = out.size();
        request.writeTo(out);
        request.bytes = out.size() - before;
        request.sentNanos = now;
        unansweredBytes += request.bytes;
        unanswered.add(request);
    }

    @GuardedBy("mutex")
    private boolean isSilent(long now) {
        return silentNanos(now) > silenceNanos;
    }

    /** Returns for how long a reply has been due and none has come, 0 if none is due. */
    @GuardedBy("mutex")
    private long silentNanos(long now) {
        Request oldest = unanswered.peek();
        return oldest == null ? 0 : Math.min(now - oldest.sentNanos, now - heardNanos);
    }

    private void write(boolean mayBlock) {
        try {
            CommandBuffer next = next(mayBlock);
            while (next != null) {
                next.writeTo(wire.out);
                next = next(mayBlock);
            }
        } catch (IOException e) {
            end(lost(e));
        }
    }

    /** Returns what the current thread has to write, or null if it has nothing more to do. */
    private @Nullable CommandBuffer next(boolean mayBlock) {
        mutex.lock();
        try {
            if (out.size() == 0) {
                writing = false;
                return null;
            }
            if (mayBlock || (unanswered.size() <= MOST_UNANSWERED && unansweredBytes <= MOST_UNANSWERED_BYTES)) {
                CommandBuffer next = out;
                out = spare;
                spare = next;
                return next;
            }
        } finally {
            mutex.unlock();
        }
        Threads.write(() -> write(true));
        return null;
    }

    private void read() {
        try {
            while (true) {
                Object reply = wire.in.read();
                answered().take(reply);
                endIfDone();
            }
        } catch (IOException e) {
            end(lost(e));
        } catch (RuntimeException | Error e) {
            log.error("A reply of {} could not be dealt with", wire, e);
            end(lost(e));
        } finally {
            loseUnanswered();
            ended.accept(this);
        }
    }

    private Request answered() throws ProtocolException {
        mutex.lock();
        try {
            Request request = unanswered.peek();
            if (request == null) {
                throw new ProtocolException("there is a reply to no command");
            }
            heardNanos = System.nanoTime();
            if (--request.replies == 0) {
                unanswered.remove();
                unansweredBytes -= request.bytes;
            }
            return request;
        } finally {
            mutex.unlock();
        }
    }

    private void endIfDone() {
        mutex.lock();
        try {
            if (!retired || !unanswered.isEmpty()) {
                return;
            }
        } finally {
            mutex.unlock();
        }
        end(new RedisConnectionException("The connection to " + wire + " was replaced"));
    }

    private void loseUnanswered() {
        List<Request> lost;
        RedisException cause;
        mutex.lock();
        try {
            lost = new ArrayList<>(unanswered);
            unanswered.clear();
            cause = end == null ? lost(new ProtocolException("the reader has ended")) : end;
            end = cause;
            retired = true;
        } finally {
            mutex.unlock();
        }
        for (Request request : lost) {
            request.lost(cause);
        }
    }

    private RedisConnectionException lost(Throwable cause) {
        return new RedisConnectionException("The connection to " + wire + " was lost", cause);
    }

    /** Takes no more requests, and ends when all are answered. */
    void retire() {
        mutex.lock();
        try {
            retired = true;
        } finally {
            mutex.unlock();
        }
        endIfDone();
    }

    /** Ends, whereupon the reader loses what is unanswered. */
    void end(RedisException reason) {
        mutex.lock();
        try {
            if (end != null) {
                return;
            }
            end = reason;
            retired = true;
        } finally {
            mutex.unlock();
        }
        wire.close();
    }

    private void watchIn(long nanos) {
        timer.schedule(this::watch, TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, LOOK_NANOS)) + 1);
    }

    /** Gives up a reply that is overdue, and asks for one if nothing has been sent for a while. */
    private void watch() {
        long left;
        boolean isIdle;
        mutex.lock();
        try {
            if (end != null) {
                return;
            }
            left = patienceNanos - silentNanos(System.nanoTime());
            isIdle = !isUsed && unanswered.isEmpty();
            isUsed = false;
        } finally {
            mutex.unlock();
        }
        if (left <= 0) {
            long millis = TimeUnit.NANOSECONDS.toMillis(patienceNanos);
            end(new RedisTimeoutException("No reply of " + wire + " within " + millis + " ms"));
            return;
        }
        if (isIdle) {
            send(List.of(new Ping()));
        }
        watchIn(left);
    }

    /**
     * Keeps a connection that isn't used from being closed by what lies between. If it was closed, that is known before
     * it is used.
     */
    private static final class Ping extends Request {
        @Override
        void writeTo(CommandBuffer out) {
            out.command(1);
            out.part("PING");
        }

        @Override
        void take(@Nullable Object reply) {
            complete(List.of());
        }

        @Override
        void lost(Throwable cause) {
            completeExceptionally(cause);
        }
    }
}
