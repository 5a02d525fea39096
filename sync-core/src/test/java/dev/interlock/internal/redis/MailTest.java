package dev.interlock.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What scripts publish, read: each kind, and what is no message. */
class MailTest {
    private static final String KEY = "a key: with 7 spaces";

    static Stream<Arguments> messages() {
        return Stream.of(
                Arguments.of("g 5 6 7 3 8 -9 ", new Mail.Grant(KEY, 5, 6, 7, true, true, 8, -9)),
                Arguments.of("g 5 6 7 0 0 0 ", new Mail.Grant(KEY, 5, 6, 7, false, false, 0, 0)),
                Arguments.of(
                        "s 4 1 2 -3 0 ",
                        new Mail.Admission(KEY, List.of(new Mail.Admitted(1, 2), new Mail.Admitted(-3, 0)))),
                Arguments.of("s 0 ", new Mail.Admission(KEY, List.of())),
                Arguments.of("d 5 ", new Mail.Demand(KEY, 5)),
                Arguments.of("n 5 ", new Mail.DemandOver(KEY, 5)),
                Arguments.of("i 5 6 interlock-7 ", new Mail.IdleQuestion(KEY, 5, 6, "interlock-7")),
                Arguments.of("a 5 1 ", new Mail.IdleAnswer(KEY, 5, true)),
                Arguments.of("a 5 0 ", new Mail.IdleAnswer(KEY, 5, false)),
                Arguments.of("p 10 ", new Mail.AskAgain(KEY, 10)),
                Arguments.of("b 5 6 ", new Mail.Booking(KEY, 5, 6)),
                Arguments.of("o 5 ", new Mail.Opening(KEY, 5)),
                Arguments.of("t 5 1 ", new Mail.GenerationEnd(KEY, 5, 1)),
                Arguments.of("q 5 ", new Mail.NodeFreed(KEY)));
    }

    /** The key comes last, and may contain anything. */
    @ParameterizedTest
    @MethodSource("messages")
    void eachKindIsRead(String numbers, Mail mail) {
        assertThat(Mail.parse(numbers + KEY)).isEqualTo(mail);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "g",
                "g ",
                "g 1 2 3 key",
                "d x key",
                "d  key",
                "i 5 6 key",
                "a 5 key",
                "d 99999999999999999999 key",
                "s -2 key",
                "s 1 5 key",
                "s 99999999 1 2 key",
                "z 1 key",
                "dd 1 key"
            })
    void strangersMessagesAreRefused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Mail.parse(text));
    }

    /** A session refuses tickets that it can't have had yet. */
    @ParameterizedTest
    @MethodSource("messages")
    void theGreatestTicketIsFound(String numbers, Mail mail) {
        boolean isOfOne = numbers.matches("[gdi] .*");
        Long expected = isOfOne ? Long.valueOf(5) : numbers.startsWith("s 4") ? Long.valueOf(2) : null;
        assertThat(mail.greatestTicket()).isEqualTo(expected);
    }
}
