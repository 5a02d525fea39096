package dev.interlock.internal.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Throwables;
import com.google.common.collect.Lists;
import dev.interlock.internal.redis.Script.Call;
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
import java.util.regex.Pattern;
import org.redisson.RedissonShutdownException;
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
import org.redisson.client.RedisAuthRequiredException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.Encoder;
import org.redisson.command.NoSyncedSlavesException;
import org.redisson.config.DefaultCommandMapper;

/**
 * Runs scripts through Redisson, each once: whoever asks repeats what got no answer, since only he knows whether he
 * still wants it. Where there are replicas, {@link #runDurably} waits for the acknowledgement of some of them.
 */
public final class ScriptRunner {
    /**
     * How many times longer than we do Redisson waits for an answer. A connection that waits for one serves nobody
     * else; so a repeat takes another connection than the one that has gone mute.
     */
    private static final int PATIENCE = 3;

    private static final int BATCH = 256;
    private static final long REPLICATION_MILLIS = 1_000;

    /** A line that begins as errors of Redis do, by a code. */
    private static final Pattern ERROR = Pattern.compile("^[A-Z]+ ");

    /** Where Redis goes on with the script that has met the error, or Redisson with the command. */
    private static final Pattern CONTEXT = Pattern.compile("\\s+script: |, command|\\R");

    /** What Redis says to those whom it doesn't let in. */
    private static final Pattern LOGIN =
            Pattern.compile("^(NOAUTH|WRONGPASS|NOPERM|ERR (AUTH|Client sent AUTH|invalid password)) ");

    /**
     * What passes though it is told as an error of the script: Redis 6.2 wraps the errors of the commands in a script.
     */
    private static final Pattern PASSING = Pattern.compile(
            ": -(MISCONF|OOM|NOREPLICAS|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN) |Script killed|max number of clients");

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
    private final AnswerSpinner spinner;
    private final LongSupplier ticker;
    private final boolean isCluster;

    /** Whether Redisson sends other scripts than it is given. */
    private final boolean isMapped;

    private final Replicas replicas;
    private final Duration replicationTimeout;

    ScriptRunner(RedissonClient client, Settings settings, Outage outage, AnswerSpinner spinner) {
        this.client = client;
        this.timeoutMillis = settings.commandTimeoutMillis() * PATIENCE;
        this.outage = outage;
        this.spinner = spinner;
        this.ticker = settings.ticker();
        this.isCluster = client.getConfig().isClusterConfig();
        this.isMapped = !(client.getConfig().getCommandMapper() instanceof DefaultCommandMapper);
        this.replicas = new Replicas(client.getConfig(), settings.replicaAcknowledgements(), ticker);
        // So that who waits for one command time-out hears of it.
        this.replicationTimeout =
                Duration.ofMillis(Math.max(1, Math.min(REPLICATION_MILLIS, settings.commandTimeoutMillis() / 2)));
        this.scripts = client.getScript(
                OptionalOptions.defaults().codec(ARGUMENTS).retryAttempts(0).timeout(Duration.ofMillis(timeoutMillis)));
    }

    /** Whether it matters that what Redis has answered or published may be lost by a failover. */
    public boolean isReplicated() {
        return replicas.areWanted();
    }

    /** Runs a script. */
    public CompletableFuture<List<Object>> run(Call call) {
        long sent = ticker.getAsLong();
        return observed(sent, sent(call), outage::heard);
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
                String.valueOf(call.keys.get(0)),
                Mode.READ_WRITE,
                call.script.digest(),
                ReturnType.LIST,
                call.keys,
                call.arguments);
        return reply.toCompletableFuture();
    }

    private CompletableFuture<List<Object>> unlessMissing(Call call, Throwable failure) {
        return cause(failure) instanceof RedisNoScriptException
                ? eval(scripts, call).toCompletableFuture()
                : CompletableFuture.failedFuture(failure);
    }

    /** Runs a script and, where there are replicas, waits until as many of them have it as the session wants. */
    public CompletableFuture<List<Object>> runDurably(Call call) {
        long sent = ticker.getAsLong();
        String key = String.valueOf(call.keys.get(0));
        int needed = replicas.needed(key);
        CompletableFuture<List<Object>> reply = needed != Replicas.UNKNOWN
                ? acknowledged(call, key, needed)
                : online(key).thenCompose(online -> acknowledged(call, key, replicas.found(key, online)));
        return observed(sent, reply, outage::acknowledged);
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
            int needed = replicas.found(key, online);
            if (acknowledgements < needed) {
                throw new UnacknowledgedException(acknowledgements + " of " + online + " replicas have acknowledged "
                        + call.script + " within " + replicationTimeout.toMillis() + " ms, but " + needed
                        + " have to");
            }
            return reply;
        });
    }

    /** Returns how many replicas are online at the node that owns a key. */
    private CompletableFuture<Integer> online(String key) {
        return sent(REPLICAS.on(List.of(key))).thenApply(reply -> ((Long) reply.get(0)).intValue());
    }

    /** Runs many scripts, in few round trips unless that is a cluster. What one of them meets touches no other. */
    public List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
        if (calls.size() == 1 || isCluster) {
            // A batch whose scripts are for several nodes fails as a whole if one of these is gone.
            return calls.stream().map(this::run).toList();
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
                replies.add(observed(sent, future, outage::heard));
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

    private CompletableFuture<List<Object>> observed(
            long sentNanos, CompletableFuture<List<Object>> reply, Runnable success) {
        return reply.whenComplete((value, failure) -> {
            if (failure == null) {
                spinner.heard(ticker.getAsLong() - sentNanos);
                success.run();
            } else if (!isTransient(failure) || cause(failure) instanceof RedisNoScriptException) {
                outage.heard();
            } else {
                outage.failed(sentNanos, cause(failure));
            }
        });
    }

    /**
     * Returns whether the same command may succeed if it is repeated a moment later. That is so for all that Redis,
     * Redisson or the network may fail by, but for what is known to last: a key of another type, a missing right, any
     * other error of the script's own, and a client that is shut down.
     */
    public static boolean isTransient(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof IOException || cause.getCause() instanceof IOException) {
            return true;
        }
        return cause instanceof NoSyncedSlavesException
                || (cause instanceof RedisException
                        && !(cause instanceof RedissonShutdownException)
                        && !isLasting(error(cause)));
    }

    private static boolean isLasting(String error) {
        return error.startsWith("WRONGTYPE ")
                || error.startsWith("NOPERM ")
                || (error.startsWith("ERR ") && !PASSING.matcher(error).find());
    }

    /**
     * Returns whether Redis has answered by an error instead of executing the command. Of others it isn't known whether
     * it was executed; of those that Redisson repeats by itself, the last may have been.
     */
    public static boolean isRefused(Throwable failure) {
        Throwable cause = cause(failure);
        return cause instanceof RedisOutOfMemoryException
                || cause instanceof RedisAuthRequiredException
                || (cause.getClass() == RedisException.class
                        && ERROR.matcher(error(cause)).find());
    }

    /** Returns what Redis has said, without what Redisson adds to that. */
    private static String error(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        int end = message.indexOf(". channel:");
        return end < 0 ? message : message.substring(0, end);
    }

    private static String words(Throwable cause) {
        return CONTEXT.split(error(cause), 2)[0];
    }

    /**
     * Returns what to throw for a failure that lasts. What Redisson adds to Redis' words, the command and its script,
     * stays with the cause.
     *
     * @param what the object that was asked for, as {@code lock 'orders'}
     */
    public static IllegalStateException refusal(String what, Throwable failure) {
        Throwable cause = cause(failure);
        String error = words(cause);
        String reason = error.startsWith("WRONGTYPE ")
                ? "somebody else's value of another type is at one of its keys (WRONGTYPE)"
                : Keys.escaped(error);
        return new IllegalStateException("Redis refuses " + what + ": " + reason, cause);
    }

    /** Returns what to say of a Redis to which no connection could be made: its own words, if it has turned us away. */
    public static String whyUnreachable(Throwable failure) {
        return Throwables.getCausalChain(failure).stream()
                .map(ScriptRunner::error)
                .filter(error -> LOGIN.matcher(error).find())
                .findFirst()
                .map(error -> "refuses the connection: " + Keys.escaped(error))
                .orElse("can't be reached");
    }

    /**
     * Returns a line that says what a future failed with. Redisson's messages go on with the command and its script.
     */
    public static String brief(Throwable failure) {
        Throwable cause = cause(failure);
        Throwable root = cause.getCause();
        return cause.getClass().getSimpleName() + ": " + Keys.escaped(words(cause))
                + (root == null ? "" : " (" + Keys.excerpt(String.valueOf(root.getMessage())) + ")");
    }

    /** Returns what a future failed with, without the wrapping. */
    public static Throwable cause(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
