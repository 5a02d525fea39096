package dev.interlock.semaphore.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The judge of histories is strict enough. */
class StayTest {

    private static Stay stay(long enter, long exit, int permits) {
        return new Stay(0, 0, enter, enter, exit, permits);
    }

    @Test
    void asManyAsThereAreAreFine() {
        List<Stay> history =
                List.of(stay(60, 70, 3), stay(10, 30, 2), stay(20, 40, 1), stay(30, 60, 2), stay(60, 61, 1));
        assertThat(Stay.assertNeverMoreThan(4, history)).isEqualTo(4);
        assertThat(Stay.assertNeverMoreThan(5, history)).isEqualTo(4);
    }

    static Stream<Arguments> wrongHistories() {
        return Stream.of(
                Arguments.of("4 permits in use of 3", List.of(stay(10, 21, 2), stay(20, 30, 2))),
                Arguments.of("4 permits in use of 3", List.of(stay(20, 30, 2), stay(10, 21, 2))),
                Arguments.of("4 permits in use of 3", List.of(stay(10, 20, 4))),
                Arguments.of(
                        "4 permits in use of 3",
                        List.of(stay(10, 100, 1), stay(11, 12, 1), stay(13, 14, 2), stay(50, 60, 3))),
                Arguments.of(
                        "5 permits in use of 3",
                        List.of(stay(10, 100, 1), stay(11, 30, 1), stay(20, 40, 1), stay(30, 50, 3))),
                Arguments.of("A clock went backwards", List.of(stay(20, 10, 1))),
                Arguments.of("Nobody comes for 0 permits", List.of(stay(10, 20, 0))));
    }

    @ParameterizedTest
    @MethodSource("wrongHistories")
    void whatIsWrongIsSeen(String verdict, List<Stay> history) {
        assertThatThrownBy(() -> Stay.assertNeverMoreThan(3, history))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(verdict);
    }
}
