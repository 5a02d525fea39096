package dev.interlock.benchmarks.pages;

import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Numbers;
import dev.interlock.benchmarks.report.Results;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The charts of a run, with at most six contestants each, and what they mean. */
final class Charts {

    /** The one that the README shows, too. */
    static final String THREADS = "throughput-threads";

    /** One of each kind; the tables have all. */
    private static final List<String> LOCKS =
            List.of("Interlock", "RLock", "SETNX", "Spring-pubsub", "Curator", "Postgres-advisory");

    private static final String NEW_NAME = "Interlock, new name";

    private record Duel(String place, String scenario, String peer) {}

    private static final List<Duel> DUELS = List.of(
            new Duel("fair lock", "fair-1jvm-8t", "RFairLock"),
            new Duel("fair, 4 JVMs", "fair-4jvm-4t", "RFairLock"),
            new Duel("reading", "read-1jvm-8t", "RReadWriteLock"),
            new Duel("10 % writing, 2 JVMs", "rw-90-10-2jvm-4t", "RReadWriteLock"),
            new Duel("semaphore", "semaphore-1jvm-8t-4p", "RSemaphore"),
            new Duel("semaphore, 2 JVMs", "semaphore-2jvm-4t-4p", "RSemaphore"),
            new Duel("rate limiter", "rate-bucket-8t", "RRateLimiter"));

    private final Results results;

    private Charts(Results results) {
        this.results = results;
    }

    /** Those in which there is something. */
    static List<Chart> of(Results results, Optional<Jmh> jmh) {
        var charts = new Charts(results);
        return Stream.concat(
                        Stream.of(
                                charts.uncontended(),
                                charts.threads(),
                                charts.jvms(),
                                charts.handOffs(),
                                charts.duels()),
                        Stream.concat(
                                jmh.map(Jmh::chart).stream(),
                                Stream.of(charts.growthWithWaiters(), charts.growthWithSessions())))
                .filter(chart -> !chart.plot().isEmpty())
                .toList();
    }

    private Chart uncontended() {
        var plot = Plot.ofTimes(
                "Lock and unlock by one thread (less is better)",
                List.of("Interlock", NEW_NAME, "RLock", "SETNX", "Curator", "Postgres-advisory"));
        String scenario = "uncontended-1t";
        String newNames = "uncontended-new-names-1t";
        String faster = Losses.ahead(results, newNames, scenario, Figure.P50);
        LOCKS.stream()
                .filter(lock -> !lock.equals("Spring-pubsub"))
                .forEach(lock -> results.of(scenario, lock).ifPresent(one -> dot(plot, lock, one)));
        results.ours(newNames).ifPresent(one -> dot(plot, NEW_NAME, one));
        limit(plot, "two round trips", scenario, "round-trip", 2);
        limit(plot, "JDK's lock", scenario, "ReentrantLock", 1);
        return new Chart(
                "uncontended",
                plot,
                paragraph(
                        "A session keeps a name for up to 10 ms after `unlock()`, so a thread that takes it again and"
                                + " again seldom needs Redis. A new name costs a round trip to lock; the command that"
                                + " unlocks it isn't waited for.",
                        faster.isEmpty() ? "" : "Faster than our lock of a new name: " + faster + ".",
                        behind(Figure.RATE, List.of(scenario, newNames))));
    }

    private Chart threads() {
        Map<String, String> scenarios = scenarios("throughput-1jvm-", "t", "1", "2", "4", "8", "16", "32", "64");
        var plot = throughput("Threads of one JVM, empty section (more is better)", "threads", scenarios);
        scenarios.forEach((threads, scenario) -> results.of(scenario, "ReentrantLock")
                .ifPresent(jdk -> plot.limit("JDK's lock", threads, jdk.median())));
        String eight = "throughput-1jvm-8t";
        return new Chart(
                THREADS,
                plot,
                paragraph(
                        "Threads of one JVM hand the lock to each other without a round trip until another JVM wants"
                                + " it: local hand-offs stand against round trips.",
                        ratio(
                                "With 8 threads ours does ",
                                eight,
                                "ReentrantLock",
                                Figure.RATE,
                                " × what the JDK's does."),
                        waits(eight),
                        behind(Figure.RATE, scenarios.values())));
    }

    private Chart jvms() {
        Map<String, String> scenarios = scenarios("throughput-", "jvm-2t", "2", "4", "8");
        return new Chart(
                "throughput-jvms",
                throughput("JVMs with two threads each, empty section (more is better)", "JVMs", scenarios),
                paragraph(
                        "A JVM keeps the name for 10 ms while others wait, and its threads hand it over locally"
                                + " meanwhile: more throughput, longer waits.",
                        waits("throughput-4jvm-2t"),
                        behind(Figure.RATE, scenarios.values())));
    }

    private Plot throughput(String title, String places, Map<String, String> scenarios) {
        var plot = Plot.ofLines(title, places, "sections per second", List.copyOf(scenarios.keySet()));
        LOCKS.forEach(lock -> scenarios.forEach(
                (place, scenario) -> results.of(scenario, lock).ifPresent(one -> plot.add(lock, place, one.median()))));
        return plot;
    }

    private Chart handOffs() {
        var plot = Plot.ofTimes("From release in one JVM to entry in another (less is better)", LOCKS);
        String scenario = "handoff-2jvm";
        LOCKS.forEach(lock -> results.of(scenario, lock).ifPresent(one -> dot(plot, lock, one)));
        limit(plot, "bare message", scenario, "pubsub-echo", 1);
        String fair = "fair-handoff-2jvm-1t";
        String said = Stream.of("RFairLock", "RLock", "pubsub-echo")
                .flatMap(peer -> results.ratio(fair, peer, Figure.RATE).stream()
                        .map(ratio -> Numbers.ratio(ratio.value()) + " × `" + peer + "`'s"))
                .collect(Collectors.joining(", "));
        return new Chart(
                "handoff-latency",
                plot,
                paragraph(
                        "A release, a message, and a thread that has to be woken.",
                        ratio("Ours takes ", scenario, "pubsub-echo", Figure.P50, " × as long as a bare message."),
                        said.isEmpty() ? "" : "The fair lock makes " + said + " hand-offs per second.",
                        behind(Figure.P50, List.of(scenario)),
                        behind(Figure.RATE, List.of(fair))));
    }

    private Chart duels() {
        var plot = Plot.ofDots(
                "Other synchronizers beside Redisson's (more is better)",
                "operations per second",
                DUELS.stream().map(Duel::place).toList());
        for (Duel duel : DUELS) {
            results.ours(duel.scenario()).ifPresent(one -> rounds(plot, "Interlock", duel.place(), one));
            results.of(duel.scenario(), duel.peer()).ifPresent(one -> rounds(plot, "Redisson", duel.place(), one));
        }
        return new Chart(
                "others",
                plot,
                paragraph(
                        "Eight threads in one JVM or in two, sixteen in four. A fair lock needs a place in Redis' queue"
                                + " for each acquisition, readers share one lease, and a rate limiter without prefetch"
                                + " asks Redis for each permit.",
                        waits("semaphore-2jvm-4t-4p"),
                        behind(Figure.RATE, DUELS.stream().map(Duel::scenario).toList())));
    }

    private Chart growthWithWaiters() {
        Map<String, String> scenarios = scenarios("growth-waiters-", "", "10", "100", "1000");
        var plot = Plot.ofTimeLines(
                "From turn to turn, threads of two sessions (less is better)",
                "threads that want one name",
                List.copyOf(scenarios.keySet()));
        scenarios.forEach((place, scenario) -> results.of(scenario).forEach(one -> turn(plot, place, one)));
        return new Chart(
                "growth-waiters",
                plot,
                paragraph(
                        "A thread comes back as soon as it has had its turn, so the others always wait. What a turn in"
                                + " order costs should not depend on the length of the queue.",
                        growth("From 10 to 1,000 threads", "growth-waiters-10", "growth-waiters-1000"),
                        commands("growth-waiters-1000"),
                        behind(Figure.RATE, scenarios.values())));
    }

    private Chart growthWithSessions() {
        Map<String, String> plain = scenarios("growth-sessions-", "", "1", "10", "50");
        Map<String, String> fair = scenarios("growth-sessions-fair-", "", "1", "10", "50");
        plain.put("200", "fleet-200-1n");
        fair.put("200", "fleet-200-fair-1n");
        var plot = Plot.ofTimeLines(
                "From turn to turn, sessions with five threads each (less is better)",
                "sessions that want one name",
                List.copyOf(plain.keySet()));
        plain.forEach((place, scenario) -> results.of(scenario).forEach(one -> turn(plot, place, one)));
        fair.forEach((place, scenario) -> results.of(scenario).stream()
                .filter(one -> !one.contestant().equals("RLock")) // it has its place among the others
                .forEach(one -> turn(plot, place, one)));
        return new Chart(
                "growth-sessions",
                plot,
                paragraph(
                        "A release of an `RLock` wakes all sessions that wait, and each of them asks Redis again; ours"
                                + " wakes the one that is next. The sessions are spread over two JVMs; one session has"
                                + " a JVM to itself.",
                        growth("From 10 to 200 sessions", "growth-sessions-10", "fleet-200-1n"),
                        growth("With fair locks", "growth-sessions-fair-10", "fleet-200-fair-1n"),
                        commands("fleet-200-1n"),
                        behind(Figure.RATE, plain.values()),
                        behind(Figure.RATE, fair.values())));
    }

    /** How many times as long a turn takes in the second scenario as in the first. */
    private String growth(String before, String first, String last) {
        String times = results.of(first).stream()
                .flatMap(one -> results.of(last, one.contestant()).stream()
                        .map(other -> Numbers.ratio(one.median() / other.median()) + " × (`" + one.contestant() + "`)"))
                .collect(Collectors.joining(", "));
        return times.isEmpty() ? "" : before + " the time of a turn grows to " + times + ".";
    }

    private String commands(String scenario) {
        String each = results.of(scenario).stream()
                .filter(one -> Figure.COMMANDS.of(one) != null)
                .map(one -> Figure.COMMANDS.text(one) + " (`" + one.contestant() + "`)")
                .collect(Collectors.joining(", "));
        return each.isEmpty() ? "" : "Commands of Redis for each turn in `" + scenario + "`: " + each + ".";
    }

    /** A logarithmic axis has no place for a contestant that had no turn. */
    private static void turn(Plot plot, String place, Measurement one) {
        if (one.median() > 0) {
            plot.add(one.contestant(), place, 1e9 / one.median());
            var rounds = one.perSecond().stream()
                    .filter(rate -> rate > 0)
                    .mapToDouble(rate -> 1e9 / rate)
                    .summaryStatistics();
            plot.span(one.contestant(), place, rounds.getMin(), rounds.getMax());
        }
    }

    /** By place. */
    private static Map<String, String> scenarios(String before, String after, String... places) {
        var scenarios = new LinkedHashMap<String, String>();
        for (String place : places) {
            scenarios.put(place, before + place + after);
        }
        return scenarios;
    }

    private static void dot(Plot plot, String name, Measurement one) {
        Double median = Figure.P50.of(one);
        Double most = Figure.P90.of(one);
        if (median != null) {
            plot.add(name, name, 1_000 * median);
            plot.span(name, name, 1_000 * median, 1_000 * (most == null ? median : most));
        }
    }

    private static void rounds(Plot plot, String name, String place, Measurement one) {
        plot.add(name, place, one.median());
        var rounds = one.perSecond().stream().mapToDouble(Double::doubleValue).summaryStatistics();
        plot.span(name, place, rounds.getMin(), rounds.getMax());
    }

    private void limit(Plot plot, String name, String scenario, String contestant, int times) {
        results.of(scenario, contestant).ifPresent(one -> {
            Double micros = Figure.P50.of(one);
            if (micros != null) {
                plot.limit(name, times * 1_000 * micros);
            }
        });
    }

    private static String paragraph(String... sentences) {
        return Stream.of(sentences).filter(sentence -> !sentence.isEmpty()).collect(Collectors.joining(" "));
    }

    private String ratio(String before, String scenario, String peer, Figure figure, String after) {
        return results.ratio(scenario, peer, figure)
                .map(ratio -> before + Numbers.ratio(ratio.value()) + after)
                .orElse("");
    }

    /** How long a thread waited at most, and whose longest waits were shorter. */
    private String waits(String scenario) {
        Optional<Measurement> ours = results.ours(scenario).filter(one -> Figure.LONGEST_WAIT.of(one) != null);
        String shorter = Losses.ahead(results, scenario, Figure.LONGEST_WAIT);
        return ours.map(one -> "Longest wait in `" + scenario + "`: " + Figure.LONGEST_WAIT.text(one) + " ms"
                        + (shorter.isEmpty() ? ", the shortest of all." : "; shorter: " + shorter + "."))
                .orElse("");
    }

    private String behind(Figure figure, Collection<String> scenarios) {
        String ahead = scenarios.stream()
                .map(scenario -> Map.entry(scenario, Losses.ahead(results, scenario, figure)))
                .filter(entry -> !entry.getValue().isEmpty())
                .map(entry -> entry.getValue() + " in `" + entry.getKey() + "`")
                .collect(Collectors.joining("; "));
        return ahead.isEmpty() ? "" : "**Ahead of ours**: " + ahead + ".";
    }
}
