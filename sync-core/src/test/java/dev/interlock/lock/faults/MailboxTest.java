package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Messages make waiting quick; none of them is needed for it to end. */
class MailboxTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final int ROUNDS = 20;

    /** The channel of the waiter is gone at the very moment of the grant: the waiter enters by the next pulse. */
    @Test
    void aGrantFindsTheMailboxCutOff() {
        List<DistributedReentrantLock> locks = List.of(lock(session(), NAME), lock(session(), NAME));
        List<Actor> actors = List.of(actor("first"), actor("second"));
        List<Duration> waits = new ArrayList<>();
        actors.get(0).run(locks.get(0)::lock);
        for (int round = 0; round < ROUNDS; round++) {
            int holder = round % 2;
            int waiter = 1 - holder;
            CompletableFuture<Boolean> entered = actors.get(waiter).begin(locks.get(waiter)::lock);
            awaitTickets(NAME, 1);
            killMailboxes();
            long begun = Monotonic.nanos();
            actors.get(holder).run(locks.get(holder)::unlock);
            assertThat(entered).as("round %d", round).succeedsWithin(PATIENCE);
            waits.add(Duration.ofNanos(Monotonic.nanos() - begun));
            assertThat(holder(NAME)).endsWith("=1");
        }
        assertPulses(waits);
        actors.get(ROUNDS % 2).run(locks.get(ROUNDS % 2)::unlock);
    }

    /** With all messages lost, names still change hands, at the pace of the pulse. */
    @Test
    void sessionsThatHearNothingStillTakeTurns() {
        proxy().dropMessages(words -> words.get(0).equals("message"), FaultProxy.ALWAYS);
        List<DistributedReentrantLock> locks = List.of(lock(session(), NAME), lock(session(), NAME));
        List<Actor> actors = List.of(actor("first"), actor("second"));
        List<Duration> waits = new ArrayList<>();
        actors.get(0).run(locks.get(0)::lock);
        for (int round = 0; round < 4; round++) {
            int holder = round % 2;
            int waiter = 1 - holder;
            CompletableFuture<Boolean> entered = actors.get(waiter).begin(locks.get(waiter)::lock);
            awaitTickets(NAME, 1);
            long begun = Monotonic.nanos();
            actors.get(holder).run(locks.get(holder)::unlock);
            assertThat(entered).as("round %d", round).succeedsWithin(PATIENCE);
            waits.add(Duration.ofNanos(Monotonic.nanos() - begun));
        }
        assertPulses(waits);
        actors.get(0).run(locks.get(0)::unlock);
    }

    /** A session whose demand nobody hears still gets its turn among threads that never stop. */
    @Test
    void demandThatIsNotHeardIsFound() {
        proxy().dropMessages(words -> words.get(0).equals("message"), FaultProxy.ALWAYS);
        DistributedReentrantLock busy = lock(session(), NAME);
        DistributedReentrantLock wanted = lock(session(), NAME);
        List<Actor> crowd = List.of(actor("crowd-1"), actor("crowd-2"));
        AtomicBoolean stop = new AtomicBoolean();
        List<CompletableFuture<Boolean>> work = crowd.stream()
                .map(one -> one.begin(() -> {
                    while (!stop.get()) {
                        busy.lock();
                        busy.unlock();
                    }
                }))
                .toList();
        await("crowd").until(busy::isLocked);
        Actor outsider = actor("outsider");
        CompletableFuture<Boolean> entered = outsider.begin(wanted::lock);
        assertThat(entered).succeedsWithin(PATIENCE);
        stop.set(true);
        outsider.run(wanted::unlock);
        work.forEach(each -> assertThat(each).succeedsWithin(PATIENCE));
    }

    /** A client that has no channel left for Redisson's own unlock messages waits by the pulse. */
    @Test
    void aSessionWithoutRedissonsChannelStillGetsWhatAPlainLockReleases() {
        Config config = smallConfig();
        small(config.useSingleServer(), proxy().url())
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionsPerConnection(1);
        RedissonClient narrow = shuttingDown(Redisson.create(config));
        Interlock session = over(narrow, builder -> builder);
        DistributedReentrantLock wanted = lock(session, NAME);
        RLock plain = client(server().url()).getLock(NAME);
        Actor waiter = actor("waiter");
        Actor other = actor("plain");
        for (int round = 0; round < 3; round++) {
            other.run(plain::lock);
            CompletableFuture<Boolean> entered = queue(waiter, wanted);
            other.run(plain::unlock);
            assertThat(entered).as("round %d", round).succeedsWithin(PROMPTLY);
            waiter.run(wanted::unlock);
        }
    }

    /** Whatever strangers write into a mailbox, and whatever arrives for tickets that are over, moves nothing. */
    @Test
    void strangeMailIsHarmless() {
        Interlock session = session();
        DistributedReentrantLock lock = lock(session, NAME);
        Actor waiter = actor("waiter");
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        other.lock();
        CompletableFuture<Boolean> entered = queue(waiter, lock);
        String owner = holder(NAME);
        strangeMail()
                .forEach(text -> assertThat(server().command("PUBLISH", "interlock:mailbox:" + session.id(), text))
                        .isEqualTo(1L));
        await("the mail's effect")
                .during(Duration.ofMillis(300))
                .until(() -> holder(NAME).equals(owner));
        assertThat(tickets(NAME)).isEqualTo(1);
        assertThat(entered).isNotDone();
        other.unlock();
        assertThat(entered).succeedsWithin(PROMPTLY);
        waiter.run(lock::unlock);
    }

    private static List<String> strangeMail() {
        return List.of(
                "",
                " ",
                "g",
                "g 1",
                "g x y z w v u " + NAME,
                "g 99999999999999999999 1 1 1 1 1 " + NAME,
                "g 77 1 1 0 0 0 " + NAME,
                "g 77 1 1 0 0 78 " + NAME,
                "g 77 1 1 0 0 0 unknown",
                "g 77 1 1 0 0 78 unknown",
                "s",
                "s 1",
                "s -5 1 " + NAME,
                "s 2000000000 1 2 " + NAME,
                "s 2 78 0 " + NAME,
                "s 2 78 77 " + NAME,
                "s 2 -78 77 " + NAME,
                "s 2 78 77 unknown",
                "d 77 " + NAME,
                "d 77 unknown",
                "p 1 " + NAME,
                "p -5 " + NAME,
                "p 1 unknown",
                "?? 1 1 1 1 " + NAME);
    }
}
