package dev.interlock.internal.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.semaphore.Holdings.Release;
import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreEffect.Dropped;
import dev.interlock.internal.semaphore.SemaphoreEffect.Lost;
import dev.interlock.internal.semaphore.SemaphoreEffect.Tell;
import dev.interlock.internal.semaphore.SemaphoreEffect.Unnoticed;
import dev.interlock.internal.semaphore.SemaphoreEvents.Reply;
import dev.interlock.internal.semaphore.SemaphoreState.Statement;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits that are lost, waits that fail and sessions that are closed, as a state that only events change. */
class SemaphoreFailureTest {
    private final SemaphoreEvents events = SemaphoreEvents.owned();

    private String loss() {
        return events.effects().stream()
                .filter(Lost.class::isInstance)
                .map(effect -> String.valueOf(((Lost) effect).loss().getMessage()))
                .collect(Collectors.joining(" and "));
    }

    private void assertThrows(Waiter waiter, String words) {
        assertThatThrownBy(() -> events.comesOut(waiter))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining(words);
    }

    private void beats() {
        events.state.beat(events.now);
    }

    private Release releases(int permits) {
        return events.local.release(permits, events.now);
    }

    private String loses(Release release) {
        return String.valueOf(events.local.holdings.abandon(release));
    }

    // ---- loss

    @Test
    void theNextReleasesAccountForPermitsThatAreLost() {
        events.acquire(3);
        events.answer(Reply.closed(events.say()));
        assertThat(loss()).isEqualTo("3 permits of semaphore 'semaphore' lost: Redis has closed the session's account");
        assertThat(events.local.holdings.valid()).isZero();
        assertThat(events.local.holdings.isEmpty()).isFalse();
        assertThat(loses(releases(2))).contains("3 permits");
        assertThat(events.isTold()).isFalse();
        assertThat(loses(releases(2))).contains("3 permits");
        assertThat(events.local.holdings.isEmpty()).isTrue();
        assertThat(events.tells().contributed()).isEqualTo(1);
        assertThat(loses(releases(1))).isEqualTo("null");
    }

    @Test
    void permitsThatNoThreadHasAreLostWithoutAWord() {
        Waiter waiter = events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        events.answer(Reply.unknown());
        assertThat(events.effects()).contains(new Tell()).doesNotHaveAnyElementsOfTypes(Lost.class);
        assertThat(events.stock.permits).isZero();
        assertThat(events.say().wanted()).isEqualTo(1);
        events.answer(Reply.open(1));
        assertThat(events.comesOut(waiter)).isTrue();
    }

    @Test
    void anotherWaiterIsChargedWithStrayPermits() {
        Waiter first = events.waits(2);
        events.tells();
        events.answer(Reply.open(2));
        events.takes(first);
        events.answer(Reply.closed(events.say()));
        Waiter second = events.waits(3);
        events.say();
        events.answer(Reply.open(5));
        events.takes(second);
        assertThat(events.local.comeOut(second, true, events.now)).isFalse();
        assertThat(events.local.comeOut(first, true, events.now)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(2);
    }

    @Test
    void aThreadMakesSureOfPermitsWhoseLeaseMayBeOver() {
        Waiter waiter = events.waits(2);
        events.tells();
        events.answer(Reply.open(2));
        events.passes(SemaphoreEvents.LEASE);
        assertThat(events.comesOut(waiter)).isTrue();
        assertThat(events.local.isCertain(waiter, events.now)).isFalse();
        events.answer(Reply.open(2));
        assertThat(events.local.isCertain(waiter, events.now)).isTrue();
        assertThat(events.local.confirm(waiter, true, events.now)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(2);
        assertThat(events.local.isUncertain(events.now)).isFalse();
        events.passes(SemaphoreEvents.LEASE);
        assertThat(events.local.isUncertain(events.now)).isTrue();
    }

    @Test
    void aThreadMakesSureOfPermitsAfterASuspension() {
        events.acquire(2);
        events.isSuspended(SemaphoreEvents.LEASE);
        assertThat(events.local.isUncertain(events.now)).isTrue();
        events.say();
        beats();
        beats();
        assertThat(events.effects()).as("its lease isn't over").doesNotHaveAnyElementsOfTypes(Lost.class);
        events.answer(Reply.open(2));
        assertThat(events.local.isUncertain(events.now)).isFalse();
    }

    @Test
    void aThreadThatCannotMakeSureGivesBack() {
        Waiter waiter = events.waits(2);
        events.tells();
        events.answer(Reply.open(2));
        events.passes(SemaphoreEvents.LEASE);
        assertThat(events.comesOut(waiter)).isTrue();
        assertThat(events.local.confirm(waiter, false, events.now)).isFalse();
        assertThat(events.tells().returned()).isEqualTo(2);
        assertThat(events.local.holdings.isEmpty()).isTrue();
    }

    @Test
    void aThreadThatFindsItsPermitsLostWaitsAgain() {
        Waiter waiter = events.waits(2);
        events.tells();
        events.answer(Reply.open(2));
        events.passes(SemaphoreEvents.LEASE);
        assertThat(events.comesOut(waiter)).isTrue();
        events.answer(Reply.closed(events.say()));
        assertThat(events.local.isCertain(waiter, events.now)).isTrue();
        assertThat(events.local.confirm(waiter, true, events.now)).isFalse();
        assertThat(events.tells().wanted()).isEqualTo(2);
        events.answer(Reply.open(2));
        assertThat(events.comesOut(waiter)).isTrue();
        assertThat(events.local.isCertain(waiter, events.now)).isTrue();
    }

    // ---- a loss that only a release finds

    @Test
    void whatAReleaseFindsLostIsToldWithAllThatIsLost() {
        events.acquire(3);
        Release release = releases(2);
        events.tells();
        events.answer(Reply.lost());
        assertThat(loss()).startsWith("3 permits of semaphore 'semaphore' lost: Redis doesn't know them any more");
        assertThat(loses(release)).contains("3 permits");
        assertThat(loses(releases(1))).contains("3 permits");
        assertThat(events.say().returned()).isZero();
    }

    @Test
    void aReleaseThatWaitsNoMoreHasItsLossToldApart() {
        events.acquire(3);
        Release left = releases(2);
        assertThat(loses(left)).isEqualTo("null");
        events.tells();
        events.answer(Reply.lost());
        assertThat(events.effects())
                .anySatisfy(effect -> assertThat(effect)
                        .isInstanceOfSatisfying(
                                Lost.class, lost -> assertThat(lost.loss()).hasMessageStartingWith("1 permit of")))
                .anySatisfy(effect -> assertThat(effect)
                        .isInstanceOfSatisfying(
                                Unnoticed.class,
                                lost -> assertThat(lost.loss()).hasMessageStartingWith("2 permits of")));
    }

    @Test
    void aReleaseThatRedisHasCountedIsNoLoss() {
        events.acquire(3);
        Release counted = releases(1);
        Statement heard = events.tells();
        Release lost = releases(1);
        events.tells();
        events.answer(Reply.closed(heard));
        assertThat(loss()).startsWith("2 permits");
        assertThat(loses(counted)).isEqualTo("null");
        assertThat(loses(lost)).contains("2 permits");
        assertThat(events.isTold()).isFalse();
    }

    /** Nothing follows from it after the lease: the permits were the session's when they were released. */
    @Test
    void aReleaseThatIsLateOnItsWayIsNoLoss() {
        events.acquire(1);
        Statement heard = events.say();
        Release release = releases(1);
        events.tells();
        events.passes(SemaphoreEvents.LEASE);
        events.answer(Reply.closed(heard));
        assertThat(events.effects()).doesNotHaveAnyElementsOfTypes(Lost.class, Unnoticed.class);
        assertThat(loses(release)).isEqualTo("null");
    }

    @Test
    void aReleaseAfterALeaseOfWhichNothingIsHeardGivesUpForLost() {
        events.acquire(2);
        events.passes(SemaphoreEvents.LEASE);
        assertThat(events.local.isUncertain(events.now)).isTrue();
        assertThat(loses(releases(1))).contains("their lease is over");
        assertThat(events.tells().leaves()).isTrue();
        assertThat(loses(releases(1))).contains("their lease is over");
        assertThat(events.say().returned()).isZero();
    }

    @Test
    void aSemaphoreOfOtherOwnershipIsALoss() {
        events.acquire(2);
        events.local.release(3, events.now);
        events.acquire(2);
        events.say();
        events.answer(Reply.disagreed());
        assertThat(loss()).startsWith("2 permits").contains("Redis doesn't know them any more");
        assertThat(events.local.holdings.valid()).isZero();
        assertThat(events.state.isLeased()).isFalse();
        assertThat(events.say().contributed()).isZero();
        assertThat(loses(releases(2))).contains("2 permits");
    }

    // ---- the end of a lease, of which Redis says nothing

    @Test
    void aSilentLeaseEndsAtTheSecondBeat() {
        events.acquire(1);
        Statement said = events.say();
        events.passes(SemaphoreEvents.LEASE);
        beats();
        assertThat(events.effects()).doesNotHaveAnyElementsOfTypes(Lost.class);
        beats();
        assertThat(loss()).contains("their lease is over, and Redis doesn't renew it");
        assertThat(events.state.isValid(events.now)).isFalse();
        assertThat(events.say().leaves()).isTrue();
        beats();
        assertThat(events.isTold()).isFalse();
        // What is granted now is lost with the account.
        events.waits(1);
        events.state.booked(said.epoch(), 2, true, events.now);
        events.answer(Reply.open(2));
        assertThat(events.stock.permits).isZero();
        assertThat(events.tells().leaves()).isTrue();
        events.answer(Reply.closed(events.say()));
        assertThat(events.effects()).contains(new Tell()).doesNotHaveAnyElementsOfTypes(Lost.class);
        assertThat(events.say().leaves()).isFalse();
    }

    @Test
    void anAnswerEndsTheSilence() {
        events.acquire(1);
        events.say();
        beats();
        events.answer(Reply.open(1));
        events.passes(SemaphoreEvents.LEASE);
        beats();
        events.say();
        beats();
        assertThat(events.isTold()).isFalse();
    }

    @Test
    void aSessionWithoutPermitsHasNoLease() {
        events.say();
        events.passes(SemaphoreEvents.LEASE);
        beats();
        beats();
        assertThat(events.isTold()).isFalse();
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        unowned.acquire(1);
        unowned.passes(SemaphoreEvents.LEASE);
        assertThat(unowned.state.isValid(unowned.now)).isTrue();
    }

    // ---- accounts that are gone

    @Test
    void whatAnAccountHasNotHeardGoesOverToTheNextOne() {
        events.acquire(2);
        events.local.reduce(1);
        Statement heard = events.tells();
        events.answer(Reply.open(2));
        events.local.reduce(1);
        events.local.release(1, events.now);
        events.answer(Reply.closed(heard));
        Statement said = events.tells();
        assertThat(said.contributed()).isEqualTo(-1);
        assertThat(said.returned()).isZero();
        assertThat(said.fresh()).isTrue();
        assertThat(said.epoch()).isGreaterThan(heard.epoch());
    }

    /** A command that is refused for longer than a lease is said again with the renewals of leases. */
    @Test
    void whatRedisCannotFindOutIsSaidUntilItIsHeard() {
        SemaphoreEvents nobodys = SemaphoreEvents.unowned();
        nobodys.acquire(1);
        assertThat(nobodys.state.isLeased()).isFalse();
        nobodys.local.release(1, nobodys.now);
        nobodys.tells();
        nobodys.state.refused(new IllegalStateException("NOPERM"));
        assertThat(nobodys.state.isLeased()).isTrue();
        nobodys.say();
        nobodys.answer(Reply.open(1));
        assertThat(nobodys.state.isLeased()).isFalse();
        events.acquire(1);
        events.local.release(2, events.now);
        assertThat(events.state.isLeased()).isTrue();
        events.tells();
        events.answer(Reply.open(1));
        assertThat(events.state.isLeased()).isFalse();
        events.acquire(1);
        events.local.release(1, events.now);
        assertThat(events.state.isLeased()).isFalse();
    }

    /** The next account would take the pool for an older copy of the data, in which they aren't taken. */
    @Test
    void whatAClosedAccountHasTakenIsNotSaidOfTheNextOne() {
        SemaphoreEvents nobodys = SemaphoreEvents.unowned();
        Operation operation = nobodys.operate(Verb.TAKE, 2);
        Statement heard = nobodys.tells();
        nobodys.answer(Reply.closed(heard).done(heard, 2));
        assertThat(nobodys.local.end(operation, nobodys.now)).isTrue();
        nobodys.local.release(2, nobodys.now);
        Statement said = nobodys.tells();
        assertThat(said.epoch()).isGreaterThan(heard.epoch());
        assertThat(said.taken()).isZero();
        assertThat(said.contributed()).isEqualTo(2);
    }

    /** What an account enlarges the pool by. */
    enum Contribution {
        OF_NOBODY(false, 1),
        OF_ONES_OWN(true, 1),
        REDUCTION_OF_NOBODYS(false, -1),
        REDUCTION(true, -1);

        private final boolean owned;
        private final int permits;

        Contribution(boolean owned, int permits) {
            this.owned = owned;
            this.permits = permits;
        }

        private SemaphoreEvents events() {
            SemaphoreEvents events = new SemaphoreEvents(owned, false);
            events.say();
            events.answer(Reply.open(0));
            return events;
        }

        private void add(SemaphoreEvents events) {
            if (permits > 0) {
                events.local.release(permits, events.now);
            } else {
                events.local.reduce(-permits);
            }
        }
    }

    /** The reply was lost, and it isn't known whether the account counted it: permits grew for good. */
    @ParameterizedTest
    @EnumSource
    void whatAForgottenAccountMayHaveCountedIsNotSaidAgain(Contribution contribution) {
        SemaphoreEvents other = contribution.events();
        contribution.add(other);
        other.tells();
        other.passes(TimeUnit.DAYS.toNanos(2));
        other.say();
        contribution.add(other);
        other.say();
        other.answer(Reply.unknown());
        assertThat(other.effects()).contains(new Dropped(contribution.permits), new Tell());
        assertThat(other.say().contributed())
                .as("what no earlier command has said")
                .isEqualTo(contribution.permits);
    }

    @ParameterizedTest
    @EnumSource
    void whatAnAccountThatWouldBeRememberedHasNotCountedGoesOver(Contribution contribution) {
        SemaphoreEvents other = contribution.events();
        contribution.add(other);
        other.tells();
        other.passes(TimeUnit.HOURS.toNanos(20));
        other.say();
        other.answer(Reply.unknown());
        assertThat(other.tells().contributed()).isEqualTo(contribution.permits);
    }

    @ParameterizedTest
    @EnumSource
    void whatIsFirstSaidToAPoolThatWasMadeAnewCounts(Contribution contribution) {
        SemaphoreEvents other = contribution.events();
        contribution.add(other);
        other.tells();
        other.answer(Reply.lost());
        assertThat(other.effects()).contains(new Tell()).doesNotHaveAnyElementsOfTypes(Dropped.class);
        Statement said = other.say();
        assertThat(said.contributed()).isEqualTo(contribution.permits);
        assertThat(said.fresh()).isTrue();
    }

    /** It may have been opened, have counted, and be forgotten: the same command would open it once more. */
    @ParameterizedTest
    @EnumSource
    void anAccountThatMayBeForgottenIsNotOpenedAgain(Contribution contribution) {
        SemaphoreEvents other = contribution.events();
        contribution.add(other);
        other.tells();
        other.answer(Reply.unknown());
        assertThat(other.tells().fresh()).isTrue();
        assertThat(other.say().fresh()).isTrue();
        other.passes(TimeUnit.DAYS.toNanos(2));
        assertThat(other.say().fresh()).isFalse();
        other.answer(Reply.unknown());
        assertThat(other.effects()).contains(new Dropped(contribution.permits));
        Statement next = other.say();
        assertThat(next.fresh()).isTrue();
        assertThat(next.contributed()).isZero();
    }

    /** The answer to a command says nothing of what a later one has said. */
    @Test
    void whatALaterCommandHasSaidIsNotHeardYet() {
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        unowned.say();
        unowned.answer(Reply.open(0));
        unowned.local.release(1, unowned.now);
        unowned.tells();
        long first = unowned.version();
        unowned.local.release(1, unowned.now);
        unowned.tells();
        unowned.answer(first, Reply.open(0).available(6));
        assertThat(unowned.state.pool()).isEqualTo(7);
        unowned.answer(Reply.unknown());
        assertThat(unowned.tells().contributed()).isEqualTo(1);
    }

    /** What the old account had given back was missing from the pool until the next command. */
    @Test
    void thePoolHasAllPermitsWhenAnAccountIsClosed() {
        events.acquire(2);
        events.local.release(2, events.now);
        Statement said = events.tells();
        events.answer(Reply.open(2).available(5));
        events.answer(Reply.closed(said));
        assertThat(events.isTold()).isFalse();
        assertThat(events.state.pool()).isEqualTo(5);
    }

    @Test
    void permitsOfNobodyGoOverToTheNextAccount() {
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        Waiter waiter = unowned.waits(2);
        Statement heard = unowned.tells();
        unowned.leaves(waiter);
        unowned.answer(Reply.open(2));
        assertThat(unowned.tells().returned()).isEqualTo(2);
        // The account is closed, has granted 3 more of which no word has come, and hasn't heard of the return.
        unowned.answer(Reply.closed(heard).granted(5));
        assertThat(unowned.tells().contributed()).isEqualTo(5);
    }

    // ---- failure

    @Test
    void waitersLeaveOneAfterTheOther() {
        Waiter one = events.waits(1);
        Waiter three = events.waits(3);
        Operation operation = events.local.look();
        events.tells();
        events.state.refused(new IllegalStateException("WRONGTYPE here"));
        assertThat(events.result(operation)).isCompletedExceptionally();
        assertThat(events.tells().wanted()).isZero();
        assertThat(events.stock.permits).isEqualTo(3);
        assertThatThrownBy(() -> events.comes(1)).hasMessageContaining("Redis refuses semaphore 'semaphore'");
        assertThatThrownBy(() -> events.local.look()).hasMessageContaining("WRONGTYPE");
        assertThatThrownBy(() -> events.local.drain(events.now)).hasMessageContaining("WRONGTYPE");
        assertThatThrownBy(() -> events.local.tryAcquire(1, events.now)).hasMessageContaining("WRONGTYPE");
        assertThrows(one, "WRONGTYPE");
        assertThat(events.stock.permits).isEqualTo(3);
        assertThrows(three, "WRONGTYPE");
        assertThat(events.stock.permits).isZero();
        events.comes(1);
        assertThat(events.tells().wanted()).isEqualTo(1);
    }

    @Test
    void aFailureOfWhichNobodyHearsIsForgotten() {
        events.state.refused(new IllegalStateException("WRONGTYPE here"));
        events.comes(1);
        assertThat(events.isTold()).isTrue();
    }

    @Test
    void permitsThatWereGrantedMeanwhileGoBackAfterAFailure() {
        Waiter waiter = events.waits(2);
        Statement said = events.tells();
        events.local.failed(() -> new IllegalStateException("silence"));
        events.answer(Reply.open(said.wanted()));
        Operation look = events.local.operate(Verb.LOOK, 0);
        events.answer(Reply.open(said.wanted()).done(events.say(), 3));
        assertThat(events.result(look)).isCompletedWithValue(3);
        assertThrows(waiter, "silence");
        assertThat(events.stock.permits).isZero();
        assertThat(events.say().returned()).isEqualTo(2);
    }

    /** Two waiters for all permits made the superclass throw, since one took them before the other was back. */
    @Test
    void waitersThatTakeTurnsAreLetOutByAsManyPermitsAsOneWants() {
        Waiter first = events.waits(Integer.MAX_VALUE);
        Waiter second = events.waits(Integer.MAX_VALUE);
        events.local.failed(() -> new IllegalStateException("silence"));
        events.takes(first);
        events.stock.onRelease = () -> {
            events.stock.onRelease = () -> {};
            events.takes(second);
        };
        assertThatThrownBy(() -> events.local.comeOut(first, true, events.now)).hasMessageContaining("silence");
        assertThatThrownBy(() -> events.local.comeOut(second, true, events.now)).hasMessageContaining("silence");
        assertThat(events.stock.permits).isZero();
        assertThat(events.local.isWaiting()).isFalse();
    }

    @Test
    void aReleaseDuringAFailureGoesToThePool() {
        events.acquire(1);
        events.waits(1);
        events.tells();
        events.local.failed(() -> new IllegalStateException("silence"));
        events.local.release(1, events.now);
        assertThat(events.tells().returned()).isEqualTo(1);
    }

    // ---- close

    @Test
    void aSessionThatIsClosedLeavesItsAccount() {
        events.acquire(1);
        Operation sent = events.operate(Verb.TAKE, 1);
        Operation unsent = events.operate(Verb.TAKE, 1);
        Waiter waiter = events.waits(2);
        Statement said = events.tells();
        events.state.close();
        assertThat(loss()).contains("the session was closed");
        assertThat(events.result(sent)).isCompletedExceptionally();
        assertThat(events.result(unsent)).isCompletedExceptionally();
        assertThrows(waiter, "the Interlock session is closed");
        Statement last = events.say();
        assertThat(last.leaves()).isTrue();
        assertThat(last.wanted()).isEqualTo(1);
        assertThat(last.operation()).isSameAs(sent);
        events.answer(Reply.closed(last).done(said, 1));
        assertThat(events.say().operation()).isNull();
        assertThat(events.state.isWaiting()).isFalse();
        assertThat(events.state.isLeased()).isFalse();
    }

    @Test
    void whatASessionHasContributedIsSaidAfterItsEnd() {
        Statement heard = events.say();
        events.answer(Reply.open(0));
        events.local.reduce(2);
        events.state.close();
        events.answer(Reply.closed(heard));
        Statement said = events.tells();
        assertThat(said.contributed()).isEqualTo(-2);
        assertThat(said.leaves()).isTrue();
        events.answer(Reply.closed(said));
        assertThat(events.isTold()).isFalse();
    }

    @Test
    void permitsOfNobodyAreNotLostByTheEndOfTheSession() {
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        unowned.acquire(1);
        unowned.state.close();
        assertThat(unowned.effects()).doesNotHaveAnyElementsOfTypes(Lost.class);
        assertThat(unowned.say().leaves()).isTrue();
    }
}
