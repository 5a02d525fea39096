package dev.interlock.faults;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** Messages make waiting quick; none of them is needed for it to end. */
class MailboxTest extends WaitFixture {
    /** Ways to lose messages. */
    enum Fault {
        /** None arrives. */
        DEAF,
        /** The connections on which sessions hear them are closed at the very moment of the grant. */
        CUT_OFF
    }

    /** A thread that waits in Redisson waits for its messages. */
    @Override
    Predicate<Wait> chosen() {
        return wait -> !wait.kind().isRedissons();
    }

    private void begin(Fault fault) {
        switch (fault) {
            case DEAF ->
                proxies()
                        .forEach(proxy ->
                                proxy.dropMessages(words -> words.get(0).equals("message"), FaultProxy.ALWAYS));
            case CUT_OFF -> killMailboxes();
        }
    }

    /** Whatever a thread waits for, the next pulse finds it. */
    @ParameterizedTest
    @EnumSource
    void waitsEndWithoutMessages(Fault fault) {
        List<Actor> others = others();
        List<Begun> waiting = beginToWait(others);
        Map<String, Long> given = new HashMap<>();
        if (fault == Fault.DEAF) {
            begin(fault);
        }
        forEachWait(others, (wait, other) -> {
            if (fault == Fault.CUT_OFF) {
                begin(fault);
            }
            given.put(wait.what(), Monotonic.nanos());
            other.run(() -> give(wait));
        });
        assertGetIn(waiting);
        List<Duration> took = new ArrayList<>();
        waits().stream()
                .filter(wait -> wait.threads() == 1)
                .forEach(wait -> waiting.stream()
                        .filter(one -> one.what().equals(wait.what()))
                        .forEach(one -> took.add(
                                Duration.ofNanos(one.endNanos().get() - requireNonNull(given.get(one.what()))))));
        assertPulses(took);
    }

    /** A client that has no channel left for Redisson's own unlock messages waits by the pulse. */
    @Test
    void aSessionWithoutRedissonsChannelStillGetsWhatAPlainLockReleases() {
        Config config = smallConfig();
        small(config.useSingleServer(), proxy().url())
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionsPerConnection(1);
        Interlock session = over(shuttingDown(Redisson.create(config)), builder -> builder);
        var wanted = lock(session, "stock");
        RLock plain = theirs().client().getLock("stock");
        Actor waiter = actor("waiter");
        Actor other = actor("plain");
        List<Duration> waits = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            other.run(plain::lock);
            CompletableFuture<Boolean> entered = queue(waiter, wanted);
            long begun = Monotonic.nanos();
            other.run(plain::unlock);
            assertThat(entered).as("round %d", round).succeedsWithin(PATIENCE);
            waits.add(Duration.ofNanos(Monotonic.nanos() - begun));
            waiter.run(wanted::unlock);
        }
        assertPulses(waits);
    }
}
