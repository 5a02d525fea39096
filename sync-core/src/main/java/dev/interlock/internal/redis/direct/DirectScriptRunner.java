package dev.interlock.internal.redis.direct;

import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.redis.Answers;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Replicas;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.Settings;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs scripts by connections of the session's own. Commands that wait for replicas keep their connection waiting, and
 * so have others than the rest.
 */
public final class DirectScriptRunner implements ScriptRunner {
    private static final Logger log = LoggerFactory.getLogger(DirectScriptRunner.class);
    private static final Script REPLICAS = Script.load("session/replicas");
    private static final int DURABLE_LANES = 4;

    private final RedissonClient client;
    private final Answers answers;
    private final Replicas replicas;
    private final long replicationMillis;
    private final Lane lane;
    private final List<Lane> durableLanes;
    private final AtomicInteger nextDurable = new AtomicInteger();
    private volatile boolean closed;

    /**
     * Creates a runner, which connects when it is first used.
     *
     * @param client says where Redis is
     * @param name that of the threads
     */
    public DirectScriptRunner(
            RedissonClient client, Settings settings, Outage outage, AnswerSpinner spinner, Timer timer, String name) {
        this.client = client;
        this.answers = new Answers(outage, spinner, settings.ticker());
        this.replicas = new Replicas(client.getConfig(), settings.replicaAcknowledgements(), settings.ticker());
        this.replicationMillis = Replicas.timeoutMillis(settings);
        Endpoint endpoint = new Endpoint(client, name);
        long silenceNanos = TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis());
        this.lane = new Lane(endpoint, timer, silenceNanos, PATIENCE * silenceNanos, name);
        this.durableLanes = IntStream.range(0, DURABLE_LANES)
                .mapToObj(i -> new Lane(endpoint, timer, silenceNanos, PATIENCE * silenceNanos, name))
                .toList();
    }

    /** Returns why the sessions of a client can't have connections of their own, or null if they can. */
    public static @Nullable String obstacle(RedissonClient client) {
        return Endpoint.obstacle(client);
    }

    @Override
    public boolean isReplicated() {
        return replicas.areWanted();
    }

    @Override
    public boolean isShutDown() {
        return closed || client.isShutdown();
    }

    @Override
    public CompletableFuture<List<Object>> run(Call call) {
        return sent(new ScriptRequest(call, lane));
    }

    private CompletableFuture<List<Object>> sent(ScriptRequest request) {
        return sent(List.of(request), request.lane).get(0);
    }

    private <R extends Request> List<R> sent(List<R> requests, Lane by) {
        if (client.isShutdown()) {
            requests.forEach(request -> request.lost(new RedissonShutdownException("Redisson is shutdown")));
            return requests;
        }
        try {
            by.send(requests);
        } catch (RuntimeException e) {
            // A client that is shut down in this moment may throw when it is asked for the master.
            requests.forEach(request -> request.lost(e));
        }
        return requests;
    }

    @Override
    public List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
        List<ScriptRequest> requests =
                calls.stream().map(call -> new ScriptRequest(call, lane)).toList();
        return List.copyOf(sent(requests, lane));
    }

    @Override
    public CompletableFuture<List<Object>> runDurably(Call call) {
        int needed = replicas.needed(call.firstKey());
        return needed != Replicas.UNKNOWN
                ? acknowledged(call, needed)
                : online(call).thenCompose(online -> acknowledged(call, replicas.found(call.firstKey(), online)));
    }

    private CompletableFuture<List<Object>> acknowledged(Call call, int needed) {
        Lane by = needed == 0
                ? lane
                : durableLanes.get(Math.floorMod(nextDurable.getAndIncrement(), durableLanes.size()));
        return sent(new DurableRequest(call, by, needed));
    }

    /** Returns how many replicas are online. */
    private CompletableFuture<Integer> online(Call call) {
        return run(REPLICAS.on(List.of(call.firstKey()))).thenApply(reply -> ((Long) reply.get(0)).intValue());
    }

    @Override
    public void load(List<Script> scripts) {
        sent(scripts.stream().map(LoadRequest::new).toList(), lane);
    }

    // What is unanswered fails, and what is sent from now on.
    @Override
    public void disconnect() {
        closed = true;
        lane.close();
        durableLanes.forEach(Lane::close);
    }

    /** A run of a script by its digest: once more if Redis hasn't known that, and has executed nothing. */
    private class ScriptRequest extends Request {
        final Call call;
        final Lane lane;
        final long startNanos = answers.now();
        private boolean isRepeated;

        ScriptRequest(Call call, Lane lane) {
            this.call = call;
            this.lane = lane;
        }

        @Override
        void writeTo(CommandBuffer out) {
            out.command(2 + call.partCount());
            out.part("EVALSHA");
            out.part(call.script().digest());
            call.forEachPart(out::part);
        }

        @Override
        void take(@Nullable Object reply) {
            if (!(reply instanceof RedisException error)) {
                succeeded(list(reply));
            } else if (!isUnknown(error)) {
                failed(error);
            } else {
                repeat();
            }
        }

        final boolean isUnknown(@Nullable Object reply) {
            return reply instanceof RedisNoScriptException && !isRepeated;
        }

        final void repeat() {
            isRepeated = true;
            begin();
            lane.send(List.of(new LoadRequest(call.script()), this));
        }

        void begin() {
            replies = 1;
        }

        @SuppressWarnings("unchecked") // a list has values of Redis
        final List<Object> list(@Nullable Object reply) {
            return reply instanceof List<?> list ? (List<Object>) list : Collections.singletonList(reply);
        }

        void succeeded(List<Object> reply) {
            answers.heard(startNanos);
            complete(reply);
        }

        final void failed(Throwable cause) {
            if (cause instanceof RedisException error && RedisErrors.isOfReplica(error)) {
                // Sentinel has made another server the master.
                lane.replace();
            }
            answers.failed(startNanos, cause);
            completeExceptionally(cause);
        }

        @Override
        final void lost(Throwable cause) {
            failed(cause);
        }
    }

    /** A run of a script that some replicas have to acknowledge. */
    private final class DurableRequest extends ScriptRequest {
        private final int needed;
        private @Nullable Object ofScript;

        DurableRequest(Call call, Lane lane, int needed) {
            super(call, lane);
            this.needed = needed;
            begin();
        }

        @Override
        void begin() {
            replies = needed == 0 ? 1 : 2;
        }

        @Override
        void writeTo(CommandBuffer out) {
            super.writeTo(out);
            if (needed > 0) {
                out.command(3);
                out.part("WAIT");
                out.part(needed);
                out.part(replicationMillis);
            }
        }

        @Override
        void take(@Nullable Object reply) {
            if (needed == 0) {
                super.take(reply);
            } else if (replies > 0) {
                ofScript = reply;
            } else if (isUnknown(ofScript)) {
                repeat();
            } else if (ofScript instanceof RedisException error) {
                failed(error);
            } else if (reply instanceof Long acknowledgements) {
                waited(acknowledgements.intValue());
            } else {
                failed(reply instanceof RedisException error ? error : new RedisException("WAIT gave " + reply));
            }
        }

        private void waited(int acknowledgements) {
            if (acknowledgements >= needed) {
                succeeded(list(ofScript));
                return;
            }
            online(call).whenComplete((online, failure) -> {
                try {
                    if (failure != null) {
                        throw Failures.cause(failure);
                    }
                    replicas.check(call, acknowledgements, online);
                    succeeded(list(ofScript));
                } catch (Throwable e) {
                    failed(e);
                }
            });
        }

        @Override
        void succeeded(List<Object> reply) {
            answers.acknowledged(startNanos);
            complete(reply);
        }
    }

    /** Loads a script into Redis. If that fails, the script is loaded when it is run. */
    private static final class LoadRequest extends Request {
        private final Script script;

        LoadRequest(Script script) {
            this.script = script;
        }

        @Override
        void writeTo(CommandBuffer out) {
            out.command(3);
            out.part("SCRIPT");
            out.part("LOAD");
            out.part(script.text());
        }

        @Override
        void take(@Nullable Object reply) {
            if (reply instanceof RedisException error) {
                lost(error);
            } else {
                complete(List.of());
            }
        }

        @Override
        void lost(Throwable cause) {
            log.debug("Script {} was not loaded", script, cause);
            completeExceptionally(cause);
        }
    }
}
