package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.LockCommand.Acquire;
import dev.interlock.internal.lock.script.LockCommand.Downgrade;
import dev.interlock.internal.lock.script.LockCommand.Release;
import dev.interlock.internal.lock.script.LockCommand.Renew;
import dev.interlock.internal.lock.script.LockModel.Party;
import dev.interlock.internal.lock.script.LockModel.Standing;
import dev.interlock.internal.redis.RedisMonitor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs of several sessions whose commands are repeated, delayed and reordered, while leases end, waiters die
 * and the token's key expires. After each step the scripts have done what {@link LockModel} says: so there is never an
 * owner but the one the model knows. Tokens grow from tenure to tenure, every key has a TTL, and inside a script
 * nothing is written after the first message is out.
 */
class LockProgramTest extends LockScriptTest {
    private static final int STEPS = 400;
    private static final int STEPS_OF_READERS = 1_000;
    private static final int DELAYED = 5;

    private static final String LOOK = """
            for _, alive in ipairs(ARGV) do
              redis.call('zadd', KEYS[4], 'xx', 9000000000000, alive)
            end
            return {
              redis.call('hgetall', KEYS[1]),
              redis.call('zrange', KEYS[2], 0, -1),
              redis.call('zrange', KEYS[3], 0, -1),
            }
            """;

    private static final Set<String> READS = Set.of(
            "time",
            "exists",
            "get",
            "hget",
            "hkeys",
            "hgetall",
            "hexists",
            "hrandfield",
            "pttl",
            "zcard",
            "zscore",
            "zrange",
            "zrangebyscore",
            "pubsub");
    private static final Set<String> MESSAGES = Set.of("publish", "spublish");
    private static final Set<String> WITHOUT_KEY = Set.of("time", "pubsub", "publish", "spublish");

    private final LockModel model = new LockModel();
    private final List<RandomSession> sessions = new ArrayList<>();
    private final List<LockCommand> delayed = new ArrayList<>();
    private final Map<Contender, Party> entered = new HashMap<>();
    private Set<Party> lastHolders = Set.of();
    private long lastToken;

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void scriptsDoWhatTheModelSays(long seed) throws IOException {
        runExclusive(seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 4, 5, 6, 7, 8})
    @Tag("proof")
    void scriptsDoWhatTheModelSaysForMoreSeeds(long seed) throws IOException {
        runExclusive(seed);
    }

    private void runExclusive(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 1; i <= 2; i++) {
            sessions.add(new RandomSession.Plain(contender(), 200_000L * i, random));
            sessions.add(new RandomSession.Fair(contender(), 200_000L * i + 100_000, random));
        }
        run(seed, STEPS, random);
    }

    /** The same where sessions may also share the lock. */
    @ParameterizedTest
    @ValueSource(longs = {1, 3})
    void scriptsDoForReadersWhatTheModelSays(long seed) throws IOException {
        runShared(seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    @Tag("proof")
    void scriptsDoForReadersWhatTheModelSaysForMoreSeeds(long seed) throws IOException {
        runShared(seed);
    }

    private void runShared(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 1; i <= 4; i++) {
            sessions.add(new RandomSession.Sharing(contender(), 100_000L + 100_000L * i, random));
        }
        if (seed % 3 == 0) {
            sessions.add(new RandomSession.Plain(contender(), 250_000, random));
        }
        run(seed, STEPS_OF_READERS, random);
    }

    private void run(long seed, int steps, Random random) throws IOException {
        List<String> log = new ArrayList<>();
        try (RedisMonitor monitor = new RedisMonitor(server)) {
            for (int step = 0; step < steps; step++) {
                try {
                    step(random, log);
                    checkState();
                } catch (AssertionError e) {
                    throw new AssertionError("seed " + seed + ", step " + step + ", after " + tail(log), e);
                }
                if (step % 10 == 0) {
                    checkTtls();
                }
                if (step % 50 == 0) {
                    checkDiscipline(monitor.commands());
                }
            }
            checkTtls();
            checkDiscipline(monitor.commands());
        }
    }

    private void checkTtls() {
        assertThat(ttls()).allSatisfy((key, ttl) -> assertThat(ttl).as(key).isPositive());
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
        } else if ((choice < 36 && model.owner() != null)
                || (choice < 32 && !model.readers().isEmpty())) {
            log.add("expire");
            expire();
            server.command("DEL", keys.readers());
            entered.clear();
            model.expire();
        } else if (choice < 36 && model.readers().containsKey(session.by)) {
            log.add("lapse " + sessions.indexOf(session));
            server.command("ZADD", keys.readers(), "XX", "1", session.by.id);
            entered.remove(session.by);
            model.lapse(session.by);
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
            Contender by = party.by();
            long expected = model.release(party, release.used());
            Request reader = by.request(party.sequence()).reading().lease(leaseOf(by));
            assertThat(
                            release.reads()
                                    ? reader.release()
                                    : by.release(party.sequence(), leaseOf(by), 1, release.used()))
                    .isEqualTo(expected);
        } else if (command instanceof Downgrade downgrade) {
            Party party = downgrade.party();
            assertThat(party.by().downgrade(party.sequence(), leaseOf(party.by()), 1))
                    .isEqualTo(model.downgrade(party));
        } else if (command instanceof Renew renew) {
            Party party = renew.party();
            assertThat(party.by().renew(party.sequence()).owned()).isEqualTo(model.renew(party));
        }
    }

    private String describe(LockCommand command) {
        if (command instanceof Acquire acquire) {
            Request request = acquire.request();
            return "acquire " + indexOf(request.by()) + ":" + request.sequences() + (request.queues() ? "" : " once")
                    + (request.reads() ? " reading" : "") + " from " + request.from() + " used " + request.used();
        } else if (command instanceof Release release) {
            return "release " + indexOf(release.party().by()) + ":"
                    + release.party().sequence() + " used " + release.used();
        }
        if (command instanceof Downgrade downgrade) {
            return "downgrade " + indexOf(downgrade.party().by()) + ":"
                    + downgrade.party().sequence();
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
            assertThat(answer.behind()).isEqualTo(model.behind(request.by()));
        }
        sessions.get(indexOf(request.by())).hear(request, answer);
    }

    private void checkState() {
        Set<Party> holders = model.holders();
        holders.forEach(holder -> entered.put(holder.by(), holder));
        assertThat(entered.values()).as("who relies on the lock").containsExactlyInAnyOrderElementsOf(holders);
        Party owner = model.owner();
        assertThat(holders.size() > 1 && owner != null).isFalse();
        Map<String, String> fields = new HashMap<>();
        Set<String> readers = new HashSet<>();
        model.readers().forEach((reader, sequence) -> {
            fields.put(reader.id + ":r", sequence.toString());
            readers.add(reader.id);
        });
        if (owner != null) {
            fields.put(owner.by().owner(owner.sequence()), "1");
        }
        List<String> tickets = model.queue().stream().map(this::textOf).toList();
        assertThat(look()).isEqualTo(new State(fields, readers, tickets));
        long granted =
                holders.stream().filter(holder -> !lastHolders.contains(holder)).count();
        if (granted > 0) {
            long token = number("GET", keys.token());
            assertThat(token).as("token").isGreaterThanOrEqualTo(lastToken + granted);
            lastToken = token;
            long longest = holders.stream()
                    .mapToLong(holder -> leaseOf(holder.by()))
                    .max()
                    .orElseThrow();
            assertThat(ttl(keys.lock())).isBetween(longest - 60_000, owner == null ? 600_000 : longest);
        }
        lastHolders = holders;
    }

    private String textOf(Party ticket) {
        return ticket.by().owner(ticket.sequence()) + ":" + leaseOf(ticket.by())
                + (model.isReading(ticket) ? ":r" : "");
    }

    /** What Redis has: the fields of the lock, sessions with a reader's lease, and tickets. */
    private record State(Map<String, String> fields, Set<String> readers, List<String> tickets) {}

    // Only those die that are meant to, however slow the machine is.
    private State look() {
        List<String> command =
                new ArrayList<>(List.of("EVAL", LOOK, "4", keys.lock(), keys.readers(), keys.queue(), keys.waiters()));
        for (RandomSession session : sessions) {
            if (model.isWaiting(session.by) && model.isAlive(session.by)) {
                command.add(session.by.id);
            }
        }
        if (!(redis(command.toArray(String[]::new)) instanceof List<?> reply)) {
            throw new IllegalStateException("not a list");
        }
        List<String> pairs = strings(reply.get(0));
        Map<String, String> fields = new HashMap<>();
        for (int i = 0; i < pairs.size(); i += 2) {
            fields.put(pairs.get(i), pairs.get(i + 1));
        }
        return new State(fields, Set.copyOf(strings(reply.get(1))), strings(reply.get(2)));
    }

    private static List<String> strings(Object reply) {
        return reply instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
    }

    private int indexOf(Contender contender) {
        return sessions.stream().map(session -> session.by).toList().indexOf(contender);
    }

    private long leaseOf(Contender contender) {
        return sessions.get(indexOf(contender)).leaseMillis;
    }

    private void checkDiscipline(List<RedisMonitor.Command> commands) {
        for (RedisMonitor.Command command : commands) {
            if (!command.isScriptOn(keys.lock())) {
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
