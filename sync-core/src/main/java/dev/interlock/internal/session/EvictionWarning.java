package dev.interlock.internal.session;

import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.ScriptRunner;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of nodes that are set to evict keys when their memory is full: anything that a session has there may be gone at
 * any time. Every key of ours expires, so that a policy for keys that expire takes them as well.
 */
final class EvictionWarning {
    private static final Logger log = LoggerFactory.getLogger(EvictionWarning.class);
    private static final Script MEMORY = Script.load("session/memory");
    private static final RareLog ONCE = RareLog.once();

    private EvictionWarning() {}

    /** Asks each node, and waits for no answer. */
    static void look(ScriptRunner runner, String servers) {
        for (String route : runner.routes()) {
            runner.run(MEMORY.on(List.of(route))).whenComplete((reply, failure) -> {
                if (failure == null) {
                    warn(servers, (Long) reply.get(0), (String) reply.get(1));
                } else {
                    log.debug("What {} evicts isn't known: {}", servers, Failures.brief(failure));
                }
            });
        }
    }

    private static void warn(String servers, long mostBytes, String policy) {
        if (mostBytes > 0 && !policy.equals("noeviction")) {
            ONCE.say(
                    servers,
                    again -> log.warn(
                            "Redis at {} evicts keys when its memory is full (maxmemory {}, maxmemory-policy {}): locks"
                                    + " and permits can be lost at any time. Set maxmemory-policy noeviction",
                            servers,
                            mostBytes,
                            Names.escaped(policy)));
        }
    }
}
