package dev.interlock.internal.ratelimit;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Resource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
    private final Resource<RequestQueue> resource;

    // The rest is used in events only.

    private final CommandLoop<Reply> loop;
    private final Deque<Request> waiting = new ArrayDeque<>();

    /** The requests that Redis has not answered yet. */
    private @Nullable Batch current;

    private boolean ended;

    /** Whether there was no request since the last pulse. */
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
        this.resource = new Resource<>(session, (String) keys.get(0), this, (queue, now) -> {});
        this.loop = new CommandLoop<>(session, resource, new Batches());
    }

    /** Takes a request, unless the queue has ended. */
    boolean add(Request request) {
        return resource.call((queue, now) -> {
            if (ended) {
                return false;
            }
            unused = false;
            waiting.add(request);
            if (current == null) {
                loop.tell();
            }
            return true;
        });
    }

    private final class Batches implements CommandLoop.Speaker<Reply> {
        @Override
        public @Nullable Supplier<CompletableFuture<Reply>> say(long nowNanos) {
            if (current == null) {
                current = nextBatch(nowNanos);
            } else if (current.isTooLate(session)) {
                giveUp(new RedisUnavailableException("Redis doesn't answer", null));
            }
            Batch batch = current;
            return batch == null ? null : () -> send(batch);
        }

        @Override
        public void answered(long sentNanos, Reply reply) {
            if (reply.batch != current) {
                return;
            }
            current = null;
            // Another attempt may be in flight, whose answer says the same.
            loop.forget();
            if (!waiting.isEmpty()) {
                loop.tell();
            }
            resource.later(reply::complete);
        }

        @Override
        public void failed(Throwable cause) {
            if (current != null && current.isTooLate(session)) {
                giveUp(cause);
            }
        }

        @Override
        public boolean refused(Throwable cause) {
            giveUp(cause);
            return true;
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
    private void giveUp(Throwable cause) {
        List<Request> all = new ArrayList<>();
        if (current != null) {
            all.addAll(current.requests);
        }
        all.addAll(waiting);
        current = null;
        waiting.clear();
        resource.later(() -> fail(all, cause));
    }

    private static void fail(List<Request> requests, Throwable cause) {
        requests.forEach(request -> request.answer().completeExceptionally(cause));
    }

    /** Repeats or gives up a batch that has been silent. Ends if there was nothing to do since the last time. */
    void pulse() {
        resource.run((queue, now) -> {
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
        });
    }

    /** Fails everything. */
    void close() {
        resource.run((queue, now) -> {
            ended = true;
            giveUp(new IllegalStateException("the Interlock session is closed"));
        });
    }
}
