package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.ChildJvm;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Several child JVMs with a crew each. */
final class Ensemble implements Site {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Iterable<ChildJvm> players;
    private final ByteBuffer page;
    private final long sumBefore;
    private final Runnable after;

    /**
     * Has children form crews.
     *
     * @param page that they share
     * @param after what is to be done when they have disbanded
     */
    Ensemble(Iterable<ChildJvm> players, ByteBuffer page, Addresses addresses, Runnable after) {
        this.players = players;
        this.page = page;
        this.sumBefore = Ledger.total(page);
        this.after = after;
        send("gather " + addresses.line());
        replies(players, "gathered");
    }

    @Override
    public void open(String contestant) {
        send("open " + contestant);
        replies(players, "opened");
    }

    @Override
    public Tally play(Round round) {
        send(round.line());
        var patience = PATIENCE.plusNanos(round.endNanos() - round.startNanos());
        return Tally.sum(
                replies(players, "tally", patience).stream().map(Tally::parse).toList());
    }

    @Override
    public long sum() {
        return Ledger.total(page) - sumBefore;
    }

    @Override
    public void close() {
        try {
            send("disband");
            replies(players, "disbanded");
        } finally {
            after.run();
        }
    }

    private void send(String line) {
        players.forEach(player -> player.send(line));
    }

    /** What each of them says when it has done what it was told. */
    static List<String> replies(Iterable<ChildJvm> players, String word) {
        return replies(players, word, PATIENCE);
    }

    private static List<String> replies(Iterable<ChildJvm> players, String word, Duration patience) {
        long deadlineNanos = System.nanoTime() + patience.toNanos();
        var lines = new ArrayList<String>();
        try {
            for (ChildJvm player : players) {
                lines.add(player.await(word, Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()))));
            }
        } catch (AssertionError e) {
            throw new IllegalStateException("A child JVM failed", e);
        }
        return lines;
    }
}
