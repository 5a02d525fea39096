package dev.interlock.benchmarks.pages;

import dev.interlock.benchmarks.report.Results;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

/** The pages with their charts, and what others quote. Every figure in them comes from the results. */
public final class Pages {

    private Pages() {}

    /** Takes over what JMH has measured, for the next {@link #write} into that folder. */
    public static void keep(Path jmh, Path docs) {
        Jmh.keep(jmh, docs);
    }

    /** Writes them into a folder, with what is kept there of JMH's. */
    public static void write(Results results, Path folder) {
        Optional<Jmh> jmh = Jmh.read(folder);
        List<Chart> charts = Charts.of(results, jmh);
        try {
            draw(charts, folder);
            Files.writeString(folder.resolve("benchmarks.md"), Summary.text(results, charts));
            Files.writeString(folder.resolve("benchmarks-tables.md"), Tables.text(results, jmh));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes their figures into the other pages of a folder and the README beside it. */
    public static void quote(Results results, Path docs) {
        List<Chart> charts = Charts.of(results, Jmh.read(docs));
        Passage.replace(docs.resolve("choosing.md"), "measured", Comparison.text(results));
        Passage.replace(
                docs.toAbsolutePath().normalize().resolveSibling("README.md"),
                "figures",
                Headline.text(results, charts));
    }

    private static void draw(List<Chart> charts, Path docs) throws IOException {
        System.setProperty("java.awt.headless", "true");
        Path folder = Files.createDirectories(docs.resolve("charts"));
        try (Stream<Path> older = Files.list(folder)) {
            for (Path chart :
                    older.filter(file -> file.toString().endsWith(".png")).toList()) {
                Files.delete(chart); // this run may have nothing for it
            }
        }
        for (Chart chart : charts) {
            ImageIO.write(
                    Look.picture(chart.plot().chart()),
                    "png",
                    docs.resolve(chart.file()).toFile());
        }
    }
}
