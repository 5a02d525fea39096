package dev.interlock.internal.redis;

import dev.interlock.internal.redis.Script.Call;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Runs scripts, each once: only the caller knows whether what got no answer is still wanted, and repeats it if so.
 * Results fail by what {@link Failures} tells apart.
 */
public interface ScriptRunner {
    /** A key that nothing has, for scripts that use none: it only says where they run. */
    String ANY_KEY = "interlock:any";

    /**
     * How many times longer than a session a connection waits for an answer. Until then it serves nobody else; so a
     * repeat takes another connection than the one that has gone mute.
     */
    int PATIENCE = 3;

    /** Runs a script. */
    CompletableFuture<List<Object>> run(Call call);

    /** Runs a script and, where there are replicas, waits until as many of them have it as the session wants. */
    CompletableFuture<List<Object>> runDurably(Call call);

    /** Runs many scripts, in few round trips unless that is a cluster. What one of them meets touches no other. */
    List<CompletableFuture<List<Object>>> runAll(List<Call> calls);

    /** Has Redis load scripts that are likely to be run, so that it knows them when they are. */
    void load(List<Script> scripts);

    /** Returns keys of which at least one is on each node that has keys of its own. */
    default List<String> routes() {
        return List.of(ANY_KEY);
    }

    /** Returns whether no script will ever run any more, because its client is shut down. */
    default boolean isShutDown() {
        return false;
    }

    /** Lets go of what it has of its own; nothing is run afterwards. */
    default void disconnect() {}

    /** Returns whether a failover may lose what Redis has answered or published. */
    boolean isReplicated();
}
