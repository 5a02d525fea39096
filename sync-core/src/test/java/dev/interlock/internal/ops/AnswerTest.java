package dev.interlock.internal.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of different versions understand each other's answers. */
class AnswerTest {
    private static final Stake STAKE = new Stake(
            "order: 42\n",
            "lock",
            List.of(new Hold("INSIDE", "a thread", 7, false, 0, 9, 1_000)),
            List.of(new Wait("another", 8, "", 0, Stake.UNKNOWN)));

    @ParameterizedTest
    @ValueSource(strings = {"web-1-4711", "a b", "%20", "+", "a\nb", "\u00e4\ud83d\ude00", " "})
    void anyTextArrives(String name) {
        Answer sent = new Answer(name, name, 17, 2_000, List.of(STAKE.named(name)));
        Answer received = Answer.parse(sent.text(), "");
        assertThat(received).isEqualTo(sent);
        assertThat(Answer.nameIn(received)).isEqualTo(name);
    }

    @Test
    void anAnswerWithoutANameIsUnderstood() {
        Answer received = Answer.parse("web-1 17 2000\n" + STAKE.line(), "");
        assertThat(received).isEqualTo(new Answer("", "web-1", 17, 2_000, List.of(STAKE)));
        assertThat(Answer.nameIn(received)).isNull();
        assertThat(Answer.nameIn(null)).isNull();
    }

    /** Versions that know nothing of names read the first three words. */
    @Test
    void theNameComesAfterWhatOtherVersionsRead() {
        assertThat(new Answer("orders", "web-1", 17, 2_000, List.of()).text()).isEqualTo("web-1 17 2000 orders");
    }

    @Test
    void whatIsNoAnswerIsNone() {
        assertThat(Answer.parse(null, "")).isNull();
        assertThat(Answer.parse("", "")).isNull();
        assertThat(Answer.parse("web-1 x 2000", "")).isNull();
    }
}
