package dev.interlock.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.Lists;
import dev.interlock.internal.Script.Call;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.redisson.api.BatchOptions;
import org.redisson.api.BatchResult;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RScriptAsync;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisNodeNotFoundException;
import org.redisson.client.RedisReadonlyException;
import org.redisson.client.RedisReconnectedException;
import org.redisson.client.RedisRedirectException;
import org.redisson.client.RedisRetryException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.Encoder;

/**
 * Runs scripts through Redisson, each once: whoever asks repeats what got no answer, since only he knows whether he still
 * wants it. Where there are replicas, {@link #runDurably} waits for the acknowledgement of one of them.
 */
public final class ScriptRunner {
    /**
     * How many times longer than we do Redisson waits for an answer. A connection that waits for one serves nobody else; so a
     * repeat takes another connection than the one that has gone mute.
     */
    private static final int PATIENCE = 3;

    private static final int BATCH = 256;
    private static final Duration REPLICATION_TIMEOUT = Duration.ofSeconds(1);
    private static final long REPLICAS_RECHECK_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Script REPLICAS = Script.load("session/replicas");

    /** Strings as they are, without a pooled buffer for each: that took longer than Redis took for the argument. */
    private static final StringCodec ARGUMENTS = new StringCodec() {
        private final Encoder encoder =
                argument -> Unpooled.wrappedBuffer(argument.toString().getBytes(UTF_8));

        @Override
        public Encoder getValueEncoder() {
            return encoder;
        }
    };

    private final RedissonClient client;
    private final RScript scripts;
    private final long timeoutMillis;
    private final Outage outage;
    private final LongSupplier ticker;
    private final boolean replicated;
    private volatile long withoutReplicasUntilNanos;

    ScriptRunner(RedissonClient client, Settings settings, Outage outage) {
        this.client = client;
        this.timeoutMillis = settings.commandTimeoutMillis() * PATIENCE;
        this.outage = outage;
        this.ticker = settings.ticker();
        this.replicated = !client.getConfig().isSingleConfig();
        this.withoutReplicasUntilNanos = ticker.getAsLong();
        this.scripts = client.getScript(
                OptionalOptions.defaults().codec(ARGUMENTS).retryAttempts(0).timeout(Duration.ofMillis(timeoutMillis)));
    }

    /** Whether what Redis has answered or published may be lost by a failover. */
    public boolean isReplicated() {
        return replicated;
    }

    /** Runs a script. */
    public CompletableFuture<List<Object>> run(Call call) {
        long sent = ticker.getAsLong();
        try {
            return observed(sent, eval(scripts, call).toCompletableFuture());
        } catch (RuntimeException e) {
            // A client that is shut down throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Runs a script and, where there are replicas, waits until one of them has it. */
    public CompletableFuture<List<Object>> runDurably(Call call) {
        if (!replicated || ticker.getAsLong() - withoutReplicasUntilNanos < 0) {
            return run(call);
        }
        long sent = ticker.getAsLong();
        try {
            RBatch batch = client.createBatch(batchOptions().sync(1, REPLICATION_TIMEOUT));
            CompletableFuture<List<Object>> reply =
                    eval(batch.getScript(ARGUMENTS), call).toCompletableFuture();
            CompletableFuture<BatchResult<?>> result = executed(batch, List.of(call));
            return observed(
                    sent,
                    result.thenCompose(
                            done -> done.getSyncedSlaves() > 0 ? reply : acknowledgedWithoutReplicas(call, reply)));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletionStage<List<Object>> acknowledgedWithoutReplicas(
            Call call, CompletableFuture<List<Object>> reply) {
        return eval(scripts, REPLICAS.on(call.keys.subList(0, 1))).thenCompose(replicas -> {
            if ((Long) replicas.get(0) > 0) {
                throw new RedisRetryException("no replica has acknowledged " + call.script + " within "
                        + REPLICATION_TIMEOUT.toMillis() + " ms");
            }
            withoutReplicasUntilNanos = ticker.getAsLong() + REPLICAS_RECHECK_NANOS;
            return reply;
        });
    }

    /** Runs many scripts in few round trips. What one of them meets touches no other. */
    List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
        if (calls.size() == 1) {
            return List.of(run(calls.get(0)));
        }
        List<CompletableFuture<List<Object>>> replies = new ArrayList<>(calls.size());
        for (List<Call> part : Lists.partition(calls, BATCH)) {
            long sent = ticker.getAsLong();
            RBatch batch = client.createBatch(batchOptions());
            RScriptAsync script = batch.getScript(ARGUMENTS);
            List<CompletableFuture<List<Object>>> futures = new ArrayList<>(part.size());
            for (Call call : part) {
                futures.add(eval(script, call).toCompletableFuture());
            }
            executed(batch, part).whenComplete((done, failure) -> {
                for (CompletableFuture<List<Object>> future : futures) {
                    if (failure != null) {
                        future.completeExceptionally(failure);
                    }
                }
            });
            for (CompletableFuture<List<Object>> future : futures) {
                replies.add(observed(sent, future));
            }
        }
        return replies;
    }

    private BatchOptions batchOptions() {
        return BatchOptions.defaults().retryAttempts(0).responseTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
    }

    private CompletableFuture<BatchResult<?>> executed(RBatch batch, List<Call> calls) {
        CompletableFuture<BatchResult<?>> result =
                batch.executeAsync().toCompletableFuture().thenApply(done -> done);
        result.whenComplete((done, failure) -> {
            // A batch trusts that what was loaded once is still there, and doesn't load it again.
            if (failure != null && cause(failure) instanceof RedisNoScriptException) {
                calls.stream()
                        .map(call -> call.script)
                        .distinct()
                        .forEach(script -> scripts.scriptLoadAsync(script.text()));
            }
        });
        return result;
    }

    private static RFuture<List<Object>> eval(RScriptAsync scripts, Call call) {
        return scripts.evalAsync(Mode.READ_WRITE, call.script.text(), ReturnType.LIST, call.keys, call.arguments);
    }

    private CompletableFuture<List<Object>> observed(long sentNanos, CompletableFuture<List<Object>> reply) {
        return reply.whenComplete((value, failure) -> {
            if (failure == null || !isTransient(failure) || cause(failure) instanceof RedisNoScriptException) {
                outage.heard();
            } else {
                outage.failed(sentNanos, cause(failure));
            }
        });
    }

    /** Returns whether the same command may succeed if it is repeated a moment later. */
    public static boolean isTransient(Throwable failure) {
        Throwable cause = cause(failure);
        return cause instanceof RedisTimeoutException
                || cause instanceof RedisConnectionException
                || cause instanceof RedisRetryException
                || cause instanceof RedisNoScriptException
                || cause instanceof RedisNodeNotFoundException
                || cause instanceof RedisReadonlyException
                || cause instanceof RedisRedirectException
                || cause instanceof RedisReconnectedException
                || cause.getCause() instanceof IOException;
    }

    /** Returns a line that says what a future failed with. Redisson's messages go on with the command and its script. */
    public static String brief(Throwable failure) {
        Throwable cause = cause(failure);
        String message = String.valueOf(cause.getMessage());
        int end = message.indexOf(", command");
        String line = message.substring(0, end < 0 ? message.length() : end)
                .lines()
                .findFirst()
                .orElse("");
        Throwable root = cause.getCause();
        return cause.getClass().getSimpleName() + ": " + line + (root == null ? "" : " (" + root.getMessage() + ")");
    }

    /** Returns what a future failed with, without the wrapping. */
    public static Throwable cause(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
