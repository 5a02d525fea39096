package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
class RedisServerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void keysAndCallsAreCounted() {
        try (var server = RedisServer.launch()) {
            assertThat(server.keys()).isEmpty();
            IntStream.range(0, 3_000).forEach(i -> server.command("SET", "k" + i, "v"));
            assertThat(server.keys()).hasSize(3_000);
            assertThat(server.keys("k1?"))
                    .containsExactly("k10", "k11", "k12", "k13", "k14", "k15", "k16", "k17", "k18", "k19");
            assertThat(server.commandCalls("SET")).isEqualTo(3_000);
            assertThat(server.commandCalls("get")).isZero();
            server.command("CONFIG", "RESETSTAT");
            assertThat(server.commandCalls("config|resetstat")).isEqualTo(1);
        }
    }

    @Test
    void killedServerIsGoneAndRestartsInPlace() {
        try (var server = RedisServer.launch("--appendonly", "yes", "--appendfsync", "always")) {
            long firstPid = server.pid();
            String url = server.url();
            server.command("SET", "k", "v");
            server.kill();
            assertThat(ProcessHandle.of(firstPid)).isEmpty();
            assertThatThrownBy(() -> server.command("PING")).hasMessageContaining("127.0.0.1:" + server.port());
            server.restart();
            assertThat(server.url()).isEqualTo(url);
            assertThat(server.pid()).isNotEqualTo(firstPid);
            assertThat(server.command("GET", "k")).isEqualTo("v");
        }
    }

    @Test
    void pausedServerAnswersOnlyAfterResume() {
        try (var server = RedisServer.launch()) {
            server.pause();
            var answer = Background.run(() -> server.command("PING"));
            await().during(Duration.ofMillis(200)).atMost(PATIENCE).until(() -> !answer.isDone());
            server.resume();
            assertThat(answer).succeedsWithin(PATIENCE).isEqualTo("PONG");
            server.pause(); // closing must do with a paused server, too
        }
    }

    @Test
    void closeDeletesEverything() {
        Path folder;
        long pid;
        try (var server = RedisServer.launch()) {
            folder = server.folder();
            pid = server.pid();
            assertThat(folder).isDirectory();
        }
        assertThat(folder).doesNotExist();
        assertThat(ProcessHandle.of(pid)).isEmpty();
    }

    @Test
    void passwordIsPartOfTheUrl() {
        try (var server = RedisServer.launch("--requirepass", "secret");
                var proxy = FaultProxy.to(server)) {
            assertThat(server.url()).isEqualTo("redis://:secret@127.0.0.1:" + server.port());
            assertThat(proxy.url()).startsWith("redis://:secret@127.0.0.1:");
            assertThat(server.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void failureShowsWhatTheServerSaid() {
        assertThatThrownBy(() -> RedisServer.launch("--no-such-option", "1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Bad directive");
    }

    @Test
    void binaryIsNamedAfterThePlatform() {
        assertThat(RedisBinary.resourceName("7.0.15", "Linux", "amd64")).isEqualTo("redis-server-7.0.15-linux-amd64");
        assertThat(RedisBinary.resourceName("6.2.7", "Mac OS X", "aarch64"))
                .isEqualTo("redis-server-6.2.7-darwin-arm64");
    }

    @Test
    void killedJvmLeavesNeitherServerNorFiles() {
        try (var child = ChildJvm.start(Launcher.class)) {
            var server = Launched.of(child.await("LAUNCHED", PATIENCE));
            assertThat(ProcessHandle.of(server.pid)).isPresent();
            child.kill();
            await().atMost(PATIENCE).until(() -> ProcessHandle.of(server.pid).isEmpty());
            await().atMost(PATIENCE).until(() -> Files.notExists(server.folder));
        }
    }

    @Test
    void normalEndOfJvmLeavesNeitherServerNorFiles() {
        try (var child = ChildJvm.start(Launcher.class)) {
            var server = Launched.of(child.await("LAUNCHED", PATIENCE));
            child.send("end");
            assertThat(child.waitFor(PATIENCE)).isZero();
            await().atMost(PATIENCE).until(() -> ProcessHandle.of(server.pid).isEmpty());
            await().atMost(PATIENCE).until(() -> Files.notExists(server.folder));
        }
    }

    private record Launched(long pid, Path folder) {

        static Launched of(String line) {
            String[] words = line.split(" ", 3);
            return new Launched(Long.parseLong(words[1]), Path.of(words[2]));
        }
    }

    static final class Launcher {

        public static void main(String[] args) throws InterruptedException {
            var server = RedisServer.launch();
            ChildConsole.say("LAUNCHED " + server.pid() + " " + server.folder());
            ChildConsole.readCommand();
        }
    }
}
