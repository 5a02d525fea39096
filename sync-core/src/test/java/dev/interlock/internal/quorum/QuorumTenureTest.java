package dev.interlock.internal.quorum;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.quorum.QuorumEffect.Expire;
import dev.interlock.internal.quorum.QuorumEffect.Report;
import dev.interlock.internal.quorum.QuorumEffect.Wake;
import dev.interlock.internal.quorum.QuorumEffect.WriteBack;
import dev.interlock.internal.quorum.QuorumScripts.Kept;
import dev.interlock.internal.quorum.QuorumScripts.Status;
import dev.interlock.internal.quorum.QuorumScripts.Vote;
import dev.interlock.internal.quorum.QuorumTenure.Renewal;
import org.junit.jupiter.api.Test;

/** How a quorum lock's tenure is renewed and lost. */
class QuorumTenureTest extends QuorumStateFixture {
    @Test
    void aLateVoteCountsOnlyWhenARenewalFindsItAgain() {
        VoteRound round = ask(0);
        vote(round, 7, 7);
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        effects();
        state.answered(round, 2, voted(6), null);
        assertThat(effects()).containsExactly(new WriteBack(round, 2), new Wake());
        assertThat(tenure.strength()).isEqualTo(2);

        assertThat(tenure.keep(at(1_000)))
                .as("the missing node is asked soon, not at once")
                .isNull();
        Renewal renewal = renewal(tenure, 1_001);
        renewal.answered(0, kept(7), null, at(1_002));
        renewal.answered(1, kept(7), null, at(1_002));
        assertThat(effects()).isEmpty();
        renewal.answered(2, kept(6), null, at(1_002));
        assertThat(tenure.strength()).isEqualTo(3);
        assertThat(effects()).containsExactly(new Report((LEASE - 500 - 1) * MILLI, null));
        assertThat(tenure.keep(at(11_000))).isNull();
        assertThat(tenure.keep(at(11_001))).isNotNull();
    }

    @Test
    void aLateVoteOfANodeThatCountsChangesNothing() {
        QuorumTenure tenure = tenure();
        tenure.votedLate(1, 99);
        Renewal renewal = renewal(tenure, 10_001);
        renewal.answered(1, kept(7), null, at(10_002));
        renewal.end(at(10_500));
        assertThat(tenure.strength()).isEqualTo(3);
    }

    @Test
    void aNodeThatWasAwayCountsFromTheSecondRenewalOn() {
        QuorumTenure tenure = tenure();
        Renewal first = renewal(tenure, 10_001);
        first.answered(0, kept(7), null, at(10_002));
        first.answered(1, kept(7), null, at(10_002));
        first.answered(2, kept(8), null, at(10_002));
        assertThat(tenure.strength()).as("a new vote doesn't count").isEqualTo(2);
        assertThat(tenure.keep(at(11_000))).isNull();
        Renewal second = renewal(tenure, 11_001);
        second.answered(2, kept(8), null, at(11_002));
        assertThat(tenure.strength()).isEqualTo(3);
        assertThat(losses()).isEmpty();
    }

    @Test
    void aRenewalThatFewerThanAMajorityAnswerIsToldAsAFailure() {
        QuorumTenure tenure = tenure();
        Renewal renewal = renewal(tenure, 10_001);
        assertThat(tenure.keep(at(10_100))).as("one at a time").isNull();
        renewal.answered(0, null, silence, at(10_002));
        renewal.answered(1, kept(7), null, at(10_002));
        renewal.end(at(10_501));
        renewal.end(at(10_502));
        assertThat(effects()).containsExactly(new Report((LEASE - 500 - 10_501) * MILLI, silence));
        renewal.answered(2, null, null, at(10_503));
        assertThat(effects()).as("it is over").isEmpty();
        assertThat(tenure.isUsable(at(10_503))).isTrue();
        assertThat(tenure.keep(at(11_001))).as("and repeated soon").isNotNull();
        assertThat(tenure.patienceNanos()).isEqualTo(500 * MILLI);
    }

    @Test
    void aTenureIsLostWhenAMajorityKnowsItNoMore() {
        QuorumTenure tenure = tenure();
        Renewal renewal = renewal(tenure, 10_001);
        renewal.answered(0, gone(), null, at(10_002));
        renewal.answered(1, gone(), null, at(10_002));
        assertThat(tenure.isUsable(at(10_002)))
                .as("until all that can have answered")
                .isTrue();
        renewal.answered(2, kept(7), null, at(10_002));
        assertThat(losses()).singleElement().satisfies(loss -> assertThat(loss).hasMessageContaining("no majority"));
        assertThat(tenure.isUsable(at(10_003))).isFalse();
        assertThat(tenure.keep(at(20_000))).isNull();
        assertThat(tenure.lose("again", at(20_000))).isSameAs(losses().get(0));
        assertThat(losses()).hasSize(1);
        assertThat(state.describe("me", at(10_003))).startsWith("lost tenure");
    }

    @Test
    void aNodeThatIsFoundMissingAfterTheRenewalCountsNoMoreAtOnce() {
        QuorumTenure tenure = tenure();
        Renewal renewal = renewal(tenure, 10_001);
        renewal.answered(0, kept(7), null, at(10_002));
        renewal.answered(1, kept(7), null, at(10_002));
        renewal.end(at(10_501));
        renewal.answered(2, gone(), null, at(10_600));
        assertThat(tenure.strength()).isEqualTo(2);
        assertThat(tenure.isUsable(at(10_601))).isTrue();
    }

    @Test
    void aLeaseThatIsSoonOverIsLookedAtInTime() {
        QuorumTenure tenure = tenure();
        assertThat(tenure.keep(at(LEASE - 600))).isNotNull();
        assertThat(effects()).containsExactly(new Expire(tenure, 101));
        tenure.expire(at(LEASE - 501));
        assertThat(losses()).isEmpty();
        tenure.expire(at(LEASE - 499));
        tenure.expire(at(LEASE - 498));
        assertThat(losses())
                .singleElement()
                .satisfies(loss -> assertThat(loss).hasMessageContaining("its lease is over"));
    }

    @Test
    void whatIsGivenUpIsNeitherRenewedNorLost() {
        QuorumTenure tenure = tenure();
        assertThat(state.endTenure()).isSameAs(tenure);
        assertThat(tenure.keep(at(LEASE))).isNull();
        tenure.expire(at(LEASE));
        assertThat(losses()).isEmpty();
    }

    @Test
    void aShortLeaseThatIsNotRenewedIsLookedAtFromTheBeginning() {
        VoteRound round = state.ask(1_000, 400, false, false, at(0));
        state.answered(round, 0, new Vote(Status.VOTED, 400, 7, "me"), null);
        state.answered(round, 1, new Vote(Status.VOTED, 400, 7, "me"), null);
        effects();
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        assertThat(effects()).containsExactly(new Expire(tenure, 400));
        assertThat(tenure.keep(at(200))).as("it is not renewed").isNull();
    }

    @Test
    void aLongLeaseIsLookedAtWhenItIsSoonOver() {
        VoteRound round = state.ask(1_000, LEASE, false, false, at(0));
        vote(round, 7, 7);
        effects();
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        assertThat(tenure.keep(at(LEASE / 2))).isNull();
        assertThat(effects()).isEmpty();
    }

    @Test
    void aTenureThatIsOverIsNotRenewed() {
        QuorumTenure tenure = tenure();
        assertThat(tenure.keep(at(LEASE - 500))).isNull();
        assertThat(effects()).containsExactly(new Expire(tenure, 1));
    }

    // ---- a machine that was suspended

    @Test
    void aTenureInDoubtIsUsableWhenAMajorityHasKeptItsVotes() {
        QuorumTenure tenure = tenure();
        suspend(2_000);
        assertThat(tenure.isUsable(at(2_001))).isFalse();
        assertThat(tenure.isOver(at(2_001))).isFalse();
        Renewal renewal = renewal(tenure, 2_001);
        assertThat(renewal.answered(0, kept(7), null, at(2_002))).isFalse();
        assertThat(tenure.isUsable(at(2_002))).as("one is no majority").isFalse();
        assertThat(renewal.answered(1, kept(7), null, at(2_002))).isTrue();
        assertThat(tenure.isUsable(at(2_002))).isTrue();
        assertThat(tenure.strength()).as("the third may be over").isEqualTo(2);
        renewal.answered(2, kept(7), null, at(2_003));
        assertThat(tenure.strength()).isEqualTo(3);
    }

    @Test
    void aTenureInDoubtThatAMajorityDoesNotKnowIsLost() {
        QuorumTenure tenure = tenure();
        suspend(2_000);
        Renewal renewal = renewal(tenure, 2_001);
        renewal.answered(0, kept(7), null, at(2_002));
        renewal.answered(1, gone(), null, at(2_002));
        assertThat(losses()).isEmpty();
        assertThat(renewal.answered(2, gone(), null, at(2_002))).isTrue();
        assertThat(losses()).hasSize(1);
        assertThat(tenure.isOver(at(2_003))).isTrue();
    }

    /** By the ticker there would be more of it. */
    @Test
    void ofAFixedLeaseInDoubtCountsWhatIsLeft() {
        VoteRound round = state.ask(1_000, LEASE, false, false, at(0));
        vote(round, 7, 7, 7);
        effects();
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        assertThat(tenure.renewedMillis()).isZero();
        suspend(2_000);
        Renewal renewal = renewal(tenure, 2_001);
        renewal.answered(0, new Kept(true, 1_000, 7), null, at(2_002));
        renewal.answered(1, new Kept(true, 1_000, 7), null, at(2_002));
        assertThat(tenure.isUsable(at(2_900))).isTrue();
        assertThat(tenure.isOver(at(2_951))).isTrue();
        assertThat(tenure.keep(at(2_003))).isNull();
    }
}
