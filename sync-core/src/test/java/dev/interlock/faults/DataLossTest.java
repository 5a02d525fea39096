package dev.interlock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.QuorumInterlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redis forgets everything, or the scripts: threads that wait and threads that hold something hear of it. */
class DataLossTest extends WaitFixture {
    private Predicate<Wait> chosen = wait -> true;

    @Override
    Predicate<Wait> chosen() {
        return chosen;
    }

    /** Redisson looks again when the lease is over that it has heard of. */
    @Override
    Duration lease() {
        return Duration.ofSeconds(10);
    }

    /** A latch is lost, a barrier is broken, and everything else can be had, or is asked for anew. */
    @Test
    @Tag("proof")
    void eachWaiterHearsThatRedisHasLostItsData() {
        // That one waits on, as Redisson has it.
        chosen = wait -> wait.kind() != Wait.Kind.ADAPTED_SEMAPHORE;
        List<Begun> waiting = beginToWait(others());
        servers().forEach(RedisServer::restart);
        awaitEnds(waiting);
        SoftAssertions.assertSoftly(softly -> waits().forEach(wait -> waiting.stream()
                .filter(one -> one.what().equals(wait.what()))
                .forEach(one -> {
                    Class<? extends Exception> loss = wait.kind().loss();
                    if (loss == null) {
                        softly.assertThat(one.failure()).as(one.what()).isNull();
                    } else {
                        softly.assertThat(one.failure()).as(one.what()).isInstanceOf(loss);
                    }
                })));
    }

    /** The next renewal finds out. What comes back too late frees nothing, and then all can be had again. */
    @Test
    void eachHolderHearsOnceThatRedisHasLostItsData() {
        MovableTicker ticker = new MovableTicker();
        Recorder recorder = new Recorder();
        Duration lease = Duration.ofMinutes(10);
        Interlock session = over(
                mine().client(), builder -> builder.lease(lease).ticker(ticker).listener(recorder));
        try (QuorumInterlock quorum = Interlock.builder()
                .lease(lease)
                .ticker(ticker)
                .listener(recorder)
                .openQuorum(clientsOfMine())) {
            Actor holder = actor("holder");
            Map<String, Wait.Step> held = holdAll(holder, session, quorum);
            servers().forEach(server -> server.command("FLUSHALL"));
            ticker.advance(lease.dividedBy(2));
            await("losses")
                    .untilAsserted(() -> assertThat(recorder.of(Recorder.Kind.LOST))
                            .extracting(Recorder.Event::name)
                            .containsAll(held.keySet()));
            held.forEach((name, release) -> assertThatThrownBy(
                            () -> holder.ask(() -> ran(release)).get())
                    .as(name)
                    .hasCauseInstanceOf(LeaseLostException.class));
            Map<String, Wait.Step> again = holdAll(holder, session, quorum);
            again.values()
                    .forEach(release ->
                            assertThat(holder.<Boolean>get(() -> ran(release))).isTrue());
            assertThat(recorder.count(Recorder.Kind.LOST)).isEqualTo(held.size());
        }
    }

    private static boolean ran(Wait.Step step) throws Exception {
        step.run();
        return true;
    }

    /** Every command may be the first that Redis hears of its script. */
    @Test
    void forgottenScriptsEndNoWait() {
        // Redisson has scripts of its own.
        chosen = wait -> !wait.kind().isRedissons();
        List<Actor> others = actors("with");
        forEachWait(others, (wait, other) -> {
            forget();
            other.run(wait.steps()::hold);
        });
        forget();
        List<Begun> waiting = beginToWait(others);
        forEachWait(others, (wait, other) -> {
            forget();
            other.run(() -> give(wait));
        });
        assertGetIn(waiting);
    }

    private void forget() {
        servers().forEach(server -> server.command("SCRIPT", "FLUSH"));
    }
}
