package dev.interlock.benchmarks.pages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A part of a page that people write, between two lines that mark it. */
final class Passage {

    private Passage() {}

    /**
     * Replaces it.
     *
     * @param page without which there is nothing to do
     * @param mark the word in both lines
     * @throws IllegalStateException if the page doesn't have them
     */
    static void replace(Path page, String mark, String text) {
        if (!Files.exists(page)) {
            return;
        }
        try {
            String all = Files.readString(page);
            int begin = all.indexOf("<!-- " + mark + ": begin");
            int end = all.indexOf("<!-- " + mark + ": end");
            if (begin < 0 || end < begin) {
                throw new IllegalStateException(page + " has no place between lines that say '" + mark + "'");
            }
            Files.writeString(page, all.substring(0, all.indexOf('\n', begin) + 1) + text + "\n" + all.substring(end));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
