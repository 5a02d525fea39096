package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the documents promise names the test that shows it, and that test exists. */
class DocsTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Path TESTS = Path.of("src", "test", "java");
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*[a-z](?:Test|Contract|IT))(?:\\.(\\w+))?`");

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String page(String name) {
        return read(DOCS.resolve(name));
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> all = Files.walk(TESTS)) {
            return all.filter(path -> path.toString().endsWith(".java")).toList();
        }
    }

    private static Stream<MatchResult> testsIn(String text) {
        return TEST.matcher(text).results();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redisson.md", "guarantees.md", "security.md"})
    void namedTestsExist(String page) throws IOException {
        List<Path> sources = sources();
        assertThat(testsIn(page(page))).isNotEmpty().allSatisfy(named -> {
            List<Path> files = sources.stream()
                    .filter(path -> path.endsWith(named.group(1) + ".java"))
                    .toList();
            assertThat(files).as(named.group()).isNotEmpty();
            if (named.group(2) != null) {
                assertThat(files)
                        .as(named.group())
                        .anyMatch(file -> read(file).contains("void " + named.group(2) + "("));
            }
        });
    }

    @Test
    void everyRowNamesATest() {
        List<String> rows = page("redisson.md")
                .lines()
                .filter(line -> line.startsWith("|"))
                .skip(2)
                .toList();
        assertThat(rows).hasSizeGreaterThan(10).allSatisfy(row -> {
            String last = row.substring(row.lastIndexOf('|', row.length() - 2));
            assertThat(testsIn(last)).as(row).isNotEmpty();
        });
    }

    @Test
    void everyPromiseNamesATest() {
        Set<String> promises =
                Stream.of(page("guarantees.md").split("\n(?=\\*\\*)")).skip(1).collect(Collectors.toSet());
        assertThat(promises)
                .hasSizeGreaterThan(10)
                .allSatisfy(promise -> assertThat(testsIn(promise)).as(promise).isNotEmpty());
    }
}
