package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.util.diff.DiffUtils;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Each block of Java in the README and in the guide, and each block of Kotlin that has a name, is a region of a source
 * of this module or of the core's tests.
 */
class GuideSnippetsTest {
    private static final Path ROOT = Path.of("..");
    private static final List<String> DOCUMENTS = List.of("README.md", "docs/guide.md");
    private static final List<Path> SOURCES = List.of(Path.of("src"), ROOT.resolve("sync-core/src/test/java"));
    private static final String NONE = "that has no comment <!-- snippet: … -->";

    private static final Pattern BLOCK =
            Pattern.compile("(?ms)^(?:<!-- snippet: ([\\w-]+) -->\\n```(?:java|kotlin)|```java)\\n(.*?)^```$");
    private static final Pattern REGION = Pattern.compile("(?ms)^ *// tag::([\\w-]+)\\[]\\n(.*?)^ *// end::\\1\\[]$");

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<MatchResult> blocks(String document) {
        return BLOCK.matcher(read(ROOT.resolve(document))).results();
    }

    private static String nameOf(MatchResult block) {
        return Objects.requireNonNullElse(block.group(1), NONE);
    }

    /** The lines of each region, without the indentation that all of them have. */
    private static Map<String, List<String>> regions() {
        Map<String, List<String>> regions = new HashMap<>();
        SOURCES.stream()
                .flatMap(GuideSnippetsTest::filesIn)
                .flatMap(file -> REGION.matcher(read(file)).results())
                .forEach(region -> assertThat(regions.put(region.group(1), dedented(region.group(2))))
                        .as("another region %s", region.group(1))
                        .isNull());
        return regions;
    }

    private static Stream<Path> filesIn(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.(java|kt)")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> dedented(String text) {
        return text.stripTrailing().stripIndent().lines().toList();
    }

    @TestFactory
    Stream<DynamicTest> blockIsItsRegion() {
        Map<String, List<String>> regions = regions();
        return DOCUMENTS.stream()
                .flatMap(document -> blocks(document).map(block -> {
                    String place = document + ": " + nameOf(block);
                    return DynamicTest.dynamicTest(place, () -> assertIsRegion(place, block, regions));
                }));
    }

    private static void assertIsRegion(String place, MatchResult block, Map<String, List<String>> regions) {
        List<String> shown = block.group(2).lines().toList();
        assertThat(regions.keySet()).as("regions for %s %s", place, shown).contains(nameOf(block));
        List<String> tested = regions.getOrDefault(nameOf(block), List.of());
        assertThat(DiffUtils.diff(tested, shown).getDeltas())
                .as("difference of %s to the region", place)
                .isEmpty();
    }

    @Test
    void eachRegionIsShown() {
        List<String> shown = DOCUMENTS.stream()
                .flatMap(GuideSnippetsTest::blocks)
                .map(GuideSnippetsTest::nameOf)
                .distinct()
                .toList();
        assertThat(shown).containsExactlyInAnyOrderElementsOf(regions().keySet());
    }
}
