package dev.interlock.internal.session;

import com.google.common.base.Suppliers;
import com.google.common.collect.Lists;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.redis.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says of the names for which a session waits that it goes on waiting: of many names by one command. The answer tells
 * of each name whether that was all there is to say.
 */
public final class Heartbeats {
    /**
     * The answer for one name.
     *
     * @param ttlMillis of the other session that owns it, 0 if the name has to be asked for by a command of its own
     */
    public record Answer(long redisMicros, long ttlMillis) {}

    /** What is to be said of one name. */
    private record Heartbeat(Supplier<List<Object>> keys, String ticket, CompletableFuture<Answer> answer) {}

    private static final Script HEARTBEAT = Script.load("lock/heartbeat");

    /** So many names go by one command, which takes Redis a millisecond or two. */
    private static final int MOST = 100;

    private final RedisSession session;
    private final Supplier<Boolean> areTogether;

    @GuardedBy("this")
    private List<Heartbeat> heartbeats = new ArrayList<>();

    Heartbeats(RedisSession session) {
        this.session = session;
        this.areTogether = Suppliers.memoize(() -> session.runner().routes().size() == 1);
    }

    /** Returns whether one command can speak of many names. In a cluster they are on different nodes. */
    public boolean areTogether() {
        return areTogether.get();
    }

    /**
     * Says soon, together with others, that a ticket waits.
     *
     * @param keys those that the script takes for a name
     * @param ticket as the script takes it
     */
    public CompletableFuture<Answer> send(Supplier<List<Object>> keys, String ticket) {
        var answer = new CompletableFuture<Answer>();
        boolean isFirst;
        synchronized (this) {
            isFirst = heartbeats.isEmpty();
            heartbeats.add(new Heartbeat(keys, ticket, answer));
        }
        if (isFirst) {
            session.execute(this::sendAll);
        }
        return answer;
    }

    private void sendAll() {
        List<Heartbeat> all;
        synchronized (this) {
            all = heartbeats;
            heartbeats = new ArrayList<>();
        }
        Lists.partition(all, MOST).forEach(this::send);
    }

    private void send(List<Heartbeat> part) {
        List<Object> keys = new ArrayList<>();
        part.forEach(one -> keys.addAll(one.keys.get()));
        String tickets = part.stream().map(Heartbeat::ticket).collect(Collectors.joining(" "));
        session.runner()
                .run(HEARTBEAT.on(keys, session.id(), tickets, session.pace().heartbeatMillis()))
                .whenComplete((reply, failure) -> answer(part, reply, failure));
    }

    private static void answer(List<Heartbeat> part, @Nullable List<Object> reply, @Nullable Throwable failure) {
        for (int i = 0; i < part.size(); i++) {
            CompletableFuture<Answer> answer = part.get(i).answer;
            if (reply == null) {
                answer.completeExceptionally(failure == null ? new IllegalStateException("no reply") : failure);
            } else {
                answer.complete(new Answer((Long) reply.get(0), (Long) reply.get(i + 1)));
            }
        }
    }
}
