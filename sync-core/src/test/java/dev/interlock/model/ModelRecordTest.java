package dev.interlock.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The models are those that {@link TenureModelTest} has checked last. */
class ModelRecordTest {

    @Test
    void modelsAreThoseThatWereChecked() throws IOException {
        assertThat(hash())
                .as("docs/model has changed: run \"mvn test -pl sync-core -Dtest.tier=model\", and when that passes,"
                        + " write this hash to docs/model/checked.txt")
                .isEqualTo(
                        Files.readString(Checker.MODEL.resolve("checked.txt")).strip());
    }

    private static String hash() throws IOException {
        Hasher hasher = Hashing.sha256().newHasher();
        for (Path file : sources()) {
            hasher.putUnencodedChars(file.getFileName().toString());
            hasher.putUnencodedChars(Files.readString(file, StandardCharsets.UTF_8));
        }
        return hasher.hash().toString();
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.list(Checker.MODEL)) {
            return files.filter(file ->
                            file.toString().endsWith(".tla") || file.toString().endsWith(".cfg"))
                    .sorted()
                    .toList();
        }
    }
}
