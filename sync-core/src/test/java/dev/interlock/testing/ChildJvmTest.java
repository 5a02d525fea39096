package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("proof")
class ChildJvmTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void childEchoesAndEnds() {
        try (var child = ChildJvm.of(Echo.class)
                .options("-Dgreeting=hello")
                .environment("ECHO_MARK", "ä")
                .arguments("first", "second arg")
                .start()) {
            assertThat(child.await("READY", PATIENCE)).isEqualTo("READY hello ä [first, second arg]");
            child.send("one");
            child.send("two");
            assertThat(child.await("ECHO two", PATIENCE)).isEqualTo("ECHO two");
            assertThat(child.await("ECHO", PATIENCE)).isEqualTo("ECHO one");
            child.send("exit");
            assertThat(child.waitFor(PATIENCE)).isEqualTo(7);
            assertThat(child.isAlive()).isFalse();
            assertThat(child.lines()).containsExactly("READY hello ä [first, second arg]", "ECHO one", "ECHO two");
        }
    }

    @Test
    void failedAwaitShowsTheOutput() {
        try (var child = ChildJvm.start(Echo.class)) {
            child.await("READY", PATIENCE);
            child.send("fail");
            assertThatThrownBy(() -> child.await("NEVER", PATIENCE))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("ended without 'NEVER'")
                    .hasMessageContaining("READY")
                    .hasMessageContaining("IllegalStateException: told to fail");
            assertThat(child.waitFor(PATIENCE)).isEqualTo(1);
        }
    }

    @Test
    void awaitIsBounded() {
        try (var child = ChildJvm.start(Echo.class)) {
            child.await("READY", PATIENCE);
            assertThatThrownBy(() -> child.await("NEVER", Duration.ofMillis(10)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("did not say 'NEVER'");
            assertThatThrownBy(() -> child.waitFor(Duration.ofMillis(10))).isInstanceOf(AssertionError.class);
        }
    }

    @Test
    void stoppedChildIsSilentUntilItGoesOn() {
        try (var child = ChildJvm.start(Echo.class)) {
            child.await("READY", PATIENCE);
            child.stop();
            child.send("hello");
            assertThatThrownBy(() -> child.await("ECHO", Duration.ofMillis(200)))
                    .isInstanceOf(AssertionError.class);
            assertThat(child.isAlive()).isTrue();
            child.cont();
            child.await("ECHO hello", PATIENCE);
            child.stop(); // closing must do with a stopped child, too
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"running", "stopped"})
    void grandchildDiesWithItsKilledParent(String state) {
        assertGrandchildDies(state, ChildJvm::kill);
    }

    @Test
    void grandchildDiesWithItsParentsNormalEnd() {
        assertGrandchildDies("running", child -> {
            child.send("end");
            assertThat(child.waitFor(PATIENCE)).isZero();
        });
    }

    private static void assertGrandchildDies(String state, Consumer<ChildJvm> end) {
        try (var child = ChildJvm.start(Parent.class, state)) {
            long grandchild = grandchildPid(child);
            end.accept(child);
            await().atMost(PATIENCE).until(() -> ProcessHandle.of(grandchild).isEmpty());
        }
    }

    @Test
    void clockIsSharedByParentAndChild() {
        try (var child = ChildJvm.start(Clock.class)) {
            child.await("READY", PATIENCE);
            long beforeNanos = Monotonic.nanos();
            child.send("now");
            long childNanos = Long.parseLong(child.await("NOW", PATIENCE).substring("NOW ".length()));
            assertThat(childNanos).isBetween(beforeNanos, Monotonic.nanos());
        }
    }

    private static long grandchildPid(ChildJvm child) {
        return Long.parseLong(child.await("GRANDCHILD", PATIENCE).substring("GRANDCHILD ".length()));
    }

    static final class Echo {

        public static void main(String[] args) throws InterruptedException {
            ChildConsole.say("READY " + System.getProperty("greeting") + " " + System.getenv("ECHO_MARK") + " "
                    + Arrays.toString(args));
            while (true) {
                String command = ChildConsole.readCommand();
                switch (command) {
                    case "exit" -> System.exit(7);
                    case "fail" -> throw new IllegalStateException("told to fail");
                    default -> ChildConsole.say("ECHO " + command);
                }
            }
        }
    }

    static final class Parent {

        public static void main(String[] args) throws InterruptedException {
            var grandchild = ChildJvm.start(Echo.class);
            grandchild.await("READY", PATIENCE);
            if (args[0].equals("stopped")) {
                grandchild.stop();
            }
            ChildConsole.say("GRANDCHILD " + grandchild.pid());
            ChildConsole.readCommand();
        }
    }

    static final class Clock {

        public static void main(String[] args) throws InterruptedException {
            ChildConsole.say("READY");
            ChildConsole.readCommand();
            ChildConsole.say("NOW " + Monotonic.nanos());
        }
    }
}
