package dev.interlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.ops.FleetView;
import dev.interlock.ops.NameView;
import dev.interlock.ops.Operator;
import dev.interlock.ops.SessionView;
import dev.interlock.testing.Actor;
import dev.interlock.testing.TooLate;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** An operator is told of all names that sessions hold, or which sessions have not told theirs. */
@Tag("proof")
class HeldNamesTest extends FaultFixture {
    private static final Duration SOON = Duration.ofSeconds(3);

    /** Later than anybody waits for an answer. */
    private static final Duration LATE = Duration.ofSeconds(5);

    private static final int ACTORS = 4;
    private static final int FEW = 2_500;
    private static final int MANY = 10_000;

    /** Four times as many names take four times as long; sixteen times, if the work is quadratic. */
    private static final int MOST_FACTOR = 9;

    private static final int LOOKS = 5;

    @Override
    protected String lasting() {
        return super.lasting() + "|:semaphore(-sessions|-retired)?$";
    }

    /** Holds names {@code <prefix>0} and so on. */
    private Interlock holding(String prefix, int count) {
        Interlock session = session();
        List<CompletableFuture<Boolean>> holds = new ArrayList<>();
        for (int i = 0; i < ACTORS; i++) {
            int first = i;
            Actor actor = actor("holder-" + i);
            holds.add(actor.begin(() -> {
                for (int name = first; name < count; name += ACTORS) {
                    session.lock(prefix + name).lock();
                }
            }));
        }
        holds.forEach(CompletableFuture::join);
        return session;
    }

    /** What is left of thousands of names would take long to look through. */
    private void close(Interlock session) {
        session.close();
        server().command("FLUSHALL");
    }

    private String run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine(Map.of("INTERLOCK_REDIS", server().url()), false)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err));
        int code = line.execute(arguments);
        return code + " " + out + err;
    }

    @Test
    void allHeldNamesAreShown() {
        assertAllAreShown(1_000);
    }

    @Test
    void tenThousandHeldNamesAreShown() {
        assertAllAreShown(MANY);
    }

    private void assertAllAreShown(int count) {
        Interlock session = holding("order:", count);
        Operator operator = undisturbed().operator();
        long begun = System.nanoTime();
        FleetView seen = operator.look("*");
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(seen.silent()).isEmpty();
        assertThat(seen.names()).hasSize(count);
        assertThat(operator.find("order:1*")).hasSizeGreaterThan(count / 10);
        assertThat(operator.inspect("order:" + (count - 1))).hasSize(1);
        assertThat(run("ls").lines().filter(line -> line.startsWith("order:"))).hasSize(count);
        assertThat(run("top", "--count", "1"))
                .contains("(0 silent), " + count + " names, 0 waiting")
                .doesNotContain("Silent");
        close(session);
        TooLate.assertWithin("a look at " + count + " names", SOON, took);
    }

    @Test
    void theWorkOfALookGrowsWithTheNumberOfNames() {
        Interlock few = holding("few:", FEW);
        Interlock many = holding("many:", MANY);
        Operator operator = undisturbed().operator();
        for (int i = 0; i < LOOKS; i++) {
            assertThat(operator.find("many:*")).hasSize(MANY);
        }
        long little = leastNanos(operator, "few:*", FEW);
        long much = leastNanos(operator, "many:*", MANY);
        close(few);
        close(many);
        assertThat(much).as("%d and %d ns of processor time", little, much).isLessThan(little * MOST_FACTOR);
    }

    private static long leastNanos(Operator operator, String glob, int count) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < LOOKS; i++) {
            long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            assertThat(operator.look(glob).names().size()).isEqualTo(count);
            least = Math.min(least, ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before);
        }
        return least;
    }

    private static boolean isReport(List<String> words) {
        return words.stream().anyMatch(word -> word.startsWith("v "));
    }

    /** The second question, by which the command line asked who is silent, was answered. */
    @Test
    void aSessionThatAnswersTooLateIsSilentAndNotWithoutNames() {
        Interlock session = session(builder -> builder.sessionName("orders-1"));
        Actor holder = actor("holder");
        holder.run(session.lock("latch")::lock);
        session.semaphore("permits", 2).acquireUninterruptibly();
        for (List<String> command : List.of(List.of("ls"), List.of("top", "--count", "1"))) {
            proxy().delayRequests(HeldNamesTest::isReport, LATE, 1);
            String seen = run(
                    Stream.concat(command.stream(), Stream.of("--wait", "0.3")).toArray(String[]::new));
            assertThat(seen)
                    .containsAnyOf("Silent", "(1 silent)")
                    .doesNotContain("No names.")
                    .contains(command.contains("ls") ? session.id() : "1 sessions");
        }
        proxy().delayRequests(HeldNamesTest::isReport, LATE, 1);
        assertThat(run("deadlocks", "--wait", "0.3"))
                .contains("No deadlocks of those sessions that have answered", session.id());

        proxy().delayRequests(HeldNamesTest::isReport, SOON, 1);
        assertThat(run("ls", "--wait", "30"))
                .startsWith("0 ")
                .contains("permits")
                .doesNotContain("Silent");
        session.semaphore("permits", 2).release();
        holder.run(session.lock("latch")::unlock);
    }

    /** One that stands still can't tell who it is, but Redis does. */
    @Test
    void ofASilentSessionItIsKnownWhereItRuns() {
        Interlock silent = session(builder -> builder.sessionName("orders-1"));
        Actor holder = actor("holder");
        holder.run(silent.lock("order")::lock);
        SessionView answering = undisturbed().operator().sessions().stream()
                .filter(one -> one.id().equals(silent.id()))
                .findAny()
                .orElseThrow();
        assertThat(answering.isSilent()).isFalse();
        proxy().stall();
        FleetView seen = undisturbed().operator(Duration.ofMillis(200)).look("order");
        assertThat(seen.silent()).singleElement().satisfies(one -> {
            assertThat(one.id()).isEqualTo(silent.id());
            assertThat(one.name()).isEqualTo("orders-1");
            assertThat(one.host()).isEqualTo(answering.host());
            assertThat(one.pid()).isEqualTo(ProcessHandle.current().pid());
        });
        String where = "pid " + ProcessHandle.current().pid() + " on " + answering.host();
        assertThat(run("who", "order", "--wait", "0.2"))
                .contains("owned by session " + silent.id() + ", which is silent: orders-1, " + where);
        assertThat(run("sessions", "--wait", "0.2").lines().filter(line -> line.contains(silent.id())))
                .singleElement()
                .asString()
                .contains("orders-1", String.valueOf(answering.host()), String.valueOf(answering.pid()))
                .endsWith("silent");
        proxy().resume();
        holder.run(silent.lock("order")::unlock);
        silent.close();
        assertThat(String.valueOf(server().command("PUBSUB", "CHANNELS", "interlock:mailbox:*")))
                .doesNotContain(silent.id());
    }

    @Test
    void aWaitIsChecked() {
        assertThat(run("ls", "--wait", "0.01")).startsWith("64 ").contains("--wait must be from 0.1 to 60.0");
    }

    /** What a stranger reports is shown as it may be, whatever he makes of it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "%1B[2J 1 1000 %1B[2J j%1B[2J 0 0\nname%1B[2J kind%1B[2J%0A h INSIDE thread%1B[2J 5 0 0 7 1000"
                        + " w waiter%1B[2J 6 condition%1B[2J 0 1000",
                "host 1 1000 x j 0 0\na kind%E2%80%AE%C2%9B h SILENT %07 5 1 9 7 -1",
                "host 1 1000 x j 0 0\na lock h FORGED t 5 0 0 7 1000",
                "host 1 9223372036854775807 x j 0 0\na lock h INSIDE t 5 0 9223372036854775807 7 9223372036854775807",
                "host -1 1000 x j 0 0\n",
                "host 1 1000 x j 4294967297 0\n%",
                "\n\n",
                ""
            })
    void whatAStrangerReportsDoesNothingToATerminal(String report) {
        String id = "interlock-\u001b[2J";
        var stranger = client(server().url());
        stranger.getTopic("interlock:mailbox:" + id).addListener(String.class, (channel, text) -> {
            String[] words = text.split(" ", -1);
            stranger.getTopic("interlock:mailbox:" + words[2]).publish("v " + words[1] + " " + id + " " + report);
        });
        for (List<String> command : List.of(
                List.of("ls"),
                List.of("who", "a"),
                List.of("who", "name\u001b[2J"),
                List.of("top", "--count", "1"),
                List.of("sessions"),
                List.of("deadlocks"),
                List.of("release", "name\u001b[2J", "--token", "8"),
                List.of("ls", "--json"))) {
            String seen = run(
                    Stream.concat(command.stream(), Stream.of("--wait", "0.2")).toArray(String[]::new));
            assertThat(seen.codePoints().filter(c -> c != '\n' && c != '\r'))
                    .as("%s: %s", command, seen)
                    .noneMatch(
                            c -> Character.getType(c) == Character.CONTROL || Character.getType(c) == Character.FORMAT);
            assertThat(seen).matches("(?s)[013] .*");
        }
    }

    @Test
    void noNameIsMarkup() {
        String name = "@|red,bold order|@ {x}";
        Actor holder = actor("holder @|red t|@");
        Interlock session = session();
        holder.run(session.lock(name)::lock);
        assertThat(run("ls")).contains("\n" + name + " ", "holder @|red t|@ on ");
        assertThat(run("ls", "*order*").lines().map(String::length).toList()).isNotEmpty();
        assertThat(undisturbed().operator().look("*").names())
                .extracting(NameView::name)
                .containsExactly(name);
        holder.run(session.lock(name)::unlock);
    }
}
