package dev.interlock.internal.latch;

import dev.interlock.internal.SessionId;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A latch of its own for each test, and the commands that sessions send about it. */
abstract class LatchScriptFixture {
    static final int GONE = 0;
    static final int COUNTING = 1;
    static final int OPEN = 2;
    static final int PAST = 3;
    static final int OTHER_COUNT = 4;
    static final long DAY = 86_400_000;
    static final long DELAY = 300_000;

    private static final String SCRIPT = Script.load("latch/tell").text();
    private static final AtomicLong VERSIONS = new AtomicLong();

    static RedisServer server;
    String latch = "";

    @BeforeAll
    static void start() {
        server = RedisServer.launch();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void nameTheLatch() {
        server.command("FLUSHALL");
        server.command("CONFIG", "RESETSTAT");
        latch = "interlock:{" + UUID.randomUUID() + "}:latch";
    }

    /** What Redis has answered. */
    record Answer(int status, long left, long count, long born) {}

    /** What a session has to say; sent as often as one likes. */
    record Command(
            String session,
            String contributor,
            long version,
            long born,
            long total,
            boolean waits,
            long count,
            long retention) {
        Command counting(long newTotal) {
            return new Command(session, contributor, next(), born, newTotal, waits, count, retention);
        }

        Command waiting() {
            return new Command(session, contributor, next(), born, total, true, count, retention);
        }

        Command of(long latchBorn) {
            return new Command(session, contributor, next(), latchBorn, total, waits, count, retention);
        }

        boolean joins() {
            return born == 0;
        }
    }

    static long next() {
        return VERSIONS.incrementAndGet() << 20;
    }

    static String session() {
        return SessionId.fresh("");
    }

    /** A join by an object of that session. */
    static Command join(String session, long count, long retention) {
        return new Command(session, session + ":" + next(), next(), 0, 0, false, count, retention);
    }

    static Command join(long count) {
        return join(session(), count, DAY);
    }

    /** Joins, and returns a command of that object about the latch that it has joined. */
    final Command joined(long count) {
        return joined(join(count));
    }

    final Command joined(Command join) {
        return join.of(send(join).born());
    }

    final Answer send(Command command) {
        return send(command, command.count());
    }

    /** Sends it on behalf of an object by which the count can't be more than that. */
    final Answer send(Command command, long most) {
        List<String> words = new ArrayList<>(List.of(
                "EVAL",
                SCRIPT,
                "5",
                latch,
                totals(),
                waiters(),
                mark(command.session()),
                opened(command.born()),
                command.session(),
                command.contributor()));
        for (long argument : new long[] {
            command.version(),
            command.born(),
            command.total(),
            command.waits() ? 1 : 0,
            command.count(),
            command.retention(),
            most
        }) {
            words.add(Long.toString(argument));
        }
        if (!(server.command(words.toArray(String[]::new)) instanceof List<?> reply)) {
            throw new IllegalStateException("not a list");
        }
        List<Long> numbers = reply.stream().map(Long.class::cast).toList();
        return new Answer(numbers.get(0).intValue(), numbers.get(1), numbers.get(2), numbers.get(3));
    }

    final String totals() {
        return "interlock:totals:" + latch;
    }

    final String waiters() {
        return "interlock:waiters:" + latch;
    }

    final String mark(String session) {
        return "interlock:mark:" + session + ":" + latch;
    }

    final String opened(long born) {
        return "interlock:opened:" + born + ":" + latch;
    }

    static long number(String... command) {
        return server.command(command) instanceof Long number ? number : -1;
    }

    static long published() {
        return server.commandCalls("publish");
    }
}
