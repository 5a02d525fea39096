package dev.interlock.testing.rig;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTest {

    private record Line(int jvm, int thread, long first, long second) {}

    private static final LogFormat<Line> FORMAT =
            new LogFormat<>(2, 2, (jvm, thread, words) -> new Line(jvm, thread, words[0], words[1]));

    @TempDir
    private Path folder;

    @Test
    void whatIsRecordedIsRead() throws IOException {
        Path file = folder.resolve("lines");
        List<Log> logs = FORMAT.open(file, 3);
        logs.get(1).add(10, 20);
        assertThat(logs.get(1).isFull()).isFalse();
        logs.get(1).add(30, 40);
        logs.get(0).add(50, 0);
        assertThat(logs.get(1).isFull()).isTrue();
        assertThat(logs).extracting(Log::size).containsExactly(1, 2, 0);
        assertThat(FORMAT.read(3, file, 3))
                .containsExactlyInAnyOrder(new Line(3, 1, 10, 20), new Line(3, 1, 30, 40), new Line(3, 0, 50, 0));
    }

    /** A record of which a part is written when its JVM dies is read as far as it goes. */
    @Test
    void whatHasNotEndedIsRead() throws IOException {
        Path file = folder.resolve("lines");
        Log log = FORMAT.open(file, 1).get(0);
        log.put(1, 7);
        assertThat(FORMAT.read(0, file, 1)).isEmpty();
        log.put(0, 5);
        assertThat(log.size()).isZero();
        assertThat(FORMAT.read(0, file, 1)).containsExactly(new Line(0, 0, 5, 7));
    }
}
