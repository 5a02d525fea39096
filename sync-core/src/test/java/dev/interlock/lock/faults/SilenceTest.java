package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.internal.redis.RedisMonitor.Command;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A session that has waited for some seconds only says that it lives, and yet it misses nothing. */
class SilenceTest extends FaultFixture {
    private static final String NAME = "stock";

    /** What a new owner has to begin with. */
    private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    private static String heartbeat(Interlock session) {
        return "interlock:{" + session.id() + "}:heartbeat";
    }

    private void awaitSilence(Interlock session) {
        await("silence")
                .until(() ->
                        "inf".equals(server().command("ZSCORE", "interlock:{" + NAME + "}:waiters", session.id())));
    }

    /** A session whose thread has waited for so long that it is silent. */
    private final class Silent {
        final Interlock session;
        final DistributedReentrantLock lock;
        final Actor waiter;
        final CompletableFuture<Boolean> entered;

        Silent(Interlock session, int place) {
            this.session = session;
            lock = lock(session, NAME);
            waiter = actor(session.id());
            entered = waiter.begin(lock::lock);
            awaitTickets(NAME, place);
            awaitSilence(session);
        }

        void assertEnters(Duration bound) {
            assertThat(entered).succeedsWithin(bound);
            waiter.run(lock::unlock);
        }
    }

    private DistributedReentrantLock held() {
        DistributedReentrantLock held = lock(undisturbed(), NAME);
        held.lock();
        return held;
    }

    private static long count(List<Command> commands, String script) {
        String digest = Script.load(script).digest();
        return commands.stream()
                .filter(Command::isScript)
                .filter(command -> command.words().get(1).equals(digest))
                .count();
    }

    @Test
    void whoIsSilentOnlySaysThatItLives() throws IOException {
        DistributedReentrantLock held = held();
        var silent = new Silent(session(), 1);
        try (var monitor = new RedisMonitor(server())) {
            long[] beats = {0, 0};
            await("beats").until(() -> {
                List<Command> commands = monitor.commands();
                beats[0] += count(commands, "session/beat");
                beats[1] += count(commands, "lock/heartbeat") + count(commands, "lock/acquire");
                return beats[0] >= 6;
            });
            assertThat(beats[1]).isLessThan(beats[0] / 2);
        }
        held.unlock();
        silent.assertEnters(PROMPTLY);
    }

    /** An echo that doesn't come tells that a grant may not have come either. */
    @Test
    void aGrantThatIsNotHeardIsFound() {
        DistributedReentrantLock held = held();
        var silent = new Silent(session(), 1);
        proxy().dropMessages(words -> words.get(0).equals("message"), FaultProxy.ALWAYS);
        held.unlock();
        silent.assertEnters(PROMPTLY);
    }

    @Test
    void aGrantThatFindsTheMailboxCutOffIsFound() {
        DistributedReentrantLock held = held();
        var silent = new Silent(session(), 1);
        killMailboxes();
        held.unlock();
        silent.assertEnters(PROMPTLY);
    }

    /** Its ticket may be gone then. */
    @Test
    void whoWasTakenToBeDeadQueuesAnew() {
        DistributedReentrantLock held = held();
        var silent = new Silent(session(), 1);
        server().command("DEL", heartbeat(silent.session));
        held.unlock();
        silent.assertEnters(PROMPTLY);
    }

    /** The first in line is granted the name and doesn't know it: the next one, which is silent, finds out. */
    @Test
    void oneThatIsSilentFollowsAnOwnerThatIsDead() {
        DistributedReentrantLock held = held();
        var first = new Silent(session(), 1);
        var second = new Silent(undisturbed(), 2);
        proxy().stall();
        held.unlock();
        second.assertEnters(SHORT_LEASE.plus(PROMPTLY).plus(SLACK));
        proxy().resume();
        first.assertEnters(PATIENCE);
    }

    /**
     * A waiter of which nothing was heard for three seconds is passed over, however long it was silent about the name.
     */
    @Test
    void whoIsSilentAndDeadIsPassedOver() {
        DistributedReentrantLock held = held();
        var first = new Silent(session(), 1);
        var second = new Silent(undisturbed(), 2);
        proxy().stall();
        await("the end of its heartbeat")
                .until(() -> Long.valueOf(0).equals(server().command("EXISTS", heartbeat(first.session))));
        held.unlock();
        second.assertEnters(PROMPTLY);
        proxy().resume();
        first.assertEnters(PATIENCE);
    }
}
