package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Child JVMs that can play in one scenario after the other: to start one takes seconds. */
final class Troupe implements AutoCloseable {

    private final Fleet fleet;
    private final ByteBuffer page;

    private Troupe(Fleet fleet, ByteBuffer page) {
        this.fleet = fleet;
        this.page = page;
    }

    static Troupe start(int jvms) {
        try {
            Path file = Files.createTempFile("interlock-scoreboard", ".ledger");
            try {
                ByteBuffer page = Ledger.page(file);
                var troupe = new Troupe(Fleet.start(jvms, index -> worker(file)), page);
                Ensemble.replies(troupe.fleet, "ready");
                return troupe;
            } finally {
                if (!file.toFile().delete()) { // where a mapped file can't be deleted
                    file.toFile().deleteOnExit();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // A hundred sessions of each contestant need some room.
    private static ChildJvm.Builder worker(Path file) {
        return ChildJvm.of(Worker.class).options("-Xmx1g").arguments(file.toString());
    }

    /** Those of a scenario; the others do nothing meanwhile. They come back when it is closed. */
    Ensemble ensemble(int jvms, Addresses addresses) {
        List<ChildJvm> players = new ArrayList<>();
        for (int i = 0; i < jvms; i++) {
            players.add(fleet.get(i));
        }
        return new Ensemble(players, page, addresses, () -> {});
    }

    /** All of them, for one scenario alone. */
    static Ensemble once(int jvms, Addresses addresses) {
        Troupe troupe = start(jvms);
        return new Ensemble(troupe.fleet, troupe.page, addresses, troupe::close);
    }

    @Override
    public void close() {
        try (fleet) {
            fleet.send("close");
            Ensemble.replies(fleet, "closed");
        }
    }
}
