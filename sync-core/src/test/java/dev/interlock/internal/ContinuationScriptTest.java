package dev.interlock.internal;

import static dev.interlock.internal.Contender.NOTHING;
import static dev.interlock.internal.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.Contender.Answer;
import dev.interlock.internal.Contender.Request;
import dev.interlock.internal.Contender.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sessions with several tickets of which one continues a tenure, and so is granted before others with lower sequences; and
 * sessions whose tenure is lost before Redis knows what was served on it.
 */
class ContinuationScriptTest extends LockScriptTest {

    /** What was to continue a tenure ends no other one, which may be in use; whether it comes late, or a second time. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lateContinuationEndsNoOtherTenure(boolean comesTwice) {
        Contender a = contender();
        Contender b = contender();
        Contender c = contender();
        a.requests(5L).send();
        b.requests(1L).send();
        a.requests(7L).send();
        c.requests(1L).send();
        expire();
        b.requests(1L).send();
        assertThat(owners()).containsExactly(b.owner(1));
        Request late = a.requests(8L).continuing(5);
        if (comesTwice) {
            assertThat(late.send().status()).isEqualTo(Status.QUEUED);
        }
        b.release(1);
        assertThat(owners()).containsExactly(a.owner(7));
        Answer answer = late.send();
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        assertThat(answer.owner()).isEqualTo(7);
        assertThat(owners()).containsExactly(a.owner(7));
        assertThat(tickets()).containsExactly(c.ticket(1), a.ticket(8));
    }

    @Test
    void continuedTenureHasTheRunBehindIt() {
        Contender a = contender();
        Contender b = contender();
        a.requests(5L, 6L).send();
        b.requests(1L).send();
        a.requests(7L).send();
        Answer answer = a.requests(8L).continuing(5).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.owner()).isEqualTo(8);
        assertThat(answer.run()).isEqualTo(6);
        assertThat(tickets()).containsExactly(a.ticket(6), b.ticket(1), a.ticket(7));
    }

    /** Where another session is next, the run ends with the tenure itself: lower sequences may stand behind that session. */
    @Test
    void continuedTenureHasNoRunBehindOthers() {
        Contender a = contender();
        Contender b = contender();
        a.requests(5L).send();
        b.requests(1L).send();
        a.requests(7L).send();
        Answer answer = a.requests(8L).continuing(5).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.owner()).isEqualTo(8);
        assertThat(answer.run()).isZero();
        assertThat(tickets()).containsExactly(b.ticket(1), a.ticket(7));
    }

    /** A ticket served on a tenure that was lost meanwhile may be granted before Redis knows; nobody waits with it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void usedTicketThatIsGrantedIsGivenUpWithItsTenure(boolean othersWait) {
        Contender a = contender();
        Contender b = contender();
        a.requests(1L, 2L).send();
        b.requests(1L).send();
        expire();
        b.requests(1L).send();
        assertThat(owners()).containsExactly(a.owner(2));
        if (!othersWait) {
            b.release(1);
        }
        assertThat(a.releaseWith(1, 2L)).as("it was lost").isEqualTo(NOTHING);
        assertThat(owners()).doesNotContain(a.owner(2));
        assertThat(tickets()).isEmpty();
    }

    /** What was used is told with a request, even if nothing of that one stands. */
    @Test
    void usedTicketsLeaveWithARequestThatIsOver() {
        Contender a = contender();
        Contender b = contender();
        a.requests(1L, 2L).send();
        b.requests(1L).send();
        a.release(3);
        assertThat(a.requests(3L).using(2L).send().status()).isEqualTo(Status.OVER);
        assertThat(tickets()).containsExactly(b.ticket(1));
    }

    /** A repeated release answers the same, though a tenure of a lower sequence has been dropped since. */
    @Test
    void dropLowersNoMarkOfARelease() {
        Contender a = contender();
        a.requests(5L, 7L).send();
        a.requests(8L).continuing(5).send();
        assertThat(a.release(8)).isEqualTo(TENURE);
        assertThat(a.drop(7)).isTrue();
        assertThat(a.release(8)).isEqualTo(TENURE);
        assertThat(redis("GET", a.mark())).isEqualTo("8:8");
    }
}
