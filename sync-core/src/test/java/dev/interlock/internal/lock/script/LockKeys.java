package dev.interlock.internal.lock.script;

import dev.interlock.internal.SessionId;
import java.util.List;

/** The keys and the channel of one lock, spelled out a second time: their format is a promise to other versions. */
public record LockKeys(
        String lock,
        String queue,
        String waiters,
        String token,
        String turns,
        String conditions,
        String signals,
        String readers,
        String channel) {
    private static final int ID_LENGTH = SessionId.fresh("").length();

    static LockKeys of(String name) {
        boolean wrapped = !name.contains("{");
        return new LockKeys(
                name,
                key(name, "queue"),
                key(name, "waiters"),
                key(name, "token"),
                key(name, "turns"),
                key(name, "conditions"),
                key(name, "signals"),
                key(name, "readers"),
                "redisson_lock__channel:" + (wrapped ? "{" + name + "}" : name));
    }

    private static String key(String name, String kind) {
        return name.contains("{") ? "interlock:" + kind + ":" + name : "interlock:{" + name + "}:" + kind;
    }

    public String mark(String session) {
        return key(lock, "mark:" + session);
    }

    static String mailbox(String session) {
        return "interlock:mailbox:" + session;
    }

    /** What most scripts take. */
    public List<String> all(String session) {
        return List.of(lock, queue, waiters, token, turns, mark(session), conditions, signals, readers);
    }

    /** Whether it is what may stay behind, for a while. */
    boolean isMemory(String key) {
        return key.equals(token) || key.equals(turns) || key.equals(signals) || key.equals(mark(session(key)));
    }

    private static String session(String mark) {
        int begin = mark.indexOf("mark:interlock-") + "mark:".length();
        return begin < "mark:".length() ? "" : mark.substring(begin, begin + ID_LENGTH);
    }
}
