package dev.interlock.lock.fair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.lock.fleet.section.Section;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many threads of several JVMs at a fair lock: they enter in the order in which their tickets reached Redis. */
class FairOrderTest {

    private static final int JVMS = 4;
    private static final int THREADS = 16;
    private static final int SECTIONS = 2_000 / (JVMS * THREADS) + 1;
    private static final int MANY_SECTIONS = 20_000 / (JVMS * THREADS) + 1;
    private static final int RESTLESS_SECTIONS = 25;
    private static final int TENURES_BEFORE_THE_KILL = 400;
    private static final int VICTIM = 0;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** Bits of a fencing token that count the acquisitions of one tenure. */
    private static final int LOCAL_BITS = 14;

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    FairOrderTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** The order of sessions in the sections of four JVMs is exactly the order of sessions in the tickets. */
    @Test
    void sectionsFollowTheOrderOfTickets() throws IOException {
        run(keyspace.name("fair-order"), SECTIONS);
    }

    /** 20,000 of them. */
    @Test
    @Tag("proof")
    void manySectionsFollowTheOrderOfTickets() throws IOException {
        run(keyspace.name("fair-order-many"), MANY_SECTIONS);
    }

    private void run(String name, int sectionsOfThread) throws IOException {
        var log = new TicketLog(name);
        try (var monitor = new RedisMonitor(keyspace.server());
                Fleet fleet = Fleet.start(JVMS, index -> hammer(name, index, LEASE, sectionsOfThread, false))) {
            List<String> sessions = hammer(fleet, monitor, log, false);
            List<Section> sections = sections(name);
            assertThat(sections).hasSize(JVMS * THREADS * sectionsOfThread);
            assertThat(log.arrived()).isEqualTo(sections.size());
            assertThat(log.cancelled()).isEmpty();
            assertThat(log.dropped()).isEmpty();
            Section.assertExclusiveAndFenced(sections);
            List<List<Section>> byTenure = byTenure(sections, sessions, name, log);
            List<Integer> entries = byTenure.stream().map(List::size).toList();
            assertThat(entries)
                    .as("each ticket served once")
                    .isEqualTo(log.tenures().stream()
                            .map(tenure -> tenure.served().size())
                            .toList());
            log.assertServedInOrder(entries);
        }
    }

    /**
     * The same with threads that give up or are interrupted at any moment, and a JVM that is killed in the middle: the
     * order among the others holds, and all of them get through. Again and again.
     */
    @Test
    @Tag("soak")
    void soak() throws IOException {
        long start = System.nanoTime();
        long nanos = TimeUnit.SECONDS.toNanos(Long.getLong("interlock.soak.seconds", 120));
        for (int round = 0; System.nanoTime() - start < nanos; round++) {
            disturb(keyspace.name("fair-soak-" + round));
        }
    }

    private void disturb(String name) throws IOException {
        var log = new TicketLog(name);
        try (var monitor = new RedisMonitor(keyspace.server());
                Fleet fleet = Fleet.start(JVMS, index -> hammer(name, index, SHORT_LEASE, RESTLESS_SECTIONS, true))) {
            List<String> sessions = hammer(fleet, monitor, log, true);
            List<Section> sections = sections(name);
            assertThat(sections).hasSizeGreaterThanOrEqualTo((JVMS - 1) * THREADS * RESTLESS_SECTIONS);
            assertThat(log.cancelled()).isNotEmpty();
            assertThat(log.dropped())
                    .as("tickets taken to be of a dead JVM")
                    .allMatch(ticket -> ticket.startsWith(sessions.get(VICTIM) + ":"));
            Section.assertExclusiveAndFenced(sections);
            List<List<Section>> byTenure = byTenure(sections, sessions, name, log);
            // What the victim had served on its last tenure, it could not tell any more.
            log.assertServedInOrder(byTenure.stream()
                    .map(ofOne -> ofOne.stream().anyMatch(section -> section.jvm() == VICTIM) ? -1 : ofOne.size())
                    .toList());
            reporter.publishEntry(String.format(
                    "%d cancelled, %d dropped",
                    log.cancelled().size(), log.dropped().size()));
        }
    }

    private ChildJvm.Builder hammer(String name, int index, Duration lease, int sections, boolean restless) {
        return FairHammer.of(keyspace.server().url(), name, THREADS, file(name, index), lease, sections, restless);
    }

    private Path file(String name, int index) {
        return folder.resolve(name + "-" + index);
    }

    /** Lets the fleet run, and writes down what Redis sees. Returns the id of each JVM's session. */
    private List<String> hammer(Fleet fleet, RedisMonitor monitor, TicketLog log, boolean kills) throws IOException {
        List<String> sessions = fleet.awaitAll("READY", PATIENCE).stream()
                .map(line -> line.split(" ", 2)[1])
                .toList();
        long start = System.nanoTime();
        fleet.send("go");
        try {
            await("the end of all threads")
                    .pollInterval(Duration.ofMillis(20))
                    .atMost(PATIENCE)
                    .until(() -> {
                        monitor.commands().forEach(log::add);
                        if (kills
                                && fleet.get(VICTIM).isAlive()
                                && log.tenures().size() > TENURES_BEFORE_THE_KILL) {
                            fleet.get(VICTIM).kill();
                        }
                        return living(fleet).allMatch(child -> child.lines().contains("DONE"));
                    });
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(dump(fleet), e);
        }
        fleet.send("stop");
        IntStream.range(kills ? 1 : 0, JVMS).mapToObj(fleet::get).forEach(child -> {
            child.await("STOPPED", PATIENCE);
            assertThat(child.waitFor(PATIENCE)).isZero();
        });
        monitor.commands().forEach(log::add);
        assertThat(fleet.get(VICTIM).waitFor(PATIENCE) == 0)
                .as("alive to the end")
                .isNotEqualTo(kills);
        for (ChildJvm child : fleet) {
            assertThat(child.lines()).noneMatch(line -> line.startsWith("LOST") || line.startsWith("PASSED"));
        }
        reporter.publishEntry(String.format(
                "%d tickets, %d tenures, %d ms",
                log.arrived(), log.tenures().size(), (System.nanoTime() - start) / 1_000_000));
        return sessions;
    }

    private static Stream<ChildJvm> living(Fleet fleet) {
        return IntStream.range(0, fleet.size()).mapToObj(fleet::get).filter(ChildJvm::isAlive);
    }

    private static String dump(Fleet fleet) {
        var text = new StringBuilder();
        living(fleet).forEach(child -> {
            child.send("dump");
            child.await("DUMPED", PATIENCE);
            text.append(child)
                    .append(":\n")
                    .append(String.join("\n", child.lines()))
                    .append('\n');
        });
        return text.toString();
    }

    private List<Section> sections(String name) throws IOException {
        List<Section> sections = new ArrayList<>();
        for (int i = 0; i < JVMS; i++) {
            sections.addAll(SectionLog.read(i, file(name, i), THREADS));
        }
        return sections;
    }

    /** The sections of each tenure, told by their tokens: every tenure draws the next one from Redis. */
    private List<List<Section>> byTenure(List<Section> sections, List<String> sessions, String name, TicketLog log) {
        Map<Long, List<Section>> byToken = new TreeMap<>();
        sections.forEach(section -> byToken.computeIfAbsent(section.token() >> LOCAL_BITS, token -> new ArrayList<>())
                .add(section));
        long last = Long.parseLong(String.valueOf(keyspace.server().command("GET", "interlock:{" + name + "}:token")));
        int tenures = log.tenures().size();
        List<List<Section>> byTenure = new ArrayList<>();
        for (long token = last - tenures + 1; token <= last; token++) {
            List<Section> ofOne = byToken.remove(token);
            String session = log.tenures().get(byTenure.size()).session();
            byTenure.add(ofOne == null ? List.of() : ofOne);
            assertThat(byTenure.get(byTenure.size() - 1))
                    .as("on a tenure of %s", session)
                    .allMatch(section -> sessions.get(section.jvm()).equals(session));
        }
        assertThat(byToken).as("sections of no tenure that Redis has seen").isEmpty();
        return byTenure;
    }
}
