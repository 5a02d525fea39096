package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The library as it is, on seeds that nobody has seen before, and on those that once failed. */
@Timeout(value = 24, unit = TimeUnit.HOURS)
class SimulationTest {
    private static void find(long seconds, long first, long most) {
        find(new Search(Plan::of), seconds, first, most);
    }

    private static void find(Search search, long seconds, long first, long most) {
        Search.Failure failure = null;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        for (long seed = first; failure == null && seed - first < most && System.nanoTime() - end < 0; seed++) {
            failure = search.of(seed);
        }
        System.out.println("Simulation: " + search + ", from seed " + first);
        assertThat(failure).as("a schedule that fails").isNull();
    }

    /**
     * A changed library draws new seeds, an unchanged one those that it has passed: so the build doesn't fail by luck.
     */
    @Test
    void findsNothing() {
        find(Long.getLong("interlock.simulation.seconds", 30), seedOfSources(), 400);
    }

    private static long seedOfSources() {
        Hasher hasher = Hashing.sha256().newHasher();
        try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                hasher.putBytes(Files.readAllBytes(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return hasher.hash().asLong() >>> 16;
    }

    @Test
    void findsNothingInHolds() {
        find(holds(), 15, seedOfSources(), 150);
    }

    private static Search holds() {
        return new Search(seed -> Plan.of(seed, Focus.HOLDS));
    }

    @Test
    @Tag("proof")
    void findsNothingInHoldsForLonger() {
        find(holds(), 60, 1, 800);
    }

    @Test
    void findsNothingInElections() {
        find(elections(), 15, seedOfSources(), 150);
    }

    private static Search elections() {
        return new Search(seed -> Plan.of(seed, Focus.ELECTIONS));
    }

    @Test
    @Tag("proof")
    void findsNothingInElectionsForLonger() {
        find(elections(), 60, 1, 800);
    }

    @Test
    @Tag("proof")
    void findsNothingForMinutes() {
        find(90, 1, 800);
    }

    @Test
    @Tag("soak")
    void findsNothingForLong() {
        long first = Math.abs(new SecureRandom().nextLong() >> 16);
        find(Long.getLong("interlock.soak.seconds"), first, Long.MAX_VALUE);
    }
}
