package dev.interlock.examples.election;

import dev.interlock.Interlock;
import dev.interlock.election.Candidate;
import dev.interlock.election.Term;
import dev.interlock.election.TermListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * An instance of a service, which stands for election. While it leads, it writes to the ledger every few milliseconds,
 * and doesn't look whether its term is still valid: the fencing token is what the ledger goes by.
 */
final class Instance implements TermListener {
    private static final long PERIOD_MILLIS = 20;

    private final Ledger ledger;

    private Instance(Ledger ledger) {
        this.ledger = ledger;
    }

    /**
     * Stands when it is told to, and until it is told to end: with a Redis, a name, a lease in milliseconds and a
     * ledger.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        var instance = new Instance(Ledger.open(Path.of(args[3])));
        try (Interlock interlock = Interlock.builder()
                .uri(args[0])
                .lease(Duration.ofMillis(Long.parseLong(args[2])))
                .open()) {
            ChildConsole.say("READY");
            ChildConsole.readCommand();
            Candidate candidate = interlock.election("leader").as(args[1]).stand(instance);
            while (!ChildConsole.readCommand().equals("END")) {
                candidate.resign().toCompletableFuture().join();
            }
            candidate.close();
            candidate.ended().toCompletableFuture().join();
        }
    }

    @Override
    public void elected(Term term) throws InterruptedException {
        long token = term.fencingToken();
        say("ELECTED", token, "");
        // The thread is interrupted when the term ends.
        while (true) {
            ledger.write(token);
            Thread.sleep(PERIOD_MILLIS);
        }
    }

    @Override
    public void deposed(Term term, Term.End why) {
        boolean isStaleWriteAccepted = false;
        if (why == Term.End.LOST) {
            // As a write that was under way when the lease ended.
            isStaleWriteAccepted = ledger.write(term.fencingToken());
        }
        say("DEPOSED", term.fencingToken(), " " + why + " " + isStaleWriteAccepted);
    }

    private static void say(String what, long token, String more) {
        ChildConsole.say(what + " " + token + " " + Monotonic.nanos() + more);
    }
}
