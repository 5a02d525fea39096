package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad arguments of barriers get an error that names the argument and its range. */
class BarrierInputTest {
    private final String name = "barrier-" + UUID.randomUUID();
    private Interlock interlock;
    private Interlock other;

    @BeforeEach
    void open() {
        interlock = Interlock.connect(RedisServer.provided().url());
        other = Interlock.connect(RedisServer.provided().url());
    }

    @AfterEach
    void close() {
        interlock.close();
        other.close();
    }

    @Test
    void nameMustBeGiven() {
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.cyclicBarrier(none(), 1))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.cyclicBarrier("", 1))
                .withMessageContaining("name");
    }

    /** As in the JDK. */
    @Test
    void nullIsNoAction() {
        DistributedCyclicBarrier barrier = interlock.cyclicBarrier(name, 1, null);
        assertThat(interlock.cyclicBarrier(name, 1)).isSameAs(barrier);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void partiesArePositive(int parties) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.cyclicBarrier(name, parties))
                .withMessageContaining("parties must be 1 or more")
                .withMessageContaining(Integer.toString(parties));
        assertThat(interlock.cyclicBarrier(name, Integer.MAX_VALUE).getParties())
                .isEqualTo(Integer.MAX_VALUE);
    }

    /** Whoever is first says how many parties; once nobody holds it any more, another one may. */
    @Test
    void partiesMustAgree() {
        DistributedCyclicBarrier barrier = interlock.cyclicBarrier(name, 3);
        for (Interlock session : new Interlock[] {interlock, other, other}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.cyclicBarrier(name, 4))
                    .withMessageContaining("is one of 3 parties")
                    .withMessageContaining("one of 4");
        }
        assertThat(other.cyclicBarrier(name, 3).getParties()).isEqualTo(3);
        assertThat(interlock.cyclicBarrier(name, 3)).isSameAs(barrier);
    }

    @Test
    void actionMustBeTheSame() {
        Runnable action = () -> {};
        Runnable another = () -> {};
        DistributedCyclicBarrier barrier = interlock.cyclicBarrier(name, 1, action);
        assertThat(interlock.cyclicBarrier(name, 1, action)).isSameAs(barrier);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.cyclicBarrier(name, 1, another))
                .withMessageContaining("another action");
        assertThatIllegalArgumentException().isThrownBy(() -> interlock.cyclicBarrier(name, 1));
        assertThat(other.cyclicBarrier(name, 1, another).getName()).isEqualTo(name);
        assertThat(barrier.toString()).contains(name);
    }

    /** Any name will do, however odd it is, and its messages arrive. */
    @ParameterizedTest
    @MethodSource("dev.interlock.input.InputTest#oddNames")
    void oddNamesAreNames(String odd) throws InterruptedException, BrokenBarrierException, TimeoutException {
        String oddName = odd + name + odd;
        DistributedCyclicBarrier barrier = interlock.cyclicBarrier(oddName, 2);
        DistributedCyclicBarrier peer = other.cyclicBarrier(oddName, 2);
        var thread = new Thread(() -> {
            try {
                peer.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        assertThat(barrier.await(10, TimeUnit.SECONDS)).isBetween(0, 1);
        thread.join();
        assertThat(barrier.getName()).isEqualTo(oddName);
    }

    @Test
    void closedSessionHasNoBarriers() {
        DistributedCyclicBarrier barrier = interlock.cyclicBarrier(name, 1);
        interlock.close();
        assertThatIllegalStateException().isThrownBy(() -> interlock.cyclicBarrier("any", 1));
        assertThatIllegalStateException().isThrownBy(barrier::await);
        assertThatIllegalStateException().isThrownBy(barrier::getNumberWaiting);
        assertThat(barrier.getParties()).isEqualTo(1);
    }

    /** A key of another type is an error, not a wait. */
    @Test
    void foreignKeyIsRefused() {
        String key = "interlock:{" + name + "}:barrier";
        RedisServer.provided().command("SET", key, "x");
        assertThatIllegalStateException()
                .isThrownBy(() -> interlock.cyclicBarrier(name, 2))
                .withMessageContaining(name);
        RedisServer.provided().command("DEL", key);
        // What is refused last may be the sign-off of the object that nobody got.
        DistributedCyclicBarrier barrier = Awaitility.await("the key is free")
                .ignoreException(IllegalStateException.class)
                .until(() -> interlock.cyclicBarrier(name, 1), free -> true);
        RedisServer.provided().command("DEL", key);
        RedisServer.provided().command("SET", key, "x");
        assertThatIllegalStateException().isThrownBy(barrier::await);
        assertThatIllegalStateException().isThrownBy(barrier::isBroken);
        RedisServer.provided().command("DEL", key);
    }

    /** What the compiler's null checks would refuse, and users without them won't. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T none() {
        return null;
    }
}
