package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that each promise of the documents names a test that exists, that links lead somewhere, and that versions are
 * those of the last release.
 */
class DocsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path DOCS = ROOT.resolve("docs");
    private static final Path TESTS = Path.of("src", "test", "java");
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*[a-z](?:Test|Contract|IT))(?:\\.(\\w+))?`");

    private static final Pattern RELEASE = Pattern.compile("(?m)^## \\[(\\d[^]]*)]");
    private static final Pattern VERSION =
            Pattern.compile("(?:sync-core</artifactId>\\s*<version>|sync-core:|checkout v)([\\w.-]*\\w)");

    private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *``` *$");
    private static final Pattern CODE_SPAN = Pattern.compile("(`+)(?:(?!\\1|\\n\\n)[\\s\\S])+\\1");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?) *#*$");
    private static final Pattern LINK = Pattern.compile("]\\(<?([^)\\s>]+)[^)]*\\)|(?:href|src)=\"([^\"]+)\"");
    private static final Pattern ELSEWHERE = Pattern.compile("[a-z][a-z0-9+.-]*:.*");

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

    // ---- versions

    /** A dependency or a command that is copied from these pages gives the last release. */
    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/spring.md"})
    void documentsNameTheLastRelease(String document) {
        Matcher last = RELEASE.matcher(read(ROOT.resolve("CHANGELOG.md")));
        assertThat(last.find()).isTrue();
        assertThat(VERSION.matcher(read(ROOT.resolve(document))).results().map(named -> named.group(1)))
                .isNotEmpty()
                .containsOnly(last.group(1));
    }

    // ---- links

    static List<Path> documents() throws IOException {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(DOCS)) {
            return Stream.concat(root, docs)
                    .filter(DocsTest::isDocument)
                    .sorted()
                    .toList();
        }
    }

    private static boolean isDocument(Path file) {
        return file.toString().endsWith(".md");
    }

    /** Returns a document without its blocks of code, in which nothing is a link or a heading. */
    private static String prose(Path document) {
        return FENCED.matcher(read(document)).replaceAll("");
    }

    private static Stream<String> links(Path document) {
        String text = CODE_SPAN.matcher(prose(document)).replaceAll("");
        return LINK.matcher(text)
                .results()
                .map(link -> Objects.requireNonNullElseGet(link.group(1), () -> link.group(2)))
                .filter(link -> !ELSEWHERE.matcher(link).matches());
    }

    private static boolean leadsSomewhere(Path document, String link) {
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        Path file = path.isEmpty() ? document : document.resolveSibling(path).normalize();
        if (!file.startsWith(ROOT) || !Files.exists(file)) {
            return false;
        }
        return hash < 0 || (isDocument(file) && anchors(file).contains(link.substring(hash + 1)));
    }

    private static Set<String> anchors(Path document) {
        Set<String> anchors = new HashSet<>();
        Matcher heading = HEADING.matcher(prose(document));
        while (heading.find()) {
            String anchor = anchor(heading.group(1));
            String unique = anchor;
            for (int i = 1; !anchors.add(unique); i++) {
                unique = anchor + "-" + i;
            }
        }
        return anchors;
    }

    /** Returns what GitHub makes of a heading: letters, digits, underscores and hyphens stay, a blank is a hyphen. */
    private static String anchor(String heading) {
        return heading.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{M}\\p{N}_ -]", "")
                .replace(' ', '-');
    }

    @ParameterizedTest
    @MethodSource("documents")
    void linksLeadSomewhere(Path document) {
        assertThat(links(document).filter(link -> !leadsSomewhere(document, link)))
                .as("links of %s to files or headings that don't exist", ROOT.relativize(document))
                .isEmpty();
    }

    /** So that the test above can't pass because it finds no link, or takes any for a good one. */
    @Test
    void brokenLinksAreTold() {
        Path readme = ROOT.resolve("README.md");
        assertThat(links(readme)).contains("docs/guide.md", "docs/testing.md#which-redis", "CHANGELOG.md");
        assertThat(links(DOCS.resolve("operations.md"))).contains("operations-page.png");
        assertThat(leadsSomewhere(readme, "docs/semantics.md#conditions")).isTrue();
        assertThat(leadsSomewhere(readme, "docs/semantics.md#condition")).isFalse();
        assertThat(leadsSomewhere(readme, "docs/semantic.md")).isFalse();
        assertThat(leadsSomewhere(readme, "../README.md")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Honest limits | honest-limits",
                "Method by method: `DistributedReentrantLock` | method-by-method-distributedreentrantlock",
                "`redis`: scripts out, replies and messages in | redis-scripts-out-replies-and-messages-in",
                "Locks & limits, step 2 | locks--limits-step-2",
                "Of [Redlock](https://redis.io) | of-redlock"
            })
    void anchorsFollowTheRuleOfGitHub(String heading, String anchor) {
        assertThat(anchor(heading)).isEqualTo(anchor);
    }
}
