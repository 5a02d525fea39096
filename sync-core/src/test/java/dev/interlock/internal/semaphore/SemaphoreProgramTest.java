package dev.interlock.internal.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.SessionId;
import dev.interlock.internal.semaphore.SemaphoreModel.Account;
import dev.interlock.internal.semaphore.Teller.Heard;
import dev.interlock.internal.semaphore.Teller.Said;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs of several sessions, whose commands are lost, repeated, delayed and reordered while leases end and
 * sessions come again. After each step the script has done what {@link SemaphoreModel} says, no permit is lost or
 * gained, and every key has a TTL.
 */
class SemaphoreProgramTest {
    private static final int STEPS = 500;
    private static final int PERMITS = 5;
    private static final long LEASE = 600_000;

    private static RedisServer server;

    private final List<Said> delayed = new ArrayList<>();
    private final List<String> log = new ArrayList<>();

    @BeforeAll
    static void start() {
        server = RedisServer.launch();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** A session that says sums, as far as it has heard. */
    private static final class RandomSession {
        final String id = SessionId.fresh("");
        private long clock;
        private long epoch = next();
        private boolean fresh = true;
        private long granted;
        private long taken;
        private long returned;
        private long wanted;
        private long contributed;
        private long operation;
        private String verb = "";
        private int amount;

        private long next() {
            return ++clock;
        }

        Said say(Random random, boolean owned) {
            long booked = granted + taken - returned;
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> wanted = granted + random.nextInt(4);
                case 3, 4 -> returned += booked > 0 ? random.nextInt((int) booked + 1) : 0;
                case 5 -> contributed += random.nextInt(3) - 1;
                case 6 -> {
                    if (operation == 0) {
                        operation = next();
                        verb = List.of("take", "take_in_turn", "drain", "resize", "look")
                                .get(random.nextInt(5));
                        amount = verb.equals("resize") ? 3 + random.nextInt(5) : random.nextInt(4);
                    }
                }
                default -> returned += owned ? 0 : random.nextInt(2);
            }
            boolean leave = random.nextInt(40) == 0;
            return new Said(
                    id,
                    epoch,
                    next(),
                    fresh,
                    returned,
                    wanted,
                    contributed,
                    leave,
                    operation,
                    verb,
                    amount,
                    granted,
                    taken);
        }

        void hear(Said said, Heard heard) {
            if (said.epoch() != epoch) {
                return;
            }
            if (heard.status() != 1) {
                epoch = next();
                fresh = true;
                granted = taken = returned = wanted = contributed = operation = 0;
                verb = "";
                return;
            }
            fresh = false;
            granted = Math.max(granted, heard.granted());
            wanted = Math.max(wanted, granted);
            if (operation != 0 && heard.operation() == operation) {
                taken += verb.startsWith("take") || verb.equals("drain") ? Math.max(0, heard.result()) : 0;
                operation = 0;
                verb = "";
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void scriptDoesWhatTheModelSays(long seed) {
        run(seed, true);
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 4, 5, 6, 7, 8})
    @Tag("proof")
    void scriptDoesWhatTheModelSaysForMoreSeeds(long seed) {
        run(seed, true);
    }

    /** The same where permits belong to nobody. */
    @ParameterizedTest
    @ValueSource(longs = 1)
    void scriptDoesForUnownedWhatTheModelSays(long seed) {
        run(seed, false);
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 3, 4})
    @Tag("proof")
    void scriptDoesForUnownedWhatTheModelSaysForMoreSeeds(long seed) {
        run(seed, false);
    }

    private void run(long seed, boolean owned) {
        Random random = new Random(seed);
        Teller teller = new Teller(server, "program-" + UUID.randomUUID());
        SemaphoreModel model = new SemaphoreModel(PERMITS, owned);
        List<RandomSession> sessions = List.of(new RandomSession(), new RandomSession(), new RandomSession());
        for (int step = 0; step < STEPS; step++) {
            RandomSession session = sessions.get(random.nextInt(sessions.size()));
            if (random.nextInt(25) == 0) {
                log.add(session.id + " dies");
                teller.die(session.id);
                model.die(session.id);
            }
            boolean isOld = !delayed.isEmpty() && random.nextInt(4) == 0;
            Said said = isOld ? delayed.remove(random.nextInt(delayed.size())) : session.say(random, owned);
            int fate = random.nextInt(6);
            if (fate == 0) {
                delayed.add(said);
                continue;
            } else if (fate == 1) {
                delayed.add(said);
            }
            log.add(said.toString());
            Heard heard = teller.tell(said, PERMITS, owned, LEASE);
            model.tell(said);
            if (fate != 2 && !isOld) {
                session.hear(said, heard);
            }
            check(model, teller, said, heard);
        }
        assertThat(model.accounts.values()).anyMatch(account -> account.version > 50);
    }

    /** Redis has gone back to an older copy of its data: what a session has got since is charged to it once more. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anOlderCopyBringsNoPermits(boolean owned) {
        Teller teller = new Teller(server, "copy-" + UUID.randomUUID());
        RandomSession one = new RandomSession();
        LongUnaryOperator available = returned -> {
            one.returned = returned;
            Said said = new Said(
                    one.id,
                    one.epoch,
                    one.next(),
                    one.fresh,
                    returned,
                    one.wanted,
                    0,
                    false,
                    one.operation,
                    one.verb,
                    one.amount,
                    one.granted,
                    one.taken);
            Heard heard = teller.tell(said, PERMITS, owned, LEASE);
            one.hear(said, heard);
            return heard.available();
        };
        one.wanted = 1;
        assertThat(available.applyAsLong(0)).isEqualTo(PERMITS - 1);
        teller.saveCopy();
        one.operation = one.next();
        one.verb = "take";
        one.amount = 2;
        one.wanted = 2;
        assertThat(available.applyAsLong(1)).isEqualTo(PERMITS - 3);
        assertThat(one.granted + one.taken - one.returned).isEqualTo(3);
        teller.goBack();
        assertThat(available.applyAsLong(1)).as("as before").isEqualTo(PERMITS - 3);
        assertThat(available.applyAsLong(1)).as("once").isEqualTo(PERMITS - 3);
        assertThat(available.applyAsLong(4)).isEqualTo(PERMITS);
    }

    private void check(SemaphoreModel model, Teller teller, Said said, Heard heard) {
        String story = "after " + String.join("\n", log.subList(Math.max(0, log.size() - 12), log.size()));
        assertThat(heard.available()).as(story).isEqualTo(model.available);
        assertThat(heard.permits()).as(story).isEqualTo(model.permits);
        assertThat(teller.queue()).as(story).containsExactlyElementsOf(model.queue);
        Account account = model.accounts.get(said.session());
        if (account == null || account.epoch != said.epoch()) {
            assertThat(heard.status()).as(story).isEqualTo(-1);
        } else {
            assertThat(heard.status()).as(story).isEqualTo(account.open ? 1 : 0);
            assertThat(heard.granted()).as(story).isEqualTo(account.granted);
            assertThat(heard.operation()).as(story).isEqualTo(account.operation);
            assertThat(heard.result()).as(story).isEqualTo(account.result);
        }
        if (heard.status() == 1) {
            long others = model.queue.stream()
                    .filter(waiting -> !waiting.equals(said.session()))
                    .count();
            assertThat(heard.others()).as(story).isEqualTo(others);
        }
        for (String kind : List.of("semaphore", "semaphore-queue", "semaphore-sessions", "semaphore-retired")) {
            assertThat(teller.ttl(kind)).as(kind).isNotEqualTo(-1);
        }
    }
}
