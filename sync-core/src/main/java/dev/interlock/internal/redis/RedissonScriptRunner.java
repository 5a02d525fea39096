package dev.interlock.internal.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.Lists;
import dev.interlock.internal.redis.Script.Call;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
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
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.Encoder;
import org.redisson.config.DefaultCommandMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs scripts through Redisson, each once: whoever asks repeats what got no answer, since only he knows whether he
 * still wants it. Where there are replicas, {@link #runDurably} waits for the acknowledgement of some of them.
 */
public final class RedissonScriptRunner implements ScriptRunner {
    private static final Logger log = LoggerFactory.getLogger(RedissonScriptRunner.class);

    private static final int BATCH = 256;

    /** So many keys by chance miss a node of a cluster of thirty once in six thousand times. */
    private static final int ROUTES = 256;

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
    private final Answers answers;
    private final boolean isCluster;

    /** Whether Redisson sends other scripts than it is given. */
    private final boolean isMapped;

    private final Replicas replicas;
    private final Duration replicationTimeout;

    /** Creates a runner on a client. */
    public RedissonScriptRunner(RedissonClient client, Settings settings, Outage outage, AnswerSpinner spinner) {
        this.client = client;
        this.timeoutMillis = settings.commandTimeoutMillis() * PATIENCE;
        this.answers = new Answers(outage, spinner, settings.ticker());
        this.isCluster = client.getConfig().isClusterConfig();
        this.isMapped = !(client.getConfig().getCommandMapper() instanceof DefaultCommandMapper);
        this.replicas = new Replicas(client.getConfig(), settings.replicaAcknowledgements(), settings.ticker());
        this.replicationTimeout = Duration.ofMillis(Replicas.timeoutMillis(settings));
        this.scripts = client.getScript(
                OptionalOptions.defaults().codec(ARGUMENTS).retryAttempts(0).timeout(Duration.ofMillis(timeoutMillis)));
    }

    @Override
    public boolean isReplicated() {
        return replicas.areWanted();
    }

    @Override
    public boolean isShutDown() {
        return client.isShutdown();
    }

    @Override
    public CompletableFuture<List<Object>> run(Call call) {
        long sent = answers.now();
        return observed(sent, sent(call), answers::heard);
    }

    // By the script's digest: Redisson's eval copies all arguments, in case it has to load the script.
    private CompletableFuture<List<Object>> sent(Call call) {
        try {
            return isMapped
                    ? eval(scripts, call).toCompletableFuture()
                    : evalSha(call).exceptionallyCompose(failure -> unlessMissing(call, failure));
        } catch (RuntimeException e) {
            // A client that is shut down throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<List<Object>> evalSha(Call call) {
        RFuture<List<Object>> reply = scripts.evalShaAsync(
                call.firstKey(), Mode.READ_WRITE, call.script.digest(), ReturnType.LIST, call.keys, call.arguments);
        return reply.toCompletableFuture();
    }

    private CompletableFuture<List<Object>> unlessMissing(Call call, Throwable failure) {
        return Failures.cause(failure) instanceof RedisNoScriptException
                ? eval(scripts, call).toCompletableFuture()
                : CompletableFuture.failedFuture(failure);
    }

    @Override
    public CompletableFuture<List<Object>> runDurably(Call call) {
        long sent = answers.now();
        String key = call.firstKey();
        int needed = replicas.needed(key);
        CompletableFuture<List<Object>> reply = needed != Replicas.UNKNOWN
                ? acknowledged(call, key, needed)
                : online(key).thenCompose(online -> acknowledged(call, key, replicas.found(key, online)));
        return observed(sent, reply, answers::acknowledged);
    }

    private CompletableFuture<List<Object>> acknowledged(Call call, String key, int needed) {
        if (needed == 0) {
            return sent(call);
        }
        try {
            RBatch batch = client.createBatch(batchOptions().sync(needed, replicationTimeout));
            CompletableFuture<List<Object>> reply =
                    eval(batch.getScript(ARGUMENTS), call).toCompletableFuture();
            return executed(batch, List.of(call)).thenCompose(done -> {
                int acknowledgements = done.getSyncedSlaves();
                return acknowledgements >= needed ? reply : unlessTooFew(call, key, acknowledgements, reply);
            });
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletionStage<List<Object>> unlessTooFew(
            Call call, String key, int acknowledgements, CompletableFuture<List<Object>> reply) {
        return online(key).thenCompose(online -> {
            replicas.check(call, acknowledgements, online);
            return reply;
        });
    }

    /** Returns how many replicas are online at the node that owns a key. */
    private CompletableFuture<Integer> online(String key) {
        return sent(REPLICAS.on(List.of(key))).thenApply(reply -> ((Long) reply.get(0)).intValue());
    }

    @Override
    public List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
        if (calls.size() == 1 || isCluster) {
            // A batch whose scripts are for several nodes fails as a whole if one of these is gone.
            return calls.stream().map(this::run).toList();
        }
        List<CompletableFuture<List<Object>>> replies = new ArrayList<>(calls.size());
        for (List<Call> part : Lists.partition(calls, BATCH)) {
            long sent = answers.now();
            RBatch batch = client.createBatch(batchOptions());
            RScriptAsync script = batch.getScript(ARGUMENTS);
            List<CompletableFuture<List<Object>>> futures = new ArrayList<>(part.size());
            for (Call call : part) {
                futures.add(eval(script, call).toCompletableFuture());
            }
            // A command's own future fails earlier than its script is loaded, after which a repeat is worth while.
            CompletableFuture<?> executed = executed(batch, part).handle((done, failure) -> {
                for (CompletableFuture<List<Object>> future : futures) {
                    if (failure != null) {
                        future.completeExceptionally(failure);
                    }
                }
                return done;
            });
            for (CompletableFuture<List<Object>> future : futures) {
                replies.add(observed(sent, executed.thenCompose(done -> future), answers::heard));
            }
        }
        return replies;
    }

    // One after the other: at once, they would have Redisson open a connection for each.
    @Override
    public void load(List<Script> scripts) {
        CompletableFuture<?> loaded = CompletableFuture.completedFuture(null);
        for (Script script : scripts) {
            String text = script.text();
            loaded = loaded.thenCompose(done -> this.scripts.scriptLoadAsync(text));
        }
        // What isn't loaded now is loaded when it is run.
        loaded.whenComplete((done, failure) -> log.debug("Scripts were loaded", failure));
    }

    @Override
    public List<String> routes() {
        return isCluster
                ? IntStream.range(0, ROUTES).mapToObj(i -> ANY_KEY + ":" + i).toList()
                : ScriptRunner.super.routes();
    }

    private BatchOptions batchOptions() {
        return BatchOptions.defaults().retryAttempts(0).responseTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
    }

    private CompletableFuture<BatchResult<?>> executed(RBatch batch, List<Call> calls) {
        CompletableFuture<BatchResult<?>> result =
                batch.executeAsync().toCompletableFuture().thenApply(done -> done);
        // A batch trusts that what was loaded once is still there, and doesn't load it again.
        return result.exceptionallyCompose(failure -> Failures.cause(failure) instanceof RedisNoScriptException
                ? loaded(calls).thenCompose(done -> CompletableFuture.failedFuture(failure))
                : CompletableFuture.failedFuture(failure));
    }

    private CompletableFuture<?> loaded(List<Call> calls) {
        return CompletableFuture.allOf(calls.stream()
                .map(call -> call.script)
                .distinct()
                .map(script -> scripts.scriptLoadAsync(script.text()).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    private static RFuture<List<Object>> eval(RScriptAsync scripts, Call call) {
        return scripts.evalAsync(Mode.READ_WRITE, call.script.text(), ReturnType.LIST, call.keys, call.arguments);
    }

    private CompletableFuture<List<Object>> observed(
            long sentNanos, CompletableFuture<List<Object>> reply, LongConsumer success) {
        return reply.whenComplete((value, failure) -> {
            if (failure == null) {
                success.accept(sentNanos);
            } else {
                answers.failed(sentNanos, Failures.cause(failure));
            }
        });
    }
}
