package dev.interlock.lock.fleet.section;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The judge of the fleet is strict enough. */
class SectionTest {

    @Test
    void sectionsOneAfterTheOtherAreFine() {
        Section.assertExclusiveAndFenced(List.of(
                new Section(1, 0, 30, 40, 7),
                new Section(0, 0, 10, 20, 5),
                new Section(2, 0, 20, 30, Section.NO_TOKEN),
                new Section(1, 1, 40, 40, 8)));
    }

    @Test
    void overlapIsSeen() {
        assertThatThrownBy(() -> Section.assertExclusiveAndFenced(
                        List.of(new Section(0, 0, 10, 21, 5), new Section(1, 0, 20, 30, 6))))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Overlap by 1 ns");
        assertThatThrownBy(() -> Section.assertExclusiveAndFenced(
                        List.of(new Section(0, 0, 10, 40, 5), new Section(1, 0, 20, 30, Section.NO_TOKEN))))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Overlap by 20 ns");
    }

    @Test
    void tokenThatDoesNotIncreaseIsSeen() {
        assertThatThrownBy(() -> Section.assertExclusiveAndFenced(List.of(
                        new Section(0, 0, 10, 20, 5),
                        new Section(2, 0, 20, 30, Section.NO_TOKEN),
                        new Section(1, 0, 30, 40, 5))))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Fencing tokens don't increase");
    }
}
