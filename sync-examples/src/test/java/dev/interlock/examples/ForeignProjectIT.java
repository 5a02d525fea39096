package dev.interlock.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A project of somebody else's, which has this build's artifacts from a repository, and tests with them. */
@Tag("proof")
class ForeignProjectIT {
    private static final String VERSION = "0.2.0-SNAPSHOT";
    private static final String ORDERS_TEST = "src/test/java/shop/OrdersTest.java";
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path JAR = ROOT.resolve("sync-core/target/sync-core-" + VERSION + ".jar");

    /** For the service on the page about Spring. */
    private static final String IMPORTS = """
            package shop.page;

            import dev.interlock.spring.*;
            import java.util.List;
            import org.springframework.scheduling.annotation.Scheduled;
            import org.springframework.stereotype.Service;
            import org.springframework.transaction.annotation.Transactional;
            import shop.page.Shop.Hit;

            """;

    /** Where Maven keeps what it has downloaded for this build. */
    private static final Path DOWNLOADED = Path.of(System.getProperty(
            "localRepository",
            Path.of(System.getProperty("user.home"), ".m2/repository").toString()));

    @TempDir
    private Path folder;

    /** On the class path, and as a module. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void testsWithThreeLines(boolean isModule) throws IOException, InterruptedException {
        Path project = project("foreign", List.of("pom.xml", ORDERS_TEST), Map.of());
        if (isModule) {
            write(project.resolve("src/main/java/module-info.java"), "module shop { requires dev.interlock; }");
        }
        assertThat(test(project)).contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0", "BUILD SUCCESS");
    }

    /** The coroutines of the guide, and annotated functions that suspend. */
    @Test
    void testsInKotlin() throws IOException, InterruptedException {
        List<String> files =
                List.of("pom.xml", "src/test/kotlin/shop/ShippingTest.kt", "src/test/kotlin/shop/LockedSuspendTest.kt");
        Path project = project("foreign-kotlin", files, Map.of());
        assertThat(test(project)).contains("Tests run: 10, Failures: 0, Errors: 0, Skipped: 0", "BUILD SUCCESS");
    }

    /**
     * The lines of Spring Boot that are supported, each with the versions of all else that it states. The dependency,
     * the configuration and a service are those of the page about Spring, which names the last release. Tests with the
     * fixtures run on the JUnit that the line brings, 6 or 5.
     */
    @ParameterizedTest
    @ValueSource(strings = {"spring-boot.version", "spring-boot-3.version"})
    void anApplicationOfEachLineOfSpringBoot(String line) throws IOException, InterruptedException {
        try (RedisServer redis = RedisServer.launch()) {
            Path project = project(
                    "foreign-boot",
                    List.of(
                            "pom.xml",
                            "src/main/java/shop/page/Shop.java",
                            "src/test/java/shop/page/PageTest.java",
                            "src/test/java/shop/ApplicationTest.java"),
                    Map.of("line", property(line), "dependency", ofThisBuild(block("xml"))));
            write(
                    project.resolve("src/main/resources/application.properties"),
                    replaced(block("properties"), Pattern.quote("localhost:6379"), redis.host() + ":" + redis.port()));
            write(project.resolve("src/main/java/shop/page/Orders.java"), IMPORTS + withBodies(block("java")));
            write(project.resolve(ORDERS_TEST), read("/foreign/" + ORDERS_TEST));
            assertThat(test(project)).contains("Tests run: 11, Failures: 0, Errors: 0, Skipped: 0", "BUILD SUCCESS");
        }
    }

    private static String ofThisBuild(String dependency) {
        return dependency.replaceAll("<version>.*</version>", "<version>" + VERSION + "</version>");
    }

    /** Returns the first block of code in a language on the page about Spring. */
    private static String block(String language) throws IOException {
        Matcher block = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(ROOT.resolve("docs/spring.md")));
        assertThat(block.find()).as(language).isTrue();
        return block.group(1);
    }

    /** Fills in what stands for work on the page. */
    private static String withBodies(String service) {
        String done = replaced(service, "(void (\\w+)\\(.*\\)) \\{ … }", "$1 { Shop.work.accept(\"$2\"); }");
        return replaced(
                done, "(List<.*> (\\w+)\\(.*\\)) \\{ … }", "$1 { Shop.work.accept(\"$2\"); return List.of(); }");
    }

    private static String replaced(String text, String pattern, String replacement) {
        String replaced = text.replaceAll(pattern, replacement);
        assertThat(replaced).as(pattern).isNotEqualTo(text);
        return replaced;
    }

    private Path project(String name, List<String> files, Map<String, String> values) throws IOException {
        Path project = folder.resolve("orders");
        for (String file : files) {
            write(project.resolve(file), withVersions(read("/" + name + "/" + file), values));
        }
        return project;
    }

    private String test(Path project) throws IOException, InterruptedException {
        assumeTrue(Files.exists(JAR), "mvn package has not been here");
        Path repository = folder.resolve("repository");
        deploy(repository, "interlock-parent", ".pom", ROOT.resolve("pom.xml"));
        deploy(repository, "sync-core", ".pom", ROOT.resolve("sync-core/pom.xml"));
        deploy(repository, "sync-core", ".jar", JAR);
        deploy(
                repository,
                "sync-core",
                "-tests.jar",
                ROOT.resolve("sync-core/target/sync-core-" + VERSION + "-tests.jar"));
        Path settings = write(folder.resolve("settings.xml"), settings(folder, repository));
        Path output = folder.resolve("output.txt");

        Process maven = new ProcessBuilder("mvn", "-B", "-s", settings.toString(), "test")
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(maven.waitFor(10, TimeUnit.MINUTES)).isTrue();
        } finally {
            maven.destroy();
        }
        return Files.readString(output);
    }

    private static void deploy(Path repository, String artifact, String suffix, Path file) throws IOException {
        Path folder = repository.resolve("dev/interlock").resolve(artifact).resolve(VERSION);
        Files.createDirectories(folder);
        Files.copy(file, folder.resolve(artifact + "-" + VERSION + suffix));
    }

    /** Takes what this build has downloaded from there, and the rest, if any, from where Maven takes it. */
    private static String settings(Path folder, Path repository) {
        return "<settings><localRepository>" + folder.resolve("local") + "</localRepository>"
                + "<profiles><profile><id>here</id>"
                + repositories("repositories", "repository", repository)
                + repositories("pluginRepositories", "pluginRepository", repository)
                + "</profile></profiles>"
                + "<activeProfiles><activeProfile>here</activeProfile></activeProfiles></settings>";
    }

    private static String repositories(String list, String element, Path built) {
        return "<" + list + ">" + repository(element, "built", built) + repository(element, "downloaded", DOWNLOADED)
                + "</" + list + ">";
    }

    private static String repository(String element, String id, Path folder) {
        return "<" + element + "><id>" + id + "</id><url>" + folder.toUri() + "</url></" + element + ">";
    }

    /** Replaces each {@code @property@} by its value here, or in this build. */
    private static String withVersions(String text, Map<String, String> values) {
        return Pattern.compile("@([a-z0-9.-]+)@")
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        values.containsKey(found.group(1)) ? values.get(found.group(1)) : property(found.group(1))));
    }

    private static String property(String name) {
        try {
            Matcher value = Pattern.compile("<" + Pattern.quote(name) + ">(.*?)<")
                    .matcher(Files.readString(ROOT.resolve("pom.xml")));
            assertThat(value.find()).as(name).isTrue();
            return value.group(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(String resource) throws IOException {
        try (var stream = ForeignProjectIT.class.getResourceAsStream(resource)) {
            assertThat(stream).as(resource).isNotNull();
            return new String(stream.readAllBytes(), UTF_8);
        }
    }

    private static Path write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }
}
