package dev.interlock.readwrite.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The judge of histories is strict enough. */
class PassageTest {

    @TempDir
    private Path folder;

    private static Passage reader(long enter, long exit, long first, long second) {
        return new Passage(0, 0, enter, enter, exit, Passage.READER, first, second);
    }

    private static Passage writer(long enter, long exit, long token, long found) {
        return new Passage(1, 0, enter, enter, exit, token, found, found);
    }

    @Test
    void readersTogetherAndWritersAloneAreFine() {
        Passage.assertReadersShareAndWritersExclude(List.of(
                writer(60, 70, 9, 7),
                reader(10, 20, 0, 0),
                reader(15, 30, 0, 0),
                writer(30, 40, 7, 0),
                reader(40, 60, 7, 7),
                reader(45, 50, 7, 7),
                reader(70, 70, 9, 9)));
    }

    static Stream<Arguments> wrongHistories() {
        return Stream.of(
                Arguments.of("Beside a writer for 1 ns", List.of(writer(10, 21, 5, 0), reader(20, 30, 5, 5))),
                Arguments.of("Beside a writer for 5 ns", List.of(writer(10, 20, 5, 0), reader(15, 18, 5, 5))),
                Arguments.of("Beside a writer for 1 ns", List.of(writer(10, 21, 5, 0), writer(20, 30, 6, 5))),
                Arguments.of("Writes beside another for 1 ns", List.of(reader(10, 21, 0, 0), writer(20, 30, 5, 0))),
                Arguments.of(
                        "Writes beside another for 80 ns",
                        List.of(reader(10, 100, 0, 0), reader(12, 14, 0, 0), writer(20, 30, 5, 0))),
                Arguments.of("Fencing tokens don't increase", List.of(writer(10, 20, 5, 0), writer(20, 30, 5, 5))),
                Arguments.of("A torn pair", List.of(writer(10, 20, 5, 0), reader(20, 30, 5, 0))),
                Arguments.of("Not what the last writer", List.of(writer(10, 20, 5, 0), reader(20, 30, 0, 0))),
                Arguments.of("Not what the last writer", List.of(reader(10, 20, 5, 5), writer(30, 40, 5, 5))),
                Arguments.of("A clock went backwards", List.of(reader(20, 10, 0, 0))));
    }

    @ParameterizedTest
    @MethodSource("wrongHistories")
    void whatIsWrongIsSeen(String verdict, List<Passage> history) {
        assertThatThrownBy(() -> Passage.assertReadersShareAndWritersExclude(history))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(verdict);
    }

    @Test
    void bothOfAPairAreShared() throws IOException {
        Path file = folder.resolve("pair");
        SharedPair mine = SharedPair.open(file);
        SharedPair theirs = SharedPair.open(file);
        assertThat(theirs.first() + theirs.second()).isZero();
        mine.setFirst(7);
        mine.setSecond(8);
        assertThat(theirs.first()).isEqualTo(7);
        assertThat(theirs.second()).isEqualTo(8);
    }
}
