package dev.interlock.lock.fair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Rig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many threads of several JVMs at a fair lock: they enter in the order in which their tickets reached Redis. */
class FairOrderTest {

    private static final int JVMS = 4;
    private static final int THREADS = 16;
    private static final int SECTIONS = 8_000 / (JVMS * THREADS);
    private static final int RESTLESS_SECTIONS = 25;
    private static final int TENURES_BEFORE_THE_KILL = 400;
    private static final int VICTIM = 0;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** Bits of a fencing token that count the acquisitions of one tenure. */
    private static final int LOCAL_BITS = 14;

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    /** The order of sessions in 8,000 sections of four JVMs is exactly the order of sessions in the tickets. */
    @Test
    @Tag("proof")
    void sectionsFollowTheOrderOfTickets() throws IOException {
        String name = rig.name("fair-order");
        var log = new TicketLog(name);
        try (var monitor = new RedisMonitor(rig.keyspace().server());
                var hammers = hammers(name, LEASE, SECTIONS, false)) {
            hammer(hammers, monitor, log, false);
            List<String> sessions = hammers.greetings();
            List<Section> sections = hammers.records();
            assertThat(sections).hasSize(JVMS * THREADS * SECTIONS);
            assertThat(log.arrived()).isEqualTo(sections.size());
            assertThat(log.cancelled()).isEmpty();
            assertThat(log.dropped()).isEmpty();
            Section.assertExclusiveAndFenced(sections);
            List<List<Section>> byTenure = byTenure(sections, sessions, log);
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
        Rig.soak(round -> disturb(rig.name("fair-soak-" + round)));
    }

    private void disturb(String name) throws IOException {
        var log = new TicketLog(name);
        try (var monitor = new RedisMonitor(rig.keyspace().server());
                var hammers = hammers(name, SHORT_LEASE, RESTLESS_SECTIONS, true)) {
            hammer(hammers, monitor, log, true);
            List<String> sessions = hammers.greetings();
            List<Section> sections = hammers.records();
            assertThat(sections).hasSizeGreaterThanOrEqualTo((JVMS - 1) * THREADS * RESTLESS_SECTIONS);
            assertThat(log.cancelled()).isNotEmpty();
            assertThat(log.dropped())
                    .as("tickets taken to be of a dead JVM")
                    .allMatch(ticket -> ticket.startsWith(sessions.get(VICTIM) + ":"));
            Section.assertExclusiveAndFenced(sections);
            List<List<Section>> byTenure = byTenure(sections, sessions, log);
            // What the victim had served on its last tenure, it could not tell any more.
            log.assertServedInOrder(byTenure.stream()
                    .map(ofOne -> ofOne.stream().anyMatch(section -> section.jvm() == VICTIM) ? -1 : ofOne.size())
                    .toList());
            rig.report(String.format(
                    "%d cancelled, %d dropped",
                    log.cancelled().size(), log.dropped().size()));
        }
    }

    private Hammers<Section> hammers(String name, Duration lease, int sections, boolean restless) {
        return Hammers.start(
                Section.LOG,
                IntStream.range(0, JVMS)
                        .mapToObj(index -> folder.resolve(name + "-" + index))
                        .map(file -> FairWork.task(rig.url(), name, THREADS, file, lease, restless)
                                .most(sections))
                        .toList());
    }

    /** Lets all run until they are through, and writes down what Redis sees. */
    private void hammer(Hammers<Section> hammers, RedisMonitor monitor, TicketLog log, boolean kills)
            throws IOException {
        ChildJvm victim = hammers.get(VICTIM);
        long start = System.nanoTime();
        hammers.go();
        try {
            await("the end of all threads")
                    .pollInterval(Duration.ofMillis(20))
                    .atMost(PATIENCE)
                    .until(() -> {
                        monitor.commands().forEach(log::add);
                        if (kills && victim.isAlive() && log.tenures().size() > TENURES_BEFORE_THE_KILL) {
                            hammers.kill(victim);
                        }
                        return hammers.running().stream()
                                .allMatch(child -> child.lines().contains("DONE"));
                    });
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(hammers.dump(), e);
        }
        assertThat(victim.isAlive()).as("alive to the end").isNotEqualTo(kills);
        hammers.stop();
        monitor.commands().forEach(log::add);
        hammers.assertNoneSaid("PASSED");
        rig.report(log.arrived() + " tickets, " + log.tenures().size() + " tenures", start, System.nanoTime());
    }

    /** The sections of each tenure, told by their tokens. */
    private static List<List<Section>> byTenure(List<Section> sections, List<String> sessions, TicketLog log) {
        Map<Long, List<Section>> byToken = new TreeMap<>();
        sections.forEach(section -> byToken.computeIfAbsent(section.token() >> LOCAL_BITS, token -> new ArrayList<>())
                .add(section));
        List<List<Section>> byTenure = new ArrayList<>();
        for (TicketLog.Tenure tenure : log.tenures()) {
            List<Section> ofOne = Objects.requireNonNullElse(byToken.remove(tenure.token()), List.of());
            assertThat(ofOne)
                    .as("on a tenure of %s", tenure.session())
                    .allMatch(section -> sessions.get(section.jvm()).equals(tenure.session()));
            byTenure.add(ofOne);
        }
        assertThat(byToken).as("sections of no tenure that Redis has seen").isEmpty();
        return byTenure;
    }
}
