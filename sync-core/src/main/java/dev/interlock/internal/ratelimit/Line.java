package dev.interlock.internal.ratelimit;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ratelimit.RateLimit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a session's threads that one key of Redis decides on, in the order in which they have come. There is
 * one command at a time; all that come up meanwhile go with the next. A command carries a <em>version</em>, and Redis
 * keeps the answer to the session's last one: so a command is repeated as it was if its answer is lost, and charged
 * once; and one that was delayed on its way after the next has been answered is charged never.
 */
final class Line {
    private static final Script DECIDE = Script.load("ratelimit/decide");
    private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long RETRY_MILLIS = 200;
    private static final int MOST = 100;

    /** Some requests, and the command that brings them to Redis. */
    private static final class Batch {
        final List<Request> requests;
        final Call call;
        final long sentNanos;
        long repeatedNanos;

        Batch(List<Request> requests, Call call, long sentNanos) {
            this.requests = requests;
            this.call = call;
            this.sentNanos = sentNanos;
            this.repeatedNanos = sentNanos;
        }
    }

    private final RedisSession session;
    private final String key;
    private final Runnable onEmpty;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Deque<Request> waiting = new ArrayDeque<>();
    private @Nullable Batch underWay;
    private boolean ended;

    /** Whether there was no request since the last pulse. */
    private boolean unused;

    /** @param onEmpty called when there has been nothing to do for a second, after which this takes no requests */
    Line(RedisSession session, String key, Runnable onEmpty) {
        this.session = session;
        this.key = key;
        this.onEmpty = onEmpty;
    }

    /** Takes a request, unless this has ended. */
    boolean add(Request request) {
        mutex.lock();
        try {
            if (ended) {
                return false;
            }
            unused = false;
            waiting.add(request);
            if (underWay == null) {
                next();
            }
            return true;
        } finally {
            mutex.unlock();
        }
    }

    /** Sends what waits. The caller has the mutex. */
    private void next() {
        underWay = null;
        if (waiting.isEmpty()) {
            return;
        }
        List<Request> requests = new ArrayList<>(Math.min(MOST, waiting.size()));
        StringBuilder text = new StringBuilder();
        Terms terms = null;
        for (Iterator<Request> all = waiting.iterator(); all.hasNext() && requests.size() < MOST; ) {
            Request request = all.next();
            if (terms != null && !terms.statedText.equals(request.terms().statedText)) {
                break;
            }
            all.remove();
            // Who has given up meanwhile is charged for nothing.
            if (!request.answer().isDone()) {
                terms = request.terms();
                requests.add(request);
                request.writeTo(text);
            }
        }
        if (terms == null) {
            return;
        }
        Call call = DECIDE.on(
                List.of(key, terms.updatedKey()),
                session.id(),
                session.nextSequence(),
                terms.statedText,
                text.toString());
        Batch batch = new Batch(requests, call, session.now());
        underWay = batch;
        send(batch);
    }

    private void send(Batch batch) {
        session.runner().run(batch.call).whenComplete((reply, failure) -> received(batch, reply, failure));
    }

    private void received(Batch batch, @Nullable List<Object> reply, @Nullable Throwable failure) {
        if (reply != null && !reply.isEmpty() && isLast(batch)) {
            // Nobody waits behind them, so they needn't wait for what is left to do.
            try {
                answer(batch, reply);
            } finally {
                proceed(batch);
            }
            return;
        }
        List<Request> failed = List.of();
        Throwable cause = null;
        mutex.lock();
        try {
            if (batch != underWay) {
                return;
            }
            if (reply == null || reply.isEmpty()) {
                cause = failure == null
                        ? new RedisUnavailableException("answered too late", null)
                        : Failures.cause(failure);
                boolean isTransient = failure != null && Failures.isTransient(failure);
                if (isTransient && !isTooLate(batch)) {
                    session.schedule(() -> repeat(batch), RETRY_MILLIS);
                    return;
                }
                failed = isTransient ? all(batch) : batch.requests;
            }
            next();
        } finally {
            mutex.unlock();
        }
        if (cause == null && reply != null) {
            answer(batch, reply);
        } else if (cause != null) {
            fail(failed, cause);
        }
    }

    private boolean isLast(Batch batch) {
        mutex.lock();
        try {
            return batch == underWay && waiting.isEmpty();
        } finally {
            mutex.unlock();
        }
    }

    private void proceed(Batch batch) {
        mutex.lock();
        try {
            if (batch == underWay) {
                next();
            }
        } finally {
            mutex.unlock();
        }
    }

    private static void answer(Batch batch, List<Object> reply) {
        try {
            complete(batch, reply);
        } catch (RuntimeException e) {
            // A limit that a later version has set. Nobody may go on waiting for that.
            fail(batch.requests, e);
        }
    }

    private static void complete(Batch batch, List<Object> reply) {
        String set = (String) reply.get(0);
        int next = 1;
        for (Request request : batch.requests) {
            RateLimit limit = request.terms().heard(set);
            request.answer()
                    .complete(new Answer(
                            limit,
                            (Long) reply.get(next),
                            (Long) reply.get(next + 1),
                            (Long) reply.get(next + 2),
                            (Long) reply.get(next + 3),
                            (Long) reply.get(next + 4),
                            batch.sentNanos));
            next += 5;
        }
    }

    private static void fail(List<Request> requests, Throwable cause) {
        requests.forEach(request -> request.answer().completeExceptionally(cause));
    }

    /**
     * Returns all requests, those that wait too: who waits behind a command that Redis didn't answer has waited for it
     * as well.
     */
    private List<Request> all(Batch batch) {
        List<Request> all = new ArrayList<>(batch.requests);
        all.addAll(waiting);
        waiting.clear();
        return all;
    }

    private boolean isTooLate(Batch batch) {
        return session.now() - batch.sentNanos
                >= TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
    }

    private void repeat(Batch batch) {
        mutex.lock();
        try {
            if (batch == underWay) {
                batch.repeatedNanos = session.now();
                send(batch);
            }
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Repeats a command that was not answered for some time, since its connection may have gone mute; gives up one that
     * is too old. Ends if there was nothing to do since the last time.
     */
    void pulse() {
        List<Request> failed = List.of();
        mutex.lock();
        try {
            Batch batch = underWay;
            if (batch == null) {
                if (unused) {
                    ended = true;
                    onEmpty.run();
                }
                unused = true;
                return;
            }
            if (session.now() - batch.repeatedNanos < REPEAT_NANOS) {
                return;
            }
            if (isTooLate(batch)) {
                failed = all(batch);
                session.outage().failed(batch.sentNanos, new RedisUnavailableException("no answer", null));
                next();
            } else {
                repeat(batch);
            }
        } finally {
            mutex.unlock();
        }
        fail(failed, new RedisUnavailableException("Redis doesn't answer", null));
    }

    /** Fails everything. */
    void close() {
        List<Request> failed;
        mutex.lock();
        try {
            ended = true;
            Batch batch = underWay;
            failed = batch == null ? List.copyOf(waiting) : all(batch);
            underWay = null;
        } finally {
            mutex.unlock();
        }
        fail(failed, new IllegalStateException("the Interlock session is closed"));
    }
}
