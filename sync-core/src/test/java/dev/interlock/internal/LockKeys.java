package dev.interlock.internal;

import java.util.List;

/** The keys and the channel of one lock, spelled out a second time: their format is a promise to other versions. */
record LockKeys(String lock, String queue, String waiters, String token, String turns, String channel) {

    static LockKeys of(String name) {
        String tag = name.contains("{") ? name : "{" + name + "}";
        String prefix = "interlock:" + tag + ":";
        return new LockKeys(
                name,
                prefix + "queue",
                prefix + "waiters",
                prefix + "token",
                prefix + "turns",
                "redisson_lock__channel:" + tag);
    }

    String mark(String session) {
        return queue.substring(0, queue.length() - "queue".length()) + "mark:" + session;
    }

    static String mailbox(String session) {
        return "interlock:mailbox:" + session;
    }

    /** What acquire and release take. */
    List<String> all(String session) {
        return List.of(lock, queue, waiters, token, turns, mark(session));
    }

    /** Whether it is what may stay behind, for a while. */
    boolean isMemory(String key) {
        return key.equals(token) || key.equals(turns) || key.startsWith(mark(""));
    }
}
