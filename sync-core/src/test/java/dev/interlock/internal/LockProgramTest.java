package dev.interlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.Contender.Answer;
import dev.interlock.internal.Contender.Request;
import dev.interlock.internal.Contender.Status;
import dev.interlock.internal.LockCommand.Acquire;
import dev.interlock.internal.LockCommand.Release;
import dev.interlock.internal.LockCommand.Renew;
import dev.interlock.internal.LockModel.Party;
import dev.interlock.internal.LockModel.Standing;
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
    private final List<RandomSession> sessions = new ArrayList<>();
    private final List<LockCommand> delayed = new ArrayList<>();
    private final Map<Contender, Party> entered = new HashMap<>();
    private @Nullable Party lastOwner;
    private long lastToken;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void scriptsDoWhatTheModelSays(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 1; i <= 2; i++) {
            sessions.add(new RandomSession.Plain(contender(), 200_000L * i, random));
            sessions.add(new RandomSession.Fair(contender(), 200_000L * i + 100_000, random));
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
        RandomSession session = sessions.get(random.nextInt(sessions.size()));
        int choice = random.nextInt(100);
        if (choice < 30 && !delayed.isEmpty()) {
            log.add("delayed:");
            send(random.nextBoolean() ? delayed.remove(random.nextInt(delayed.size())) : any(random, delayed), log);
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
            LockCommand command = session.next();
            if (random.nextInt(4) > 0) {
                send(command, log);
            }
            if (random.nextBoolean()) {
                delayed.add(command);
                if (delayed.size() > DELAYED) {
                    delayed.remove(random.nextInt(delayed.size()));
                }
            }
        }
    }

    private static LockCommand any(Random random, List<LockCommand> commands) {
        return commands.get(random.nextInt(commands.size()));
    }

    private void send(LockCommand command, List<String> log) {
        log.add(describe(command));
        if (command instanceof Acquire acquire) {
            acquire(acquire.request());
        } else if (command instanceof Release release) {
            Party party = release.party();
            entered.remove(party.by(), party);
            release.used().forEach(sequence -> entered.remove(party.by(), new Party(party.by(), sequence)));
            assertThat(party.by().release(party.sequence(), leaseOf(party.by()), 1, release.used()))
                    .isEqualTo(model.release(party, release.used()));
        } else if (command instanceof Renew renew) {
            Party party = renew.party();
            assertThat(party.by().renew(party.sequence()).owned()).isEqualTo(model.renew(party));
        }
    }

    private String describe(LockCommand command) {
        if (command instanceof Acquire acquire) {
            Request request = acquire.request();
            return "acquire " + indexOf(request.by()) + ":" + request.sequences() + (request.queues() ? "" : " once")
                    + " from " + request.from() + " used " + request.used();
        } else if (command instanceof Release release) {
            return "release " + indexOf(release.party().by()) + ":"
                    + release.party().sequence() + " used " + release.used();
        }
        return command instanceof Renew renew
                ? "renew " + indexOf(renew.party().by()) + ":" + renew.party().sequence()
                : "";
    }

    // A session relies on its tenure until that is released, continued or used by another one, or its lease is over;
    // for a
    // plain session, its next request is a release too.
    private void acquire(Request request) {
        Party relied = entered.get(request.by());
        if (relied != null) {
            long sequence = relied.sequence();
            boolean ends = request.from() == 0 ? request.sequence() > sequence : request.from() == sequence;
            if (ends || request.used().contains(sequence)) {
                entered.remove(request.by());
            }
        }
        Standing expected = model.acquire(request);
        Answer answer = request.send();
        assertThat(new Standing(answer.status(), answer.owner(), answer.run(), answer.over()))
                .isEqualTo(expected);
        if (answer.status() == Status.GRANTED) {
            assertThat(answer.ttlMillis()).isBetween(1L, 600_000L);
            assertThat(answer.token()).isEqualTo(number("GET", keys.token()));
            assertThat(answer.behind()).isEqualTo(model.behind());
        }
        sessions.get(indexOf(request.by())).hear(request, answer);
    }

    private void checkState() {
        Party owner = model.owner();
        if (owner != null) {
            entered.put(owner.by(), owner);
        }
        assertThat(List.copyOf(entered.values()))
                .as("who relies on the lock")
                .isEqualTo(owner == null ? List.of() : List.of(owner));
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

    private int indexOf(Contender contender) {
        return sessions.stream().map(session -> session.by).toList().indexOf(contender);
    }

    private long leaseOf(Contender contender) {
        return sessions.get(indexOf(contender)).leaseMillis;
    }

    // Only those die that are meant to, however slow the machine is.
    private void keepWaitersAlive() {
        for (RandomSession session : sessions) {
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
