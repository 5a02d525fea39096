package dev.interlock.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line's jar has all that it needs. */
class InterlockJarIT {
    private static final Path JAR = Path.of("..", "sync-core", "target", "interlock.jar");
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

    @ParameterizedTest
    @ValueSource(strings = {"sessions --json", "deadlocks --json", "top --count=1"})
    void aCommandAnswers(String command) throws IOException, InterruptedException {
        assumeTrue(Files.exists(JAR), "the build has left it out");
        List<String> words = new ArrayList<>(List.of(JAVA.toString(), "-jar", JAR.toString()));
        words.add("--redis=" + RedisServer.provided().url());
        words.addAll(List.of(command.split(" ")));
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String answer = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(answer).isIn(0, 1);
        assertThat(answer).containsAnyOf("sessions", "deadlocks").doesNotContain("Exception");
    }
}
