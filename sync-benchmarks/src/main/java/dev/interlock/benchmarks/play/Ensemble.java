package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.Fleet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Several child JVMs with a crew each. */
final class Ensemble implements Site {

    private static final Duration PATIENCE = Duration.ofSeconds(45);

    private final Fleet fleet;
    private final ByteBuffer page;

    private Ensemble(Fleet fleet, ByteBuffer page) {
        this.fleet = fleet;
        this.page = page;
    }

    static Ensemble start(int jvms, Addresses addresses) {
        try {
            Path file = Files.createTempFile("interlock-scoreboard", ".ledger");
            try {
                var page = Ledger.page(file);
                var ensemble = new Ensemble(Fleet.start(jvms, Worker.class, addresses.line(), file.toString()), page);
                ensemble.replies("ready");
                return ensemble;
            } finally {
                if (!file.toFile().delete()) { // where a mapped file can't be deleted
                    file.toFile().deleteOnExit();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void open(String contestant) {
        fleet.send("open " + contestant);
        replies("opened");
    }

    @Override
    public Tally play(Round round) {
        fleet.send(round.line());
        var patience = PATIENCE.plusNanos(round.endNanos() - round.startNanos());
        return Tally.sum(replies("tally", patience).stream().map(Tally::parse).toList());
    }

    @Override
    public long sum() {
        return Ledger.sum(page);
    }

    @Override
    public void close() {
        try (fleet) {
            fleet.send("close");
            replies("closed");
        }
    }

    private List<String> replies(String word) {
        return replies(word, PATIENCE);
    }

    private List<String> replies(String word, Duration patience) {
        try {
            return fleet.awaitAll(word, patience);
        } catch (AssertionError e) {
            throw new IllegalStateException("A child JVM failed", e);
        }
    }
}
