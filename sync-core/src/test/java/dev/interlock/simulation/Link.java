package dev.interlock.simulation;

import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.simulation.Fault.Kind;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisTimeoutException;

/**
 * A session's connections to a simulated Redis: some for commands, of which each keeps its order, and one for the
 * mailbox. Does what {@link dev.interlock.internal.redis.RedissonScriptRunner} and Redisson do.
 */
final class Link implements ScriptRunner, Mailbox {
    private static final int CONNECTIONS = 3;

    /** As in the real one: how many command time-outs Redisson waits. */
    static final int PATIENCE = 3;

    private static final long MILLI = 1_000_000;

    private final Jvm jvm;
    private final SimulatedServer server;
    private final Trace trace;
    private final String session;
    private final Refusals refusals;
    private final String channel;
    private final long timeoutNanos;
    private final Outage outage;
    private final Map<Kind, Long> faultsUntil;

    /** When the last request of each connection arrives, and the last reply, and the last message. */
    private final long[] arrivals = new long[2 * CONNECTIONS + 1];

    private int unanswered;
    private @Nullable Consumer<Mail> receiver;
    private Runnable connected = () -> {};

    /**
     * Creates the connections of a session.
     *
     * @param faultsUntil what goes wrong between this JVM and Redis, and until when
     */
    Link(
            Jvm jvm,
            SimulatedServer server,
            Trace trace,
            String session,
            long timeoutNanos,
            Outage outage,
            Map<Kind, Long> faultsUntil,
            Refusals refusals) {
        this.jvm = jvm;
        this.server = server;
        this.trace = trace;
        this.session = session;
        this.refusals = refusals;
        this.channel = "interlock:mailbox:" + session;
        this.timeoutNanos = timeoutNanos * PATIENCE;
        this.outage = outage;
        this.faultsUntil = faultsUntil;
    }

    static Map<Kind, Long> noFaults() {
        return new EnumMap<>(Kind.class);
    }

    private boolean has(Kind fault) {
        return jvm.scheduler().nanos() < faultsUntil.getOrDefault(fault, 0L);
    }

    private long latencyNanos() {
        return jvm.random().nextInt(30) == 0
                ? jvm.random().nextLong(3 * MILLI)
                : jvm.random().nextLong(30_000, 300_000);
    }

    /** Has something happen after a while, but not before what came before it on the same connection. */
    private void inOrder(int connection, long nanos, Runnable action) {
        Scheduler scheduler = jvm.scheduler();
        arrivals[connection] = Math.max(arrivals[connection], scheduler.nanos() + nanos);
        scheduler.after(arrivals[connection] - scheduler.nanos(), action);
    }

    // ---- scripts

    @Override
    public CompletableFuture<List<Object>> run(Call call) {
        return send(call, jvm.random().nextInt(CONNECTIONS));
    }

    @Override
    public CompletableFuture<List<Object>> runDurably(Call call) {
        return run(call);
    }

    @Override
    public List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
        int connection = jvm.random().nextInt(CONNECTIONS);
        return calls.stream().map(call -> send(call, connection)).toList();
    }

    @Override
    public void load(List<Script> scripts) {
        // The simulated server knows them all.
    }

    @Override
    public boolean isReplicated() {
        return false;
    }

    /** Returns whether a script was sent that has no reply yet, and hasn't been given up. */
    boolean isUnanswered() {
        return unanswered > 0;
    }

    private CompletableFuture<List<Object>> send(Call call, int connection) {
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        long sent = jvm.clock();
        CompletableFuture<List<Object>> observed = reply.whenComplete((value, failure) -> observe(sent, failure));
        if (jvm.isDead()) {
            return observed;
        }
        unanswered++;
        reply.whenComplete((value, failure) -> unanswered--);
        jvm.after(timeoutNanos, () -> fail(reply, new RedisTimeoutException("Redis server response timeout")));
        boolean isCut = has(Kind.CUT);
        if (isCut) {
            jvm.scheduler()
                    .after(
                            latencyNanos(),
                            () -> jvm.arrive(
                                    () -> fail(reply, new RedisConnectionException("The connection was closed"))));
        }
        if (has(Kind.LOST_REQUESTS) || (isCut && jvm.random().nextBoolean())) {
            trace.add(jvm, "sends %s, lost", call.script());
        } else if (has(Kind.LATE_REQUESTS)) {
            trace.add(jvm, "sends %s, late", call.script());
            jvm.scheduler().after(lateNanos(), () -> execute(call, connection, reply));
        } else {
            trace.add(jvm, "sends %s", call.script());
            inOrder(connection, latencyNanos(), () -> execute(call, connection, reply));
            if (has(Kind.DUPLICATES)) {
                jvm.scheduler().after(lateNanos(), () -> execute(call, connection, new CompletableFuture<>()));
            }
        }
        return observed;
    }

    private long lateNanos() {
        return jvm.random().nextLong(MILLI, 4_000 * MILLI);
    }

    private void execute(Call call, int connection, CompletableFuture<List<Object>> reply) {
        List<Object> value;
        try {
            value = server.execute(call);
            refusals.answered(session, call);
        } catch (RedisException e) {
            if (!Failures.isTransient(e)) {
                trace.add("  %s is refused by %s", call.script(), String.valueOf(e.getMessage()));
                refusals.refused(session, call);
            }
            inOrder(CONNECTIONS + connection, latencyNanos(), () -> jvm.arrive(() -> fail(reply, e)));
            return;
        }
        if (has(Kind.LOST_REPLIES)) {
            trace.add("    the reply to %s is lost", jvm.name());
            return;
        }
        long latency = has(Kind.LATE_REPLIES) ? jvm.random().nextLong(2_000 * MILLI) : latencyNanos();
        inOrder(
                CONNECTIONS + connection,
                latency,
                () -> jvm.arrive(() -> {
                    if (!reply.isDone()) {
                        trace.add(jvm, "is answered %s: %s", call.script(), value);
                        reply.complete(value);
                    }
                }));
    }

    private void fail(CompletableFuture<List<Object>> reply, RuntimeException failure) {
        if (!reply.isDone()) {
            trace.add(jvm, "fails by %s", failure);
            reply.completeExceptionally(failure);
        }
    }

    private void observe(long sentNanos, @Nullable Throwable failure) {
        if (failure == null) {
            outage.heard();
        } else if (!Failures.isTransient(failure) || failure instanceof RedisNoScriptException) {
            outage.heard();
        } else {
            outage.failed(sentNanos, failure);
        }
    }

    // ---- the mailbox

    @Override
    public CompletableFuture<?> open(Consumer<Mail> opened, Runnable onConnect) {
        CompletableFuture<Boolean> opening = new CompletableFuture<>();
        jvm.after(latencyNanos(), () -> {
            if (server.isDown() || has(Kind.CUT)) {
                opening.completeExceptionally(new RedisConnectionException("Unable to connect to Redis server"));
            } else {
                receiver = opened;
                connected = onConnect;
                server.subscribe(channel, this);
                opening.complete(true);
            }
        });
        return opening;
    }

    @Override
    public void abandon() {
        receiver = null;
        server.unsubscribe(channel, this);
    }

    @Override
    public CompletableFuture<?> close() {
        abandon();
        return CompletableFuture.completedFuture(true);
    }

    /** The connection of the mailbox is cut, for so long. */
    void cut(long nanos) {
        server.unsubscribe(channel, this);
        jvm.scheduler().after(nanos, this::reconnect);
    }

    /** Redisson gets a connection again, after a while. */
    void reconnect() {
        jvm.after(jvm.random().nextLong(500 * MILLI), () -> {
            if (receiver == null) {
                return;
            }
            if (server.isDown() || has(Kind.CUT)) {
                reconnect();
            } else {
                server.subscribe(channel, this);
                trace.add(jvm, "has its mailbox connected again");
                connected.run();
            }
        });
    }

    /** Takes a message that was published on its channel. */
    void mail(String text) {
        if (has(Kind.DEAF)) {
            trace.add("    the message to %s is lost", jvm.name());
            return;
        }
        long latency = has(Kind.LATE_MAIL) ? jvm.random().nextLong(3_000 * MILLI) : latencyNanos();
        inOrder(2 * CONNECTIONS, latency, () -> jvm.arrive(() -> deliver(text)));
    }

    /** Delivers a message of a stranger's, too. */
    void deliver(String text) {
        Consumer<Mail> open = receiver;
        if (open != null) {
            trace.add(jvm, "gets the message %s", text);
            Mail mail;
            try {
                mail = Mail.parse(text);
            } catch (IllegalArgumentException e) {
                return;
            }
            open.accept(mail);
        }
    }
}
