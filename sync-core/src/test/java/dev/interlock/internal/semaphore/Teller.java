package dev.interlock.internal.semaphore;

import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** Runs the semaphore's script on behalf of sessions that exist nowhere else. */
final class Teller {
    private static final String TEXT = Script.load("semaphore/tell").text();

    private static final List<String> KINDS =
            List.of("semaphore", "semaphore-queue", "semaphore-sessions", "semaphore-retired");

    private final RedisServer server;
    final String name;

    Teller(RedisServer server, String name) {
        this.server = server;
        this.name = name;
    }

    /** What a session says. */
    record Said(
            String session,
            long epoch,
            long version,
            boolean fresh,
            long returned,
            long wanted,
            long contributed,
            boolean leave,
            long operation,
            String verb,
            int amount,
            long granted,
            long taken) {}

    /** What an answer says. */
    record Heard(long status, long granted, long available, long permits, long others, long operation, long result) {
        private static Heard of(List<Long> fields) {
            return new Heard(
                    fields.get(0),
                    fields.get(1),
                    fields.get(2),
                    fields.get(3),
                    fields.get(4),
                    fields.get(6),
                    fields.get(7));
        }
    }

    String key(String kind) {
        return "interlock:{" + name + "}:" + kind;
    }

    Heard tell(Said said, int permits, boolean owned, long leaseMillis) {
        List<String> command = new ArrayList<>(List.of("EVAL", TEXT, "4"));
        KINDS.forEach(kind -> command.add(key(kind)));
        for (Object argument : List.of(
                said.session,
                said.epoch,
                said.version,
                said.fresh ? 1 : 0,
                said.returned,
                said.wanted,
                said.contributed,
                said.leave ? 1 : 0,
                leaseMillis,
                permits,
                owned ? 1 : 0,
                said.operation,
                said.verb,
                said.amount,
                said.granted,
                said.taken,
                0)) {
            command.add(argument.toString());
        }
        if (!(server.command(command.toArray(String[]::new)) instanceof List<?> reply)) {
            throw new IllegalStateException("no list");
        }
        return Heard.of(reply.stream().map(field -> (Long) field).toList());
    }

    /** Keeps a copy of the data. */
    void saveCopy() {
        copy("", "copy:");
    }

    /** Goes back to that copy. */
    void goBack() {
        copy("copy:", "");
    }

    private void copy(String from, String to) {
        for (String kind : KINDS) {
            server.command("DEL", to + key(kind));
            server.command("COPY", from + key(kind), to + key(kind));
        }
    }

    /** The lease of a session is over. */
    void die(String session) {
        server.command("ZADD", key("semaphore-sessions"), "XX", "1", session);
    }

    /** The sessions that wait, in their order. */
    List<String> queue() {
        return server.command("ZRANGE", key("semaphore-queue"), "0", "-1") instanceof List<?> line
                ? line.stream().map(String::valueOf).toList()
                : List.of();
    }

    long ttl(String kind) {
        return server.command("PTTL", key(kind)) instanceof Long ttl ? ttl : -3;
    }
}
