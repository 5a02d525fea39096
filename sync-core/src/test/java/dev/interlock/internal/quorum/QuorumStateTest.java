package dev.interlock.internal.quorum;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.quorum.QuorumEffect.GiveUp;
import dev.interlock.internal.quorum.QuorumEffect.Heard;
import dev.interlock.internal.quorum.QuorumEffect.Wake;
import dev.interlock.internal.quorum.QuorumEffect.WriteBack;
import dev.interlock.internal.quorum.QuorumRelease.Verdict;
import dev.interlock.internal.quorum.QuorumScripts.Released;
import dev.interlock.internal.quorum.QuorumScripts.Status;
import dev.interlock.internal.quorum.QuorumScripts.Vote;
import dev.interlock.internal.quorum.QuorumState.Unreleased;
import dev.interlock.internal.quorum.QuorumTenure.Renewal;
import dev.interlock.internal.quorum.VoteRound.Defeat;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a quorum lock's state makes of votes, releases, and answers about the owner. */
class QuorumStateTest extends QuorumStateFixture {
    // ---- votes

    @Test
    void aMajorityThatHasDrawnTheSameTokenWins() {
        VoteRound round = ask(0);
        assertThat(state.own(round, at(0))).isNull();
        state.answered(round, 0, voted(7), null);
        assertThat(round.isDecided()).isFalse();
        assertThat(effects()).containsExactly(new Wake());
        state.answered(round, 2, voted(7), null);
        assertThat(round.isDecided()).isTrue();
        assertThat(effects()).containsExactly(new Heard(), new Wake());

        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        assertThat(state.tenure()).isSameAs(tenure);
        assertThat(tenure.tokens.remotePart()).isEqualTo(7);
        assertThat(tenure.tokens.isDrawn()).isTrue();
        assertThat(tenure.strength()).isEqualTo(2);
        assertThat(tenure.isUsable(at(LEASE - 501))).isTrue();
        assertThat(tenure.isUsable(at(LEASE - 500))).isFalse();
        assertThat(state.describe("me", at(1))).isEqualTo("tenure 1000 of me at 2 of 3 nodes");
    }

    @Test
    void theValidityIsThatOfTheMajoritysShortestLease() {
        VoteRound round = ask(0);
        state.answered(round, 0, new Vote(Status.VOTED, 10_000, 7, "me"), null);
        state.answered(round, 1, new Vote(Status.VOTED, 20_000, 7, "me"), null);
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        assertThat(tenure.isUsable(at(9_499))).isTrue();
        assertThat(tenure.isUsable(at(9_500))).isFalse();
    }

    @Test
    void theGreatestTokenIsWrittenBackBeforeAnybodyEnters() {
        VoteRound round = ask(0);
        vote(round, 5, 9);
        assertThat(round.token()).isEqualTo(9);
        assertThat(effects()).containsExactly(new Wake(), new WriteBack(round, 0), new Heard());
        assertThat(round.isDecided()).isFalse();
        assertThat(state.own(round, at(1))).isNull();
        round.wroteBack(0, kept(5), null);
        assertThat(effects()).containsExactly(new Wake());
        assertThat(requireNonNull(state.own(round, at(1))).tokens.remotePart()).isEqualTo(9);
    }

    @Test
    void aNodeThatHasVotedForAnotherInBetweenConfirmsNothing() {
        VoteRound round = ask(0);
        vote(round, 5, 9);
        round.wroteBack(0, kept(6), null);
        assertThat(round.isWon()).isFalse();
        assertThat(round.isDecided()).as("the third node may vote").isFalse();
        state.answered(round, 2, voted(3), null);
        round.wroteBack(2, null, silence);
        assertThat(round.isDecided()).isTrue();
        assertThat(state.own(round, at(1))).isNull();
        assertThat(state.failure()).isSameAs(silence);
    }

    @Test
    void aWriteBackThatFindsNoVoteConfirmsNothing() {
        VoteRound round = ask(0);
        vote(round, 5, 9);
        round.wroteBack(0, gone(), null);
        round.wroteBack(2, kept(5), null);
        assertThat(round.isWon()).isFalse();
        assertThat(round.isDecided()).isTrue();
    }

    @Test
    void aRoundThatTookLongerThanItsLeaseOwnsNothing() {
        VoteRound round = ask(0);
        vote(round, 7, 7);
        assertThat(state.own(round, at(LEASE))).isNull();
        assertThat(state.tenure()).isNull();
        assertThat(losses()).isEmpty();
    }

    @Test
    void votesThatSplitAreGivenBackAndSoAreThoseThatComeLate() {
        VoteRound round = ask(0);
        state.answered(round, 0, voted(4), null);
        state.answered(round, 1, refused("a", 900), null);
        assertThat(round.isDecided()).isFalse();
        round.expire(true);
        assertThat(round.isDecided()).isTrue();
        effects();
        Defeat defeat = state.abandon(round);
        assertThat(effects()).containsExactly(new GiveUp(round, 0));
        assertThat(defeat).isEqualTo(new Defeat(true, false, -1, null, null));

        state.answered(round, 2, voted(8), null);
        assertThat(effects()).containsExactly(new GiveUp(round, 2), new Wake());
        assertThat(round.isWon()).isFalse();
        assertThat(ask(1).request.floor())
                .as("a token above those seen by then")
                .isEqualTo(5);
    }

    @Test
    void aVoteThatComesAfterTheLastLookCountsForNothing() {
        VoteRound round = ask(0);
        state.answered(round, 0, voted(4), null);
        round.expire(false);
        effects();
        state.answered(round, 1, voted(4), null);
        assertThat(effects()).containsExactly(new Heard(), new Wake());
        assertThat(round.isWon()).isFalse();
        Defeat defeat = state.abandon(round);
        assertThat(defeat.cutShort()).isTrue();
        assertThat(defeat.refused()).isFalse();
        assertThat(effects()).containsExactly(new GiveUp(round, 0), new GiveUp(round, 1));
    }

    @Test
    void anOwnerAtAMajorityTellsWhenToAskAgain() {
        VoteRound round = ask(0);
        state.answered(round, 0, refused("a", 700), null);
        state.answered(round, 1, refused("a", 650), null);
        assertThat(round.isDecided()).isTrue();
        Defeat defeat = state.abandon(round);
        assertThat(defeat.refused()).isTrue();
        assertThat(defeat.ownerTtlMillis()).isEqualTo(650);
        assertThat(defeat.pauseNanos(0, new Random(1))).isBetween(651 * MILLI, 667 * MILLI);
    }

    @Test
    void thePauseIsLongerWithEachRoundAndNeverLongerThanASecondOrSo() {
        Defeat split = new Defeat(true, false, -1, null, null);
        Random random = new Random(1);
        for (int attempt = 0; attempt < 20; attempt++) {
            long most = (4 * MILLI) << Math.min(attempt, 6);
            assertThat(split.pauseNanos(attempt, random)).isBetween(1L, most);
        }
        Defeat owned = new Defeat(true, false, LEASE, null, null);
        assertThat(owned.pauseNanos(3, random)).isBetween(1_000 * MILLI, 1_016 * MILLI);
    }

    @Test
    void nodesThatFailDecideARoundWhenAMajorityIsImpossible() {
        VoteRound round = ask(0);
        state.answered(round, 0, null, silence);
        assertThat(round.isDecided()).isFalse();
        state.answered(round, 1, null, null);
        assertThat(round.isDecided()).isTrue();
        assertThat(state.abandon(round)).isEqualTo(new Defeat(false, false, -1, silence, null));
    }

    @Test
    void whatLastsIsARefusalOnlyIfNoMajorityIsLeft() {
        VoteRound round = ask(0);
        state.answered(round, 0, null, lasting);
        state.answered(round, 1, refused("a", 10), null);
        assertThat(state.abandon(round).refusal()).isNull();
        round = ask(1);
        state.answered(round, 0, null, lasting);
        state.answered(round, 1, null, lasting);
        assertThat(state.abandon(round).refusal()).isSameAs(lasting);
    }

    @Test
    void aRequestThatIsOverIsARefusal() {
        VoteRound round = ask(0);
        state.answered(round, 0, new Vote(Status.OVER, 0, 0, ""), null);
        state.answered(round, 1, new Vote(Status.OVER, 0, 0, ""), null);
        assertThat(round.isDecided()).isTrue();
        assertThat(state.abandon(round).ownerTtlMillis()).isEqualTo(-1);
    }

    @Test
    void aVoteForARoundBeforeTheTenuresIsNotTheTenures() {
        VoteRound lost = ask(0);
        assertThat(state.failure()).isNull();
        state.answered(lost, 0, voted(4), null);
        state.abandon(lost);
        VoteRound won = ask(1);
        vote(won, 7, 7);
        QuorumTenure tenure = requireNonNull(state.own(won, at(2)));
        state.answered(lost, 2, voted(5), null);
        Renewal renewal = renewal(tenure, 1_002);
        renewal.answered(2, kept(5), null, at(1_003));
        assertThat(tenure.strength()).as("a vote that was not known").isEqualTo(2);
    }

    @Test
    void aTokenIsWrittenBackToNobodyAfterTheLastLook() {
        VoteRound round = ask(0);
        vote(round, 9, 9);
        round.expire(false);
        effects();
        state.answered(round, 2, voted(5), null);
        assertThat(effects()).containsExactly(new Wake());
    }

    @Test
    void nodesThatAreFreedCountForOneRound() {
        ask(0);
        state.freed++;
        assertThat(state.freed).isEqualTo(1);
        ask(1);
        assertThat(state.freed).isZero();
    }

    @Test
    void answersAreWaitedForForAThirdOfAShortLease() {
        assertThat(VoteRound.patienceNanos(settings, 300)).isEqualTo(100 * MILLI);
        assertThat(VoteRound.patienceNanos(settings, LEASE)).isEqualTo(500 * MILLI);
    }

    // ---- releases

    @Test
    void aReleaseIsSettledByAMajorityAndOverWhenAllHaveConfirmed() {
        tenure();
        QuorumRelease release = release(10);
        assertThat(release.sequence).isEqualTo(1_000);
        assertThat(state.release()).as("nothing is left").isNull();
        release.sent(0, at(10), false);
        release.answered(0, new Released(true, 0), at(11));
        assertThat(release.verdict).isNotDone();
        release.answered(2, new Released(true, 2), at(11));
        assertThat(release.verdict).isCompletedWithValue(Verdict.OWNED);
        assertThat(release.isWaitedFor()).isTrue();
        assertThat(release.everywhere).isNotDone();
        assertThat(release.leaseLeftMillis(at(11))).isEqualTo(LEASE - 1);
        release.answered(1, new Released(false, 0), at(12));
        assertThat(release.everywhere).isDone();
        assertThat(release.leaseLeftMillis(at(12))).isZero();
        assertThat(release.isOver(0, at(12))).isTrue();
    }

    @Test
    void aReleaseThatAMajorityKnowsNothingOfTellsOfALoss() {
        tenure();
        QuorumRelease release = release(10);
        release.answered(0, new Released(false, 0), at(11));
        assertThat(release.answered(0, new Released(false, 0), at(11)))
                .as("a doubled answer")
                .isFalse();
        assertThat(release.verdict).isNotDone();
        release.answered(1, new Released(false, 0), at(11));
        assertThat(release.verdict).isCompletedWithValue(Verdict.LOST);
        assertThat(release.isWaitedFor()).isFalse();
    }

    @Test
    void aReleaseIsRepeatedToANodeThatIsAwayUntilTheLeaseIsOver() {
        tenure();
        QuorumRelease release = release(0);
        assertThat(release.isDue(0, at(0), 500 * MILLI)).isTrue();
        release.sent(0, at(0), false);
        assertThat(release.isDue(0, at(499), 500 * MILLI)).isFalse();
        assertThat(release.isDue(0, at(500), 500 * MILLI)).isTrue();
        assertThat(release.answered(0, null, at(501))).isFalse();
        assertThat(release.isDue(0, at(501), 500 * MILLI)).isTrue();
        assertThat(release.isOver(0, at(LEASE - 1))).isFalse();
        assertThat(release.isOver(0, at(LEASE))).isTrue();
        assertThat(release.verdict).isCompletedExceptionally();
        assertThat(release.everywhere).isDone();
    }

    @Test
    void aSessionThatClosesTriesOnce() {
        assertThat(state.unreleased()).isNull();
        ask(0);
        assertThat(state.unreleased()).isEqualTo(new Unreleased(1_000, LEASE));
        QuorumRelease release = release(1);
        release.sent(0, at(1), true);
        assertThat(release.answered(0, null, at(2))).isTrue();
        assertThat(release.isOver(0, at(2))).isTrue();
        assertThat(release.isOver(1, at(2))).isFalse();
    }

    @Test
    void aLaterReleaseIncludesOneThatNodesHaveYetToConfirm() {
        tenure();
        QuorumRelease first = release(0);
        state.ask(5_000, 100, false, true, at(10));
        QuorumRelease second = first.including(requireNonNull(state.release()), at(1_000));
        assertThat(second.sequence).isEqualTo(5_000);
        assertThat(second.leaseMillis)
                .as("the first lease may be on its way yet")
                .isEqualTo(LEASE - 1_000);
        assertThat(first.isOver(1, at(1_000))).isTrue();
        assertThat(second.isOver(1, at(1_000))).isFalse();
    }

    @Test
    void aReleaseLastsAsLongAsTheLongestLeaseThatWasAskedFor() {
        state.ask(1_000, 900, false, true, at(0));
        state.ask(2_000, 100, false, true, at(1));
        assertThat(state.describe("me", at(1))).isEqualTo("request 2000 of me");
        assertThat(state.release()).isEqualTo(new Unreleased(2_000, 900));
        assertThat(state.describe("me", at(2))).isEqualTo("no tenure of me");
    }

    // ---- questions

    @Test
    void anOwnerAtAMajorityOwnsTheNameWhateverTheOthersSay() {
        OwnerQuery query = new OwnerQuery(3, 2);
        query.answered("a");
        assertThat(query.done).isNotDone();
        query.answered("a");
        assertThat(query.done).isDone();
        assertThat(query.isKnown()).isTrue();
        assertThat(query.isOwned()).isTrue();
    }

    @Test
    void nobodyAtAMajorityIsNobody() {
        OwnerQuery query = new OwnerQuery(3, 2);
        query.answered("");
        query.failed(silence);
        assertThat(query.isKnown()).isFalse();
        query.answered("");
        assertThat(query.isKnown()).isTrue();
        assertThat(query.isOwned()).isFalse();
    }

    @Test
    void theVotesOfASilentNodeMayBeTheOwners() {
        OwnerQuery query = new OwnerQuery(3, 2);
        query.answered("a");
        query.answered("");
        assertThat(query.done).isNotDone();
        query.failed(silence);
        assertThat(query.done).isDone();
        assertThat(query.isOwned()).isTrue();
    }

    @Test
    void aNameOfThreeOwnersIsNobodys() {
        OwnerQuery query = new OwnerQuery(3, 2);
        query.answered("a");
        query.answered("b");
        query.answered("");
        assertThat(query.done).isDone();
        assertThat(query.isOwned()).isFalse();
    }

    @Test
    void aMajorityThatRefusesToSayIsARefusal() {
        OwnerQuery query = new OwnerQuery(3, 2);
        query.failed(lasting);
        query.answered("a");
        assertThat(query.refusal()).isNull();
        query.failed(lasting);
        assertThat(query.done).isDone();
        assertThat(query.refusal()).isSameAs(lasting);
    }
}
