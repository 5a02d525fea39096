package dev.interlock.internal.session;

import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Takes the commands of a session, and leaves it to the test to answer them. */
public final class FakeRunner implements ScriptRunner {
    /**
     * A command.
     *
     * @param reply to be completed by the test
     */
    public record Sent(Call call, CompletableFuture<List<Object>> reply) {}

    private final List<Sent> sent = new ArrayList<>();

    /** Returns all commands so far. */
    public List<Sent> sent() {
        return List.copyOf(sent);
    }

    /** Returns the last one. */
    public Sent last() {
        return sent.get(sent.size() - 1);
    }

    @Override
    public CompletableFuture<List<Object>> run(Call call) {
        Sent next = new Sent(call, new CompletableFuture<>());
        sent.add(next);
        return next.reply;
    }

    @Override
    public CompletableFuture<List<Object>> runDurably(Call call) {
        return run(call);
    }

    @Override
    public List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
        return calls.stream().map(this::run).toList();
    }

    @Override
    public void load(List<Script> scripts) {
        // There is no server that would have to know them.
    }

    @Override
    public boolean isReplicated() {
        return false;
    }
}
