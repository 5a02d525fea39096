package dev.interlock.examples.ratelimit;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.awaitility.Awaitility;

/** Looks at a page with Chromium, without a window. */
public final class HeadlessChromium {

    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** How long the page has run when it is looked at, by its own clock. */
    private static final Duration AGE = Duration.ofSeconds(2);

    private final Path executable;

    private HeadlessChromium(Path executable) {
        this.executable = executable;
    }

    /**
     * What was seen.
     *
     * @param dom the document as scripts have made it
     */
    record Sight(String dom, BufferedImage picture) {

        /** The height of the tallest line of pixels that have exactly this colour. */
        int tallest(int rgb) {
            int tallest = 0;
            for (int x = 0; x < picture.getWidth(); x++) {
                int height = 0;
                for (int y = 0; y < picture.getHeight(); y++) {
                    height = (picture.getRGB(x, y) & 0xffffff) == rgb ? height + 1 : 0;
                    tallest = Math.max(tallest, height);
                }
            }
            return tallest;
        }
    }

    /** Returns the first one on the path. */
    public static Optional<HeadlessChromium> installed() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .map(HeadlessChromium::new);
    }

    /**
     * Opens a page, looks at it a while later, and ends.
     *
     * @param folder an empty one, which may be deleted then
     */
    Sight open(String url, Path folder) throws IOException, InterruptedException {
        Path dom = folder.resolve("dom.html");
        Path picture = folder.resolve("picture.png");
        Process process = start(
                folder,
                "--window-size=1200,800",
                "--virtual-time-budget=" + AGE.toMillis(),
                "--screenshot=" + picture,
                "--dump-dom",
                url);
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS) || !Files.exists(picture)) {
                throw new AssertionError(
                        "no picture of " + url + ":\n" + Files.readString(folder.resolve("errors.txt")));
            }
            return new Sight(Files.readString(dom), ImageIO.read(picture.toFile()));
        } finally {
            end(process, profile(folder));
        }
    }

    /**
     * Opens a page that stays open until it is closed.
     *
     * @param folder an empty one, which may be deleted when the page is closed
     */
    public LivePage live(String url, Path folder) throws IOException, InterruptedException {
        Process process = start(folder, "--remote-debugging-port=0", url);
        Path profile = profile(folder);
        try {
            return LivePage.of(profile, () -> {
                process.onExit()
                        .completeOnTimeout(process, PATIENCE.toSeconds(), TimeUnit.SECONDS)
                        .join();
                end(process, profile);
            });
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            end(process, profile);
            throw e;
        }
    }

    private static Path profile(Path folder) {
        return folder.resolve("profile");
    }

    private Process start(Path folder, String... arguments) throws IOException {
        var command = new ArrayList<String>(List.of(
                executable.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-breakpad",
                "--user-data-dir=" + profile(folder)));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectOutput(folder.resolve("dom.html").toFile())
                .redirectError(folder.resolve("errors.txt").toFile())
                .start();
    }

    /** Kills all processes of the browser: its children outlive it for a moment, and know its profile. */
    private static void end(Process process, Path profile) {
        process.destroyForcibly();
        Awaitility.await().atMost(PATIENCE).until(() -> {
            List<ProcessHandle> left = ProcessHandle.allProcesses()
                    .filter(other -> other.info().commandLine().orElse("").contains(profile.toString()))
                    .toList();
            left.forEach(ProcessHandle::destroyForcibly);
            return left.isEmpty() && !process.isAlive();
        });
    }
}
