package dev.interlock.internal.ratelimit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.RedisSession;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a session's threads that one key of Redis decides on, in the order of their arrival. One batch of
 * requests is in flight at a time; those that arrive meanwhile go with the next.
 *
 * <p>A batch carries a <em>version</em>, and Redis keeps the answer to the session's last one. So a batch is repeated
 * as it was if its answer is lost, and charged once; one that was delayed on its way until the next has been answered
 * is never charged. After one command time-out it is given up, together with the requests behind it, which have waited
 * for the same silence.
 */
final class RequestQueue {
    private static final Script DECIDE = Script.load("ratelimit/decide");
    private static final int BATCH_SIZE = 100;

    /** Some requests, and the command that brings them to Redis. */
    private static final class Batch {
        private final List<Request> requests;
        private final Call call;
        private final long sentNanos;

        Batch(List<Request> requests, Call call, long sentNanos) {
            this.requests = requests;
            this.call = call;
            this.sentNanos = sentNanos;
        }

        boolean isTooLate(RedisSession session) {
            return session.now() - sentNanos
                    >= TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
        }
    }

    /**
     * What has become of a batch: the fields of the reply, or what no repeat will mend. An attempt of an earlier batch
     * says nothing of the current one.
     */
    private record Reply(
            Batch batch,
            @Nullable List<Object> fields,
            @Nullable Throwable refusal) {
        void complete() {
            try {
                if (refusal != null) {
                    fail(batch.requests, refusal);
                } else if (fields == null || fields.isEmpty()) {
                    fail(batch.requests, new RedisUnavailableException("answered too late", null));
                } else {
                    Answer.complete(batch.requests, fields, batch.sentNanos);
                }
            } catch (RuntimeException e) {
                // A limit that a later version has set. Nobody may go on waiting for that.
                fail(batch.requests, e);
            }
        }
    }

    private final RedisSession session;
    private final List<Object> keys;
    private final Consumer<RequestQueue> onEnd;
    private final ReentrantLock mutex = new ReentrantLock();
    private final CommandLoop<Reply> loop;

    @GuardedBy("mutex")
    private final Deque<Request> waiting = new ArrayDeque<>();

    /** The requests that Redis has not answered yet. */
    @GuardedBy("mutex")
    private @Nullable Batch current;

    /** Completes requests, once the mutex is free. */
    @GuardedBy("mutex")
    private final List<Runnable> completions = new ArrayList<>();

    @GuardedBy("mutex")
    private boolean ended;

    /** Whether there was no request since the last pulse. */
    @GuardedBy("mutex")
    private boolean unused;

    /**
     * Creates an empty queue.
     *
     * @param keys those of the script
     * @param onEnd called when there has been nothing to do for a second, after which the queue takes no requests
     */
    RequestQueue(RedisSession session, List<Object> keys, Consumer<RequestQueue> onEnd) {
        this.session = session;
        this.keys = keys;
        this.onEnd = onEnd;
        this.loop = new CommandLoop<>(session, mutex, new Batches());
    }

    /** Takes a request, unless the queue has ended. */
    boolean add(Request request) {
        mutex.lock();
        try {
            if (ended) {
                return false;
            }
            unused = false;
            waiting.add(request);
            if (current == null) {
                loop.tell();
            }
            return true;
        } finally {
            mutex.unlock();
        }
    }

    private final class Batches implements CommandLoop.Speaker<Reply> {
        @Override
        @GuardedBy("RequestQueue.this.mutex")
        public @Nullable CompletableFuture<Reply> say(long nowNanos) {
            Batch batch = current;
            if (batch == null) {
                batch = nextBatch(nowNanos);
                current = batch;
            } else if (batch.isTooLate(session)) {
                giveUp(new RedisUnavailableException("Redis doesn't answer", null));
                return null;
            }
            return batch == null ? null : send(batch);
        }

        @Override
        @GuardedBy("RequestQueue.this.mutex")
        public void answered(long sentNanos, Reply reply) {
            if (reply.batch != current) {
                return;
            }
            current = null;
            completions.add(reply::complete);
            // Another attempt may be in flight, whose answer says the same.
            loop.forget();
            if (!waiting.isEmpty()) {
                loop.tellLater();
            }
        }

        @Override
        @GuardedBy("RequestQueue.this.mutex")
        public void failed(Throwable cause) {
            if (current != null && current.isTooLate(session)) {
                giveUp(cause);
            }
        }

        @Override
        @GuardedBy("RequestQueue.this.mutex")
        public void refused(Throwable cause) {
            giveUp(cause);
        }

        @Override
        public void changed() {
            completeRequests();
        }
    }

    private CompletableFuture<Reply> send(Batch batch) {
        return session.runner().run(batch.call).handle((fields, failure) -> {
            if (failure != null && Failures.isTransient(failure)) {
                throw new CompletionException(Failures.cause(failure));
            }
            return new Reply(batch, fields, failure == null ? null : Failures.cause(failure));
        });
    }

    /** Takes from the queue what one command may carry, or returns null if there is nothing. */
    @GuardedBy("mutex")
    private @Nullable Batch nextBatch(long nowNanos) {
        List<Request> requests = new ArrayList<>(Math.min(BATCH_SIZE, waiting.size()));
        StringBuilder text = new StringBuilder();
        SharedLimit limit = null;
        for (Iterator<Request> all = waiting.iterator(); all.hasNext() && requests.size() < BATCH_SIZE; ) {
            Request request = all.next();
            if (limit != null && !limit.ownText.equals(request.limit().ownText)) {
                break;
            }
            all.remove();
            // A request that was cancelled meanwhile is charged for nothing.
            if (!request.answer().isDone()) {
                limit = request.limit();
                requests.add(request);
                request.writeTo(text);
            }
        }
        if (limit == null) {
            return null;
        }
        Call call = DECIDE.on(keys, session.id(), session.nextSequence(), limit.ownText, text.toString());
        return new Batch(requests, call, nowNanos);
    }

    /** Fails all requests, those that wait too. */
    @GuardedBy("mutex")
    private void giveUp(Throwable cause) {
        List<Request> all = new ArrayList<>();
        if (current != null) {
            all.addAll(current.requests);
        }
        all.addAll(waiting);
        current = null;
        waiting.clear();
        completions.add(() -> fail(all, cause));
    }

    private void completeRequests() {
        List<Runnable> due;
        mutex.lock();
        try {
            due = List.copyOf(completions);
            completions.clear();
        } finally {
            mutex.unlock();
        }
        due.forEach(Runnable::run);
    }

    private static void fail(List<Request> requests, Throwable cause) {
        requests.forEach(request -> request.answer().completeExceptionally(cause));
    }

    /** Repeats or gives up a batch that has been silent. Ends if there was nothing to do since the last time. */
    void pulse() {
        mutex.lock();
        try {
            if (current == null) {
                if (unused) {
                    ended = true;
                    onEnd.accept(this);
                }
                unused = true;
                return;
            }
            loop.beat(false);
            if (current != null && current.isTooLate(session)) {
                giveUp(new RedisUnavailableException("Redis doesn't answer", null));
                loop.forget();
            }
        } finally {
            mutex.unlock();
        }
        completeRequests();
    }

    /** Fails everything. */
    void close() {
        mutex.lock();
        try {
            ended = true;
            giveUp(new IllegalStateException("the Interlock session is closed"));
        } finally {
            mutex.unlock();
        }
        completeRequests();
    }
}
