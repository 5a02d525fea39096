package dev.interlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.Contender.Answer;
import dev.interlock.internal.Contender.Request;
import dev.interlock.internal.Contender.Status;
import dev.interlock.internal.LockModel.Party;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs of several sessions whose commands are repeated, delayed and reordered, while leases end, waiters die and
 * the token's key expires. After each step the scripts have done what {@link LockModel} says: so there is never an owner but
 * the one the model knows. Tokens grow from tenure to tenure, every key has a TTL, and inside a script nothing is written
 * after the first message is out.
 */
class LockProgramTest extends LockScriptTest {
    private static final int STEPS = 400;
    private static final int DELAYED = 5;

    private static final Set<String> READS =
            Set.of("time", "exists", "get", "hget", "hkeys", "hexists", "pttl", "zcard", "zscore", "zrange", "pubsub");
    private static final Set<String> MESSAGES = Set.of("publish", "spublish");
    private static final Set<String> WITHOUT_KEY = Set.of("time", "pubsub", "publish", "spublish");

    private final LockModel model = new LockModel();
    private final List<Session> sessions = new ArrayList<>();
    private final List<Command> delayed = new ArrayList<>();
    private final Map<Contender, Party> entered = new HashMap<>();
    private @Nullable Party lastOwner;
    private long lastToken;

    /** A command, to be sent once, later or again. */
    private interface Command {
        void send();
    }

    /** What a session has asked for so far. */
    private static final class Session {
        final Contender by;
        final long leaseMillis;
        final Map<Long, Request> requests = new HashMap<>();
        long last;

        Session(Contender by, long leaseMillis) {
            this.by = by;
            this.leaseMillis = leaseMillis;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void scriptsDoWhatTheModelSays(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 3; i++) {
            sessions.add(new Session(contender(), 100_000L * (i + 1)));
        }
        List<String> log = new ArrayList<>();
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            for (int step = 0; step < STEPS; step++) {
                try {
                    step(random, log);
                    checkState();
                } catch (AssertionError e) {
                    throw new AssertionError("seed " + seed + ", step " + step + ", after " + tail(log), e);
                }
                if (step % 50 == 0) {
                    checkDiscipline(monitor.commands());
                }
            }
            checkDiscipline(monitor.commands());
        }
    }

    private static List<String> tail(List<String> log) {
        return log.subList(Math.max(0, log.size() - 12), log.size());
    }

    private void step(Random random, List<String> log) {
        Session session = sessions.get(random.nextInt(sessions.size()));
        int choice = random.nextInt(100);
        if (choice < 30 && !delayed.isEmpty()) {
            log.add("delayed:");
            (random.nextBoolean() ? delayed.remove(random.nextInt(delayed.size())) : any(random, delayed)).send();
        } else if (choice < 36 && model.owner() != null) {
            log.add("expire");
            expire();
            entered.values().removeIf(party -> party.equals(model.owner()));
            model.expire();
        } else if (choice < 40 && model.isWaiting(session.by) && model.isAlive(session.by)) {
            log.add("die " + sessions.indexOf(session));
            die(session.by);
            model.die(session.by);
        } else if (choice < 42) {
            log.add("token expires");
            server.command("DEL", keys.token());
        } else {
            Command command = command(session, random, log);
            if (random.nextInt(4) > 0) {
                command.send();
            }
            if (random.nextBoolean()) {
                delayed.add(command);
                if (delayed.size() > DELAYED) {
                    delayed.remove(random.nextInt(delayed.size()));
                }
            }
        }
    }

    private static Command any(Random random, List<Command> commands) {
        return commands.get(random.nextInt(commands.size()));
    }

    private Command command(Session session, Random random, List<String> log) {
        int index = sessions.indexOf(session);
        int choice = random.nextInt(10);
        long sequence = session.last - random.nextInt(3);
        if (choice < 4 || sequence < 1) {
            session.last++;
            Request request = session.by.request(session.last).lease(session.leaseMillis);
            request = random.nextInt(4) == 0 ? request.once() : request;
            Request asked = random.nextInt(3) == 0 ? request.continuing(session.last - 1) : request;
            session.requests.put(session.last, asked);
            return () -> {
                log.add("acquire " + index + ":" + asked.sequence() + (asked.queues() ? "" : " once") + " from "
                        + asked.from());
                acquire(asked);
            };
        }
        Request request = session.requests.get(sequence);
        assertThat(request).isNotNull();
        if (choice < 6) {
            return () -> {
                log.add("acquire " + index + ":" + sequence + " again");
                acquire(request);
            };
        }
        Party party = new Party(session.by, sequence);
        if (choice < 9) {
            return () -> {
                log.add("release " + index + ":" + sequence);
                entered.values().removeIf(party::equals);
                assertThat(session.by.release(sequence, session.leaseMillis, 1)).isEqualTo(model.release(party));
            };
        }
        return () -> {
            log.add("renew " + index + ":" + sequence);
            assertThat(session.by.renew(sequence).owned()).isEqualTo(model.renew(party));
        };
    }

    private void acquire(Request request) {
        Party owner = model.owner();
        Party caller = new Party(request.by(), request.sequence());
        Status expected = model.acquire(request);
        if (owner != null && !owner.equals(model.owner()) && caller.isSuccessorOf(owner)) {
            entered.remove(request.by(), owner);
        }
        Answer answer = request.send();
        assertThat(answer.status()).isEqualTo(expected);
        if (answer.status() == Status.GRANTED) {
            entered.put(request.by(), caller);
            assertThat(entered.values()).as("who has entered").containsExactly(caller);
            assertThat(answer.ttlMillis()).isBetween(1L, 300_000L);
            assertThat(answer.token()).isEqualTo(number("GET", keys.token()));
            assertThat(answer.behind()).isEqualTo(model.queue().size());
        }
    }

    private void checkState() {
        Party owner = model.owner();
        assertThat(owners())
                .isEqualTo(owner == null ? List.of() : List.of(owner.by().owner(owner.sequence())));
        assertThat(tickets())
                .isEqualTo(model.queue().stream()
                        .map(ticket -> ticket.by().owner(ticket.sequence()) + ":" + leaseOf(ticket.by()))
                        .toList());
        assertThat(ttls()).allSatisfy((key, ttl) -> assertThat(ttl).as(key).isPositive());
        if (owner != null && !owner.equals(lastOwner)) {
            long token = number("GET", keys.token());
            assertThat(token).as("token").isGreaterThan(lastToken);
            lastToken = token;
            assertThat(ttl(keys.lock())).isBetween(leaseOf(owner.by()) - 60_000, leaseOf(owner.by()));
        }
        lastOwner = owner;
        keepWaitersAlive();
    }

    private long leaseOf(Contender contender) {
        return sessions.stream()
                .filter(session -> session.by == contender)
                .mapToLong(session -> session.leaseMillis)
                .findFirst()
                .orElseThrow();
    }

    // Only those die that are meant to, however slow the machine is.
    private void keepWaitersAlive() {
        for (Session session : sessions) {
            if (model.isWaiting(session.by) && model.isAlive(session.by)) {
                server.command("ZADD", keys.waiters(), "XX", "9000000000000", session.by.id);
            }
        }
    }

    private static void checkDiscipline(List<RedisMonitor.Command> commands) {
        for (RedisMonitor.Command command : commands) {
            if (!command.isScript()) {
                continue;
            }
            boolean published = false;
            for (List<String> inside : command.inside()) {
                String verb = inside.get(0);
                if (!WITHOUT_KEY.contains(verb)) {
                    assertThat(command.keys()).as(inside.toString()).contains(inside.get(1));
                }
                assertThat(published && !READS.contains(verb) && !MESSAGES.contains(verb))
                        .as("%s after a message, in %s", inside, command.inside())
                        .isFalse();
                published |= MESSAGES.contains(verb);
            }
        }
    }
}
