package dev.interlock.examples.election;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Three instances of a service elect a leader, which writes to a ledger with the fencing token of its term.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=election.Succession} kills the first leader, freezes the second one for longer than
 * its lease, has the third one resign, and prints the terms. The ledger refuses what the frozen leader writes when it
 * goes on.
 */
public final class Succession {
    private static final int INSTANCES = 3;
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration REIGN = Duration.ofMillis(700);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** A term of an instance: when it was elected, until when it led, in nanoseconds, and how that ended. */
    private record Term(int instance, long token, long from, long to, String end) {
        Term until(long nanos, String how) {
            return new Term(instance, token, from, nanos, how);
        }
    }

    /** What an instance says of the end of its term. */
    private record Deposition(long nanos, String why, boolean isStaleWriteAccepted) {
        static Deposition parse(String line) {
            String[] words = line.split(" ", 5);
            return new Deposition(Long.parseLong(words[2]), words[3], Boolean.parseBoolean(words[4]));
        }
    }

    private final Fleet fleet;
    private final List<Term> terms = new ArrayList<>();

    private Succession(Fleet fleet) {
        this.fleet = fleet;
    }

    /** Lets four terms follow each other; the exit code is 0 if each leader comes after the one before. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path file = Files.createTempFile("ledger", "");
        Ledger ledger = Ledger.open(file);
        boolean isOk;
        try (RedisServer redis = RedisServer.launch();
                Fleet fleet = Fleet.start(
                        INSTANCES,
                        i -> ChildJvm.of(Instance.class)
                                .arguments(redis.url(), "instance " + i, "" + LEASE.toMillis(), file.toString()))) {
            fleet.awaitAll("READY", PATIENCE);
            fleet.send("STAND");
            var succession = new Succession(fleet);
            isOk = succession.play() && ledger.refused() > 0;
            succession.print();
        } finally {
            Files.delete(file);
        }
        System.out.printf(
                "SUCCESSION %s: %d writes of leaders accepted, %s of a leader that was deposed%n",
                isOk ? "OK" : "FAILED", ledger.accepted(), isOk ? "none" : "or the order is wrong, some");
        System.exit(isOk ? 0 : 1);
    }

    private boolean play() throws InterruptedException {
        Term first = awaitLeader();
        fleet.get(first.instance).kill();
        end(first.until(Monotonic.nanos(), "killed"));

        Term second = awaitLeader();
        ChildJvm frozen = fleet.get(second.instance);
        frozen.stop();
        end(second.until(Monotonic.nanos(), "frozen"));

        Term third = awaitLeader();
        frozen.cont();
        Deposition lost = awaitDeposition(second);
        fleet.get(third.instance).send("RESIGN");
        Deposition resigned = awaitDeposition(third);
        end(third.until(resigned.nanos, "resigned"));

        Term fourth = awaitLeader();
        // One after the other: else the third could be elected once more.
        for (Term next : List.of(third, fourth)) {
            fleet.get(next.instance).send("END");
            fleet.get(next.instance).waitFor(PATIENCE);
        }
        Deposition closed = awaitDeposition(fourth);
        end(fourth.until(closed.nanos, "closed"));
        return isEachAfterTheOneBefore()
                && List.of(lost.why, resigned.why, closed.why).equals(List.of("LOST", "RESIGNED", "CLOSED"))
                && !lost.isStaleWriteAccepted
                && third.instance == INSTANCES - first.instance - second.instance
                && fourth.instance == second.instance;
    }

    /** Waits until an instance is elected whose term isn't known, and has led for a while. */
    private Term awaitLeader() throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (elected().size() <= terms.size()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Nobody is elected after " + terms);
            }
            Thread.sleep(5);
        }
        Thread.sleep(REIGN.toMillis());
        List<Term> elected = elected();
        return elected.get(elected.size() - 1);
    }

    /** Returns the terms that instances have told of, in the order of their tokens. */
    private List<Term> elected() {
        return IntStream.range(0, INSTANCES)
                .boxed()
                .flatMap(i -> fleet.get(i).lines().stream()
                        .filter(line -> line.startsWith("ELECTED "))
                        .map(line -> line.split(" ", 3))
                        .map(words -> new Term(i, Long.parseLong(words[1]), Long.parseLong(words[2]), 0, "")))
                .sorted((one, other) -> Long.compare(one.token, other.token))
                .toList();
    }

    private Deposition awaitDeposition(Term term) {
        return Deposition.parse(fleet.get(term.instance).await("DEPOSED " + term.token + " ", PATIENCE));
    }

    private void end(Term term) {
        terms.add(term);
    }

    private boolean isEachAfterTheOneBefore() {
        return elected().size() == terms.size()
                && IntStream.range(1, terms.size()).allMatch(i -> {
                    Term before = terms.get(i - 1);
                    Term term = terms.get(i);
                    return term.token > before.token && term.from > before.to;
                });
    }

    private void print() {
        long start = terms.get(0).from;
        System.out.println("              token  leader          from       to  ended by  without a leader");
        for (int i = 0; i < terms.size(); i++) {
            Term term = terms.get(i);
            String gap = i == 0 ? "" : seconds(term.from - terms.get(i - 1).to);
            System.out.printf(
                    "%19d  instance %d %s %s  %-8s  %16s%n",
                    term.token, term.instance, seconds(term.from - start), seconds(term.to - start), term.end, gap);
        }
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%6.2f s", nanos / 1e9);
    }
}
