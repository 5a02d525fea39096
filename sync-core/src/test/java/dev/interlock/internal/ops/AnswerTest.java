package dev.interlock.internal.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.Presence;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.internal.ops.Answer.Part;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of different versions understand each other's answers. */
class AnswerTest {
    private static final Part WHOLE = new Part(0, true);
    private static final Stake STAKE = new Stake(
            "order: 42\n",
            "lock",
            List.of(new Hold("INSIDE", "a thread", 7, false, 0, 9, 1_000)),
            List.of(new Wait("another", 8, "", 0, Stake.UNKNOWN)));

    private static Answer read(String... parts) {
        return Answer.of("s1", Presence.UNKNOWN, List.of(parts), true, "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"web-1-4711", "a b", "%20", "+", "a\nb", "\u00e4\ud83d\ude00", " "})
    void anyTextArrives(String name) {
        Presence presence = new Presence(name, name, 17, name);
        String text = Answer.text(presence, 2_000, WHOLE, List.of(STAKE.named(name)));
        Answer received = read(text);
        assertThat(received).isEqualTo(new Answer(presence, Presence.JVM, 2_000, List.of(STAKE.named(name))));
        assertThat(received.name()).isEqualTo(name);
        assertThat(Presence.parse(presence.words())).isEqualTo(presence);
    }

    @Test
    void partsAreJoined() {
        Presence presence = new Presence("orders", "web-1", 17, "0.1.0");
        String first = Answer.text(presence, 2_000, new Part(0, false), List.of(STAKE));
        String last = Answer.text(presence, 2_000, new Part(1, true), List.of(STAKE.named("b")));
        assertThat(Part.of(first)).isEqualTo(new Part(0, false));
        assertThat(Part.of(last)).isEqualTo(new Part(1, true));
        assertThat(read(first, last).stakes()).containsExactly(STAKE, STAKE.named("b"));
        Answer half = Answer.of("s1", Presence.UNKNOWN, List.of(first), false, "");
        assertThat(half.isSilent()).isTrue();
        assertThat(half.stakes()).containsExactly(STAKE);
        assertThat(half.presence()).isEqualTo(presence);
    }

    @Test
    void anAnswerWithoutANameAndAVersionIsUnderstood() {
        String text = "web-1 17 2000\n" + STAKE.line();
        assertThat(Part.of(text)).isEqualTo(WHOLE);
        Answer received = read(text);
        assertThat(received).isEqualTo(new Answer(new Presence("", "web-1", 17, ""), "s1", 2_000, List.of(STAKE)));
        assertThat(received.name()).isNull();
    }

    /** Versions that know fewer words read what is before. */
    @Test
    void whatIsNewComesAfterWhatOtherVersionsRead() {
        assertThat(Answer.text(new Presence("orders", "web-1", 17, "0.1.0"), 2_000, WHOLE, List.of()))
                .startsWith("web-1 17 2000 orders ")
                .endsWith(" 0.1.0");
        assertThat(new Presence("orders", "web-1", 17, "0.1.0").words()).isEqualTo("web-1 17 orders 0.1.0");
    }

    @Test
    void whatALaterVersionSaysBesidesIsPassedOver() {
        Presence presence = new Presence("orders", "web-1", 17, "0.2.0");
        String text = Answer.text(presence, 2_000, new Part(1, false), List.of());
        assertThat(Part.of(text + " more")).isEqualTo(new Part(1, false));
        assertThat(read(text + " more").presence()).isEqualTo(presence);
        assertThat(Presence.parse(presence.words() + " more")).isEqualTo(presence);
    }

    @Test
    void thePresenceOfASessionThatTellsNoVersionIsUnderstood() {
        assertThat(Presence.parse("web-1 17 orders")).isEqualTo(new Presence("orders", "web-1", 17, ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "web-1 x 2000",
                "web-1 17 -2",
                "web-1 17 2000\na",
                "web-1 17 2000\na lock h FORGED t 5 0 0 7 1000",
                "web-1 17 2000\na lock h INSIDE t 5 0 -1 7 1000",
                "web-1 17 2000\na lock w t 5 c 0 9007199254740993"
            })
    void whatIsNoAnswerIsNone(String text) {
        assertThat(read(text).isSilent()).isTrue();
        assertThat(Answer.of("s1", Presence.UNKNOWN, List.of(), false, "").isSilent())
                .isTrue();
    }
}
