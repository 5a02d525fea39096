package dev.interlock.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command line finds what sessions have, says what it has found by its exit code, and tells no password. */
class MainTest extends FaultFixture {
    private static final String NAME = "order:42 \"x\"";

    /** For several attempts to reach Redis. */
    private static final Duration LONG_PATIENCE = Duration.ofMinutes(1);

    private final Map<String, String> environment = new HashMap<>();

    @BeforeEach
    void forget() {
        environment.clear();
    }

    /** The outcome of a command. */
    private record Ran(int code, String out, String err) {
        List<String> lines() {
            return out.lines().toList();
        }

        Map<String, Object> document() {
            assertThat(lines()).hasSize(1);
            return JsonTest.parsed(out);
        }

        @SuppressWarnings("unchecked")
        static List<Map<String, Object>> list(Map<String, Object> document, String member) {
            return (List<Map<String, Object>>) requireNonNull(document.get(member));
        }

        static long number(Map<String, Object> document, String member) {
            return ((Number) requireNonNull(document.get(member))).longValue();
        }
    }

    private Ran run(String... arguments) {
        return run(false, arguments);
    }

    private Ran run(boolean isTerminal, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine(environment, isTerminal)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err));
        int code = line.execute(arguments);
        return new Ran(code, out.toString(), err.toString());
    }

    private Ran at(String... arguments) {
        return run(Stream.concat(Stream.of("--redis", server().url()), Stream.of(arguments))
                .toArray(String[]::new));
    }

    @Test
    void nothingIsFoundWhereNothingIs() {
        Ran who = at("who", NAME);
        assertThat(who.code()).isEqualTo(Main.NOTHING);
        assertThat(who.lines()).containsExactly(NAME + ": free");
        assertThat(at("ls").code()).isEqualTo(Main.NOTHING);
        assertThat(at("ls", "--json").document()).isEqualTo(Map.of("names", List.of(), "silent", List.of()));
        assertThat(at("sessions").code()).isEqualTo(Main.NOTHING);
        assertThat(at("sessions", "--json").document()).isEqualTo(Map.of("sessions", List.of()));
    }

    @Test
    void aHolderAndItsWaitersAreShown() {
        Interlock first = session(builder -> builder.sessionName("orders-1"));
        Interlock second = session(builder -> builder.sessionName("orders-2"));
        DistributedReentrantLock here = first.lock(NAME);
        DistributedReentrantLock there = second.lock(NAME);
        Actor holder = actor("holder");
        holder.run(here::lock);
        Actor waiter = actor("waiter");
        queue(waiter, there);

        Ran who = at("who", NAME);
        assertThat(who.code()).isEqualTo(Main.FOUND);
        assertThat(who.err()).isEmpty();
        assertThat(who.out())
                .startsWith(NAME + ": lock, inside")
                .contains("held by thread 'holder' of pid ", "1. thread 'waiter' of pid ")
                .contains("(session orders-1, " + first.id() + ")", "(session orders-2, " + second.id() + ")");
        Ran list = at("ls", "order:*");
        assertThat(list.code()).isEqualTo(Main.FOUND);
        assertThat(list.lines()).hasSize(2);
        assertThat(list.lines().get(1))
                .startsWith(NAME)
                .contains("holder on orders-1 ")
                .endsWith(" 1");
        assertThat(at("ls", "invoice:*").code()).isEqualTo(Main.NOTHING);
        assertThat(at("sessions").out()).contains(first.id(), second.id());
        assertThat(Ran.list(at("sessions", "--json").document(), "sessions"))
                .hasSize(2)
                .extracting(session -> session.get("session") + " " + session.get("sessionName"))
                .contains(first.id() + " orders-1", second.id() + " orders-2");

        holder.run(here::unlock);
        waiter.run(there::unlock);
    }

    @Test
    void programsReadWhoHasANameAndSinceWhen() {
        Interlock session = session(builder -> builder.sessionName("orders"));
        DistributedReentrantLock lock = session.lock(NAME);
        Condition filled = lock.newCondition("is filled");
        Actor patient = actor("patient");
        patient.run(lock::lock);
        var signalled = patient.begin(filled::await);
        await("a waiter").until(() -> at("who", "--json", NAME).out().contains("is filled"));
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Instant entered = Instant.now();

        Map<String, Object> name =
                Ran.list(at("who", NAME, "--json").document(), "names").get(0);
        assertThat(name).containsAllEntriesOf(Map.of("name", NAME, "kind", "lock", "state", "inside"));
        Map<String, Object> seen = Ran.list(name, "holders").get(0);
        assertThat(seen)
                .containsEntry("session", session.id())
                .containsEntry("sessionName", "orders")
                .containsEntry("silent", false)
                .containsEntry("thread", "holder")
                .containsEntry("reads", false);
        assertThat(Ran.number(seen, "pid")).isEqualTo(ProcessHandle.current().pid());
        assertThat(seen.get("token")).isEqualTo(String.valueOf(holder.<Long>get(lock::fencingToken)));
        assertThat(Ran.number(seen, "ageMillis")).isNotNegative();
        assertThat(Duration.between(Instant.parse(String.valueOf(seen.get("since"))), entered)
                        .abs())
                .isLessThan(PATIENCE);
        assertThat(Ran.list(name, "waiters"))
                .singleElement()
                .satisfies(one -> assertThat(one)
                        .containsEntry("sessionName", "orders")
                        .containsEntry("thread", "patient")
                        .containsEntry("condition", "is filled"));

        holder.run(filled::signal);
        holder.run(lock::unlock);
        assertThat(signalled).succeedsWithin(PATIENCE);
        patient.run(lock::unlock);
    }

    @Test
    void namesAreThoseOfTheNamespace() {
        DistributedReentrantLock lock =
                session(builder -> builder.namespace("shop")).lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Ran elsewhere = at("who", NAME);
        assertThat(elsewhere.code()).as(elsewhere.err()).isEqualTo(Main.NOTHING);
        assertThat(at("who", "shop:" + NAME).code()).isEqualTo(Main.FOUND);
        assertThat(at("--namespace", "shop", "who", NAME).code()).isEqualTo(Main.FOUND);
        assertThat(at("who", NAME, "--namespace=shop").code()).isEqualTo(Main.FOUND);
        holder.run(lock::unlock);
    }

    @Test
    @Tag("proof")
    void silentSessionsAreNamed() {
        Interlock silent = session();
        DistributedReentrantLock lock = silent.lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        proxy().stall();
        Ran who = at("who", NAME);
        assertThat(who.code()).isEqualTo(Main.FOUND);
        assertThat(who.out()).contains("owned by session " + silent.id() + ", which is silent");
        assertThat(who.err()).contains("Silent").contains(silent.id());
        Map<String, Object> document = at("who", NAME, "--json").document();
        assertThat(document).containsEntry("silent", List.of(silent.id()));
        assertThat(Ran.list(Ran.list(document, "names").get(0), "holders"))
                .singleElement()
                .satisfies(one -> assertThat(one)
                        .containsEntry("silent", true)
                        .containsEntry("state", "silent")
                        .containsEntry("token", null)
                        .containsEntry("since", null));
        Ran release = at("release", NAME, "--token", "1");
        assertThat(release.code()).isEqualTo(Main.REFUSED);
        assertThat(release.out())
                .startsWith(NAME + ": not released")
                .contains("owned by session " + silent.id() + ", which is silent", "Its lease ends by itself");
        proxy().resume();
        holder.run(lock::unlock);
    }

    @Test
    void aLockIsReleasedByItsTokenOnly() {
        DistributedReentrantLock lock = session().lock(NAME);
        assertThat(at("release", NAME, "--token", "1").code()).isEqualTo(Main.NOTHING);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        long token = holder.<Long>get(lock::fencingToken);
        Ran refused = at("release", NAME, "--token", String.valueOf(token + 1));
        assertThat(refused.code()).isEqualTo(Main.REFUSED);
        assertThat(refused.out()).startsWith(NAME + ": not released");
        assertThat(at("who", NAME).code()).isEqualTo(Main.FOUND);
        Ran released = at("release", NAME, "--token", String.valueOf(token), "--json");
        assertThat(released.code()).isEqualTo(Main.FOUND);
        assertThat(released.document()).isEqualTo(Map.of("released", true));
        assertThatThrownBy(() -> holder.run(lock::unlock)).hasRootCauseInstanceOf(LeaseLostException.class);
        assertThat(at("who", NAME).code()).isEqualTo(Main.NOTHING);
        assertThat(at("release", NAME, "--token", "0").code()).isEqualTo(Main.USAGE);
        assertThat(at("release", NAME).code()).isEqualTo(Main.USAGE);
    }

    @Test
    void deadlocksAreShown() {
        assertThat(at("deadlocks").code()).isEqualTo(Main.NOTHING);
        DistributedReentrantLock first =
                session(builder -> builder.sessionName("orders-1")).lock("first");
        DistributedReentrantLock second =
                session(builder -> builder.sessionName("orders-2")).lock("second");
        Actor one = actor("one");
        Actor other = actor("other");
        one.run(first::lock);
        other.run(second::lock);
        one.begin(second::lockInterruptibly);
        other.begin(first::lockInterruptibly);
        await("a deadlock").until(() -> at("deadlocks").code() == Main.FOUND);
        assertThat(at("deadlocks").lines()).hasSize(3).first().isEqualTo("Deadlock:");
        Map<String, Object> document = at("deadlocks", "--json").document();
        assertThat(document.get("deadlocks"))
                .asInstanceOf(InstanceOfAssertFactories.list(List.class))
                .singleElement()
                .asInstanceOf(InstanceOfAssertFactories.list(Map.class))
                .extracting(step -> step.get("thread") + " of " + step.get("sessionName") + ": " + step.get("holds")
                        + ", " + step.get("waitsFor"))
                .containsExactly("one of orders-1: first, second", "other of orders-2: second, first");
        one.interrupt();
        await("no deadlock").until(() -> at("deadlocks").code() == Main.NOTHING);
        one.run(first::unlock);
        other.run(first::unlock);
        other.run(second::unlock);
    }

    @Test
    void topRefreshesAsOftenAsItIsTold() {
        DistributedReentrantLock lock = session().lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        environment.put("INTERLOCK_REDIS", server().url());
        Ran top = run("top", "--interval", "0.1", "--count", "2");
        assertThat(top.code()).isEqualTo(Main.FOUND);
        assertThat(top.lines()).filteredOn(line -> line.contains("WAITERS")).hasSize(2);
        assertThat(top.lines()).filteredOn(line -> line.contains("holder on ")).hasSize(2);
        assertThat(top.out()).doesNotContain("\u001b");
        assertThat(run(true, "top", "--count", "1").out()).startsWith("\u001b[H\u001b[J");

        Ran json = run("top", "--json", "--interval", "0.1", "--count", "3");
        assertThat(json.lines())
                .hasSize(3)
                .allSatisfy(line ->
                        assertThat(Ran.list(JsonTest.parsed(line), "names")).hasSize(1));
        holder.run(lock::unlock);
    }

    @Test
    void withoutRedisNothingIsSaidOfNames() {
        environment.put("INTERLOCK_REDIS", "redis://127.0.0.1:1");
        Ran who = run("who", NAME);
        assertThat(who.code()).isEqualTo(Main.NO_REDIS);
        assertThat(who.out()).isEmpty();
        assertThat(who.err().lines())
                .containsExactly("Redis at uri 'redis://127.0.0.1:1' can't be reached: Connection refused");
    }

    @Test
    @Tag("proof")
    void aRedisThatIsSlowIsWaitedFor() {
        try (FaultProxy slow = FaultProxy.to(server())) {
            slow.stall();
            Actor operator = actor("operator");
            CompletableFuture<Ran> ran = operator.ask(() -> run("--redis", slow.url(), "--timeout", "30", "sessions"));
            await("an attempt that has failed")
                    .pollInterval(Duration.ofMillis(10)) // it pauses for 200 ms
                    .atMost(LONG_PATIENCE)
                    .until(() -> isBetweenAttempts(operator.thread()));
            slow.heal();
            assertThat(ran).succeedsWithin(LONG_PATIENCE).extracting(Ran::err).isEqualTo("");
        }
    }

    /** It sleeps there, and isn't called from there. */
    private static boolean isBetweenAttempts(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .limit(4)
                .anyMatch(frame -> frame.getClassName().equals("dev.interlock.Opening"));
    }

    @Test
    void silenceIsToldWithItsTimeAndItsAttempts() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Ran ran = run("--redis", "redis://127.0.0.1:" + silent.getLocalPort(), "ls", "--timeout", "1.5");
            assertThat(ran.code()).isEqualTo(Main.NO_REDIS);
            assertThat(ran.err().lines())
                    .singleElement()
                    .asString()
                    .matches("Redis at uri 'redis://127\\.0\\.0\\.1:\\d+' gave no answer for \\d+ s"
                            + " \\(\\d+ attempts?\\)");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "frobnicate",
                "who",
                "who a b",
                "ls --frobnicate",
                "--redis redis:// ls",
                "--redis http://127.0.0.1:6379 ls",
                "--redis redis://127.0.0.1:6379 --timeout 0 ls",
                "--redis redis://127.0.0.1:6379 ls --timeout soon",
                "--redis redis://127.0.0.1:6379 top --interval 0",
                "--redis redis://127.0.0.1:6379 top --interval NaN",
                "--redis redis://127.0.0.1:6379 top --count 0",
                "--redis redis://127.0.0.1:6379 top --rows -1"
            })
    void commandsThatMakeNoSenseAreRefused(String arguments) {
        Ran ran = run(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        assertThat(ran.code()).isEqualTo(Main.USAGE);
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err()).isNotEmpty();
    }

    @Test
    void aNameMustNotBeEmpty() {
        assertThat(at("who", "").err()).startsWith("name must not be empty");
        assertThat(at("ls", "").code()).isEqualTo(Main.USAGE);
    }

    @Test
    void aPasswordInTheUriIsRefusedAndNotRepeated() {
        Ran argument = run("--redis", "redis://app:s3cret@127.0.0.1:6379", "ls");
        environment.put("INTERLOCK_REDIS", "redis://:s3cret@127.0.0.1:6379");
        Ran variable = run("ls");
        assertThat(List.of(argument, variable)).allSatisfy(ran -> {
            assertThat(ran.code()).isEqualTo(Main.USAGE);
            assertThat(ran.err())
                    .contains("INTERLOCK_PASSWORD", "--ask-password")
                    .doesNotContain("s3cret");
        });
    }

    @Test
    void theEnvironmentHasThePassword() {
        server().command("ACL", "SETUSER", "operator", "on", ">s3cret", "~*", "&*", "+@all");
        environment.put("INTERLOCK_REDIS", server().url());
        environment.put("INTERLOCK_USER", "operator");
        assertThat(run("sessions").err()).startsWith("INTERLOCK_USER needs a password");
        environment.put("INTERLOCK_PASSWORD", "s3cret");
        assertThat(run("sessions").code()).isEqualTo(Main.NOTHING);
        environment.put("INTERLOCK_PASSWORD", "wrong!");
        Ran refused = run("sessions");
        assertThat(refused.code()).isEqualTo(Main.NO_REDIS);
        assertThat(refused.err().lines())
                .containsExactly("Redis at uri '" + server().url() + "' refuses the connection: WRONGPASS invalid"
                        + " username-password pair or user is disabled.");
        server().command("ACL", "DELUSER", "operator");
    }

    @Test
    void helpSaysWhatThereIs() {
        Ran help = run("--help");
        assertThat(help.code()).isZero();
        assertThat(help.out())
                .contains("ls", "who", "sessions", "top", "--ask-password", "--timeout", "Exit codes:", "64");
        assertThat(run("who", "--help").out()).contains("NAME", "--redis");
    }
}
