package dev.interlock.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.junit.InterlockFaults.FrozenHolder;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an {@link InterlockTest} is given, by the means that its users have. */
@InterlockTest(settings = InjectedSessionsTest.Impatient.class)
class InjectedSessionsTest {
    private static final String NAME = "order:42";

    private final Interlock mine;
    private Interlock before;

    /** Gives up soon without Redis. */
    static final class Impatient implements UnaryOperator<InterlockBuilder> {
        @Override
        public InterlockBuilder apply(InterlockBuilder builder) {
            return builder.redisTimeout(Duration.ofSeconds(2));
        }
    }

    InjectedSessionsTest(Interlock mine) {
        this.mine = mine;
        this.before = mine;
    }

    @BeforeEach
    void remember(Interlock session) {
        before = session;
    }

    @Test
    void allHaveTheSameSession(Interlock session) {
        assertThat(session).isSameAs(mine).isSameAs(before);
    }

    @Test
    void otherSessionsAreOthers(
            @OtherSession Interlock other, @OtherSession Interlock same, @OtherSession(2) Interlock third) {
        assertThat(other).isSameAs(same).isNotSameAs(mine).isNotSameAs(third);
        mine.lock(NAME).lock();
        assertThat(other.lock(NAME).tryLock()).isFalse();
        mine.lock(NAME).unlock();
        assertThat(third.lock(NAME).tryLock()).isTrue();
    }

    /** Runs in any order with the one before, which leaves the name locked: each has a namespace of its own. */
    @Test
    void nothingIsLeftOfOtherTests() {
        assertThat(mine.operator().find("*")).isEmpty();
        mine.lock(NAME).lock();
    }

    @Test
    void holderLosesTheLock(InterlockFaults faults, @OtherSession Interlock other) throws InterruptedException {
        DistributedReentrantLock lock = mine.lock(NAME);
        lock.lock();
        faults.loseLock(NAME);
        assertThatThrownBy(lock::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThat(other.lock(NAME).tryLock(10, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void nobodyCanLoseWhatIsFree(InterlockFaults faults) {
        assertThatIllegalStateException()
                .isThrownBy(() -> faults.loseLock(NAME))
                .withMessageContaining("'order:42'");
    }

    @Test
    void outageBeginsAndEnds(InterlockFaults faults) throws InterruptedException {
        faults.beginOutage();
        assertThatThrownBy(mine.lock(NAME)::lock).isInstanceOf(RedisUnavailableException.class);
        faults.endOutage();
        assertThat(mine.lock(NAME).tryLock(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void othersGetTheLockOfAFrozenHolderAfterItsLease(InterlockFaults faults) throws InterruptedException {
        FrozenHolder frozen = faults.freezeHolder(NAME, Duration.ofSeconds(2));
        assertThat(mine.operator().inspect(NAME))
                .singleElement()
                .satisfies(seen -> assertThat(seen.holders()).hasSize(1));
        assertThat(mine.lock(NAME).tryLock(30, TimeUnit.SECONDS)).isTrue();
        frozen.thaw();
        mine.lock(NAME).assertHeld();
    }
}
