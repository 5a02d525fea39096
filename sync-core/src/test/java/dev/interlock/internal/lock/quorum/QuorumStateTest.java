package dev.interlock.internal.lock.quorum;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.internal.lock.quorum.QuorumEffect.Expire;
import dev.interlock.internal.lock.quorum.QuorumEffect.GiveUp;
import dev.interlock.internal.lock.quorum.QuorumEffect.Heard;
import dev.interlock.internal.lock.quorum.QuorumEffect.Report;
import dev.interlock.internal.lock.quorum.QuorumEffect.Wake;
import dev.interlock.internal.lock.quorum.QuorumEffect.WriteBack;
import dev.interlock.internal.lock.quorum.QuorumRelease.Verdict;
import dev.interlock.internal.lock.quorum.QuorumScripts.Kept;
import dev.interlock.internal.lock.quorum.QuorumScripts.Released;
import dev.interlock.internal.lock.quorum.QuorumScripts.Status;
import dev.interlock.internal.lock.quorum.QuorumScripts.Vote;
import dev.interlock.internal.lock.quorum.QuorumTenure.Renewal;
import dev.interlock.internal.lock.quorum.VoteRound.Defeat;
import dev.interlock.internal.redis.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** A quorum lock's state, driven by events alone: no session, no Redis, no threads. The clock is about to overflow. */
class QuorumStateTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LEASE = 30_000;
    private static final Throwable SILENCE = new RedisTimeoutException("no answer");
    private static final Throwable LASTING = new RedisException("WRONGTYPE another type");

    private final long begun = Long.MAX_VALUE - 5_000 * MILLI;
    private final Settings settings =
            new Settings(LEASE, 0, 30_000 * MILLI, 500, 1, "", SyncListener.NONE, () -> begun);
    private final List<LeaseLostException> losses = new ArrayList<>();
    private final QuorumState state = new QuorumState("name", settings, 3, 2, losses::add);
    private long sequences;

    private long at(long millis) {
        return begun + millis * MILLI;
    }

    private VoteRound ask(long millis) {
        sequences += 1_000;
        return state.ask(sequences, LEASE, true, true, at(millis));
    }

    private static Vote voted(long token) {
        return new Vote(Status.VOTED, LEASE, token, "me");
    }

    private static Vote refused(String owner, long ttlMillis) {
        return new Vote(Status.REFUSED, ttlMillis, 0, owner);
    }

    private List<QuorumEffect> effects() {
        List<QuorumEffect> all = new ArrayList<>(state.effects);
        state.effects.clear();
        return all;
    }

    private void vote(VoteRound round, long first, long... others) {
        state.answered(round, 0, voted(first), null);
        for (int i = 0; i < others.length; i++) {
            state.answered(round, i + 1, voted(others[i]), null);
        }
    }

    /** Returns a tenure that all nodes have voted for, and that began at once. */
    private QuorumTenure tenure() {
        VoteRound round = ask(0);
        vote(round, 7, 7, 7);
        QuorumTenure tenure = requireNonNull(state.own(round, at(1)));
        effects();
        return tenure;
    }

    private Renewal renewal(QuorumTenure tenure, long millis) {
        return requireNonNull(tenure.keep(at(millis)), "a renewal is due");
    }

    private static Kept kept(long token) {
        return new Kept(true, LEASE, token);
    }

    private static Kept gone() {
        return new Kept(false, 0, 0);
    }

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
        assertThat(effects()).containsExactly(new Wake(), new WriteBack(round, 0), new Heard(), new Wake());
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
        round.wroteBack(2, null, SILENCE);
        assertThat(round.isDecided()).isTrue();
        assertThat(state.own(round, at(1))).isNull();
        assertThat(state.failure()).isSameAs(SILENCE);
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
        assertThat(losses).isEmpty();
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
            long most = 4 * MILLI << Math.min(attempt, 6);
            assertThat(split.pauseNanos(attempt, random)).isBetween(1L, most);
        }
        Defeat owned = new Defeat(true, false, LEASE, null, null);
        assertThat(owned.pauseNanos(3, random)).isBetween(1_000 * MILLI, 1_016 * MILLI);
    }

    @Test
    void nodesThatFailDecideARoundWhenAMajorityIsImpossible() {
        VoteRound round = ask(0);
        state.answered(round, 0, null, SILENCE);
        assertThat(round.isDecided()).isFalse();
        state.answered(round, 1, null, null);
        assertThat(round.isDecided()).isTrue();
        assertThat(state.abandon(round)).isEqualTo(new Defeat(false, false, -1, SILENCE, null));
    }

    @Test
    void whatLastsIsARefusalOnlyIfNoMajorityIsLeft() {
        VoteRound round = ask(0);
        state.answered(round, 0, null, LASTING);
        state.answered(round, 1, refused("a", 10), null);
        assertThat(state.abandon(round).refusal()).isNull();
        round = ask(1);
        state.answered(round, 0, null, LASTING);
        state.answered(round, 1, null, LASTING);
        assertThat(state.abandon(round).refusal()).isSameAs(LASTING);
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
    void theTokensOfTenuresIncrease() {
        assertThat(tenure().tokens.remotePart()).isEqualTo(7);
        assertThat(requireNonNull(state.endTenure()).sequence).isEqualTo(1_000);
        assertThat(state.endTenure()).isNull();
        assertThat(ask(10).request.floor()).isEqualTo(8);
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

    // ---- tenures

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
        assertThat(losses).isEmpty();
    }

    @Test
    void aRenewalThatFewerThanAMajorityAnswerIsToldAsAFailure() {
        QuorumTenure tenure = tenure();
        Renewal renewal = renewal(tenure, 10_001);
        assertThat(tenure.keep(at(10_100))).as("one at a time").isNull();
        renewal.answered(0, null, SILENCE, at(10_002));
        renewal.answered(1, kept(7), null, at(10_002));
        renewal.end(at(10_501));
        renewal.end(at(10_502));
        assertThat(effects()).containsExactly(new Report((LEASE - 500 - 10_501) * MILLI, SILENCE));
        renewal.answered(2, null, null, at(10_503));
        assertThat(effects()).as("it is over").isEmpty();
        assertThat(tenure.isUsable(at(10_503))).isTrue();
        assertThat(tenure.keep(at(11_001))).as("and repeated soon").isNotNull();
        assertThat(tenure.patienceNanos()).isEqualTo(500 * MILLI);
    }

    @Test
    void aRenewalThatNobodyAnswersIsToldAsAFailure() {
        Renewal renewal = renewal(tenure(), 10_001);
        renewal.end(at(10_501));
        assertThat(effects())
                .singleElement()
                .isInstanceOfSatisfying(
                        Report.class, report -> assertThat(report.failure()).hasMessage("no answer"));
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
        assertThat(losses).singleElement().satisfies(loss -> assertThat(loss).hasMessageContaining("no majority"));
        assertThat(tenure.isUsable(at(10_003))).isFalse();
        assertThat(tenure.keep(at(20_000))).isNull();
        assertThat(tenure.lose("again")).isSameAs(losses.get(0));
        assertThat(losses).hasSize(1);
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
    void aVoteThatIsFoundAfterTheTenureIsOverCountsNoMore() {
        QuorumTenure tenure = tenure();
        Renewal renewal = renewal(tenure, 10_001);
        renewal.answered(0, kept(7), null, at(LEASE));
        assertThat(tenure.isUsable(at(LEASE))).isFalse();
        tenure.end();
        renewal.end(at(LEASE));
        assertThat(effects()).as("it is given up").isEmpty();
        assertThat(losses).isEmpty();
    }

    @Test
    void anOvertakenAnswerShortensNothing() {
        QuorumTenure tenure = tenure();
        Renewal first = renewal(tenure, 10_001);
        first.end(at(10_501));
        Renewal second = renewal(tenure, 11_001);
        for (int node = 0; node < 3; node++) {
            second.answered(node, kept(7), null, at(11_002));
        }
        for (int node = 0; node < 3; node++) {
            first.answered(node, kept(7), null, at(11_003));
        }
        assertThat(tenure.isUsable(at(11_001 + LEASE - 501))).isTrue();
    }

    @Test
    void aLeaseThatIsSoonOverIsLookedAtInTime() {
        QuorumTenure tenure = tenure();
        assertThat(tenure.keep(at(LEASE - 600))).isNotNull();
        assertThat(effects()).containsExactly(new Expire(tenure, 101));
        tenure.expire(at(LEASE - 501));
        assertThat(losses).isEmpty();
        tenure.expire(at(LEASE - 499));
        tenure.expire(at(LEASE - 498));
        assertThat(losses)
                .singleElement()
                .satisfies(loss -> assertThat(loss).hasMessageContaining("its lease is over"));
    }

    @Test
    void whatIsGivenUpIsNeitherRenewedNorLost() {
        QuorumTenure tenure = tenure();
        assertThat(state.endTenure()).isSameAs(tenure);
        assertThat(tenure.keep(at(LEASE))).isNull();
        tenure.expire(at(LEASE));
        assertThat(losses).isEmpty();
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
    void aRenewalThatOneNodeFailsKeepsTheTenureAndIsRepeatedSoon() {
        QuorumTenure tenure = tenure();
        Renewal renewal = renewal(tenure, 10_001);
        renewal.answered(0, kept(7), null, at(10_002));
        renewal.answered(1, kept(7), null, at(10_002));
        renewal.answered(2, null, SILENCE, at(10_002));
        assertThat(effects()).containsExactly(new Report((LEASE - 500 - 1) * MILLI, null));
        assertThat(tenure.keep(at(11_001))).isNotNull();
        assertThat(tenure.isUsable(at(11_001))).isTrue();
    }

    @Test
    void aTenureThatIsOverIsNotRenewed() {
        QuorumTenure tenure = tenure();
        assertThat(tenure.keep(at(LEASE - 500))).isNull();
        assertThat(effects()).containsExactly(new Expire(tenure, 1));
    }

    // ---- releases

    @Test
    void aReleaseIsSettledByAMajorityAndOverWhenAllHaveConfirmed() {
        tenure();
        QuorumRelease release = requireNonNull(state.release(at(10)));
        assertThat(release.sequence).isEqualTo(1_000);
        assertThat(state.release(at(10))).as("nothing is left").isNull();
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
        QuorumRelease release = requireNonNull(state.release(at(10)));
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
        QuorumRelease release = requireNonNull(state.release(at(0)));
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
    void whatFailsAfterTheLeaseIsGivenUp() {
        tenure();
        QuorumRelease release = requireNonNull(state.release(at(0)));
        assertThat(release.answered(0, null, at(LEASE))).isTrue();
        assertThat(release.answered(1, null, at(LEASE))).isTrue();
        assertThat(release.answered(2, null, at(LEASE))).isTrue();
        assertThat(release.verdict).isCompletedExceptionally();
        assertThat(release.everywhere).isDone();
    }

    @Test
    void aSessionThatClosesTriesOnce() {
        assertThat(state.close(at(0))).isNull();
        ask(0);
        QuorumRelease release = requireNonNull(state.close(at(1)));
        release.sent(0, at(1), true);
        assertThat(release.answered(0, null, at(2))).isTrue();
        assertThat(release.isOver(0, at(2))).isTrue();
        assertThat(release.isOver(1, at(2))).isFalse();
    }

    @Test
    void aLaterReleaseIncludesOneThatNodesHaveYetToConfirm() {
        tenure();
        QuorumRelease first = requireNonNull(state.release(at(0)));
        state.ask(5_000, 100, false, true, at(10));
        QuorumRelease second = requireNonNull(state.release(at(1_000)));
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
        assertThat(requireNonNull(state.release(at(2))).leaseMillis).isEqualTo(900);
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
        query.answered(null);
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
        query.answered(null);
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
}
