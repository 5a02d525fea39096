package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RTopic;
import org.redisson.client.codec.StringCodec;
import org.slf4j.LoggerFactory;

/**
 * What strangers write into a session's mailbox, and what arrives there a second time, lets nobody in, throws nothing,
 * and leaves the session as able as before; but a forged grant to a thread that does wait is out of what can be
 * noticed, see {@code docs/security.md}.
 */
class StrangerTest extends FaultFixture {
    private static final String NAME = "mail";
    private static final int MEBI = 1 << 20;

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.interlock");

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setAdditive(false);
    }

    @AfterEach
    void deafen() {
        logger.detachAppender(log);
        logger.setAdditive(true);
    }

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore|barrier";
    }

    /** What a thread of the victim waits for, and what lets it in. */
    enum Kind {
        LOCK {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                return between(other.lock(NAME), victim.lock(NAME), NAME, "interlock:{" + NAME + "}:queue");
            }
        },
        FAIR {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                return between(other.fairLock(NAME), victim.fairLock(NAME), NAME, "interlock:{" + NAME + "}:queue");
            }
        },
        WRITER {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                DistributedReadWriteLock wanted = victim.readWriteLock(NAME);
                DistributedReadWriteLock held = other.readWriteLock(NAME);
                String key = "interlock:{" + NAME + "}:rw";
                return between(held.readLock(), wanted.writeLock(), key, "interlock:queue:" + key);
            }
        },
        READER {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                DistributedReadWriteLock wanted = victim.readWriteLock(NAME);
                DistributedReadWriteLock held = other.readWriteLock(NAME);
                String key = "interlock:{" + NAME + "}:rw";
                return between(held.writeLock(), wanted.readLock(), key, "interlock:queue:" + key);
            }
        },
        SEMAPHORE {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                DistributedSemaphore wanted = victim.semaphore(NAME, 1);
                DistributedSemaphore held = other.semaphore(NAME, 1);
                String key = "interlock:{" + NAME + "}:semaphore";
                return new Contest(
                        key,
                        key + "-queue",
                        () -> held.acquire(),
                        held::release,
                        () -> wanted.acquire(),
                        wanted::release);
            }
        },
        LATCH {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                String name = NAME + round; // a latch opens once
                DistributedCountDownLatch wanted = victim.countDownLatch(name, 1);
                DistributedCountDownLatch held = other.countDownLatch(name, 1);
                String key = "interlock:{" + name + "}:latch";
                return new Contest(
                        key, "interlock:waiters:" + key, () -> {}, held::countDown, () -> wanted.await(), () -> {});
            }
        },
        BARRIER {
            @Override
            Contest contest(Interlock victim, Interlock other, int round) {
                DistributedCyclicBarrier wanted = victim.cyclicBarrier(NAME, 2);
                DistributedCyclicBarrier held = other.cyclicBarrier(NAME, 2);
                String key = "interlock:{" + NAME + "}:barrier";
                return new Contest(key, "", () -> {}, () -> awaited(held), () -> awaited(wanted), () -> {});
            }
        };

        abstract Contest contest(Interlock victim, Interlock other, int round);

        private static Contest between(Lock held, Lock wanted, String key, String queue) {
            return new Contest(key, queue, held::lock, held::unlock, wanted::lock, wanted::unlock);
        }

        private static void awaited(DistributedCyclicBarrier barrier) throws InterruptedException {
            try {
                barrier.await();
            } catch (java.util.concurrent.BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        }
    }

    /**
     * One holds, the other waits.
     *
     * @param key what messages name
     * @param queue where one sees in Redis that the victim waits; empty for a barrier
     */
    record Contest(
            String key, String queue, Actor.Action hold, Actor.Action letIn, Actor.Action enter, Actor.Action leave) {}

    @ParameterizedTest
    @EnumSource
    void nothingThatStrangersWriteLetsAnybodyIn(Kind kind) {
        Interlock victim = session();
        Interlock other = undisturbed();
        useUpNumbers(other);
        List<String> received = new CopyOnWriteArrayList<>();
        RTopic mailbox = client(server().url()).getTopic("interlock:mailbox:" + victim.id(), StringCodec.INSTANCE);
        mailbox.addListener(String.class, (channel, text) -> received.add(text));
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        for (int round = 0; round < 2; round++) {
            Contest contest = kind.contest(victim, other, round);
            holder.run(contest.hold());
            CompletableFuture<Boolean> entered = waiter.begin(contest.enter());
            awaitWaiting(contest);
            List<String> mail = new ArrayList<>(forged(contest.key()));
            // What the first round brought comes once more in the second, also as if it were about this one.
            received.forEach(text -> {
                mail.add(text);
                mail.add(text.substring(0, text.lastIndexOf(' ') + 1) + contest.key());
            });
            assertThat(round == 0 || mail.size() > forged(contest.key()).size()).isTrue();
            mail.forEach(text -> assertThat(server().command("PUBLISH", "interlock:mailbox:" + victim.id(), text))
                    .isEqualTo(2L));
            await("the mail's effect").during(Duration.ofMillis(300)).until(() -> !entered.isDone());
            received.clear();
            holder.run(contest.letIn());
            assertThat(entered).as(kind + ", round " + round).succeedsWithin(PROMPTLY);
            waiter.run(contest.leave());
        }
        if (kind == Kind.BARRIER) {
            victim.close();
            other.close();
        }
        assertUnreadableIsLoggedInBrief();
    }

    /** So that no ticket of this session has the number of one of the victim's. */
    private static void useUpNumbers(Interlock session) {
        for (int i = 0; i < 40; i++) {
            session.lock("number-" + i).lock();
            session.lock("number-" + i).unlock();
        }
    }

    private void assertUnreadableIsLoggedInBrief() {
        assertThat(List.copyOf(log.list)).allSatisfy(event -> {
            assertThat(event.getLevel().isGreaterOrEqual(Level.ERROR))
                    .as("error: %s", event)
                    .isFalse();
            assertThat(event.getFormattedMessage()).hasSizeLessThan(400).doesNotContain("\n", "\r", "\0");
        });
        assertThat(List.copyOf(log.list))
                .anyMatch(event -> event.getFormattedMessage().contains("Unreadable"));
    }

    private void awaitWaiting(Contest contest) {
        await("a waiter")
                .until(() -> contest.queue().isEmpty()
                        ? String.valueOf(server().command("HGET", contest.key(), "arrived"))
                                .equals("1")
                        : server().command("ZCARD", contest.queue()) instanceof Long size && size == 1);
    }

    /** Garbage, other versions, and forgeries: about tickets that there aren't, and those of the other session. */
    private List<String> forged(String key) {
        List<String> mail = new ArrayList<>(List.of(
                "",
                " ",
                "\0\1\n\r",
                "\uFFFD\uFFFD",
                "g",
                "g ",
                "g 1",
                "s",
                "s -1 " + key,
                "s -1",
                "s 2147483647 1 2 " + key,
                key,
                "G 77 1 1 0 0 0 " + key,
                "g2 77 1 1 0 0 0 " + key,
                "v2 g 77 1 1 0 0 0 " + key,
                "x".repeat(MEBI),
                "g " + "9".repeat(MEBI) + " 1 1 0 0 0 " + key,
                "d 1 " + "y".repeat(MEBI),
                "p -5 " + key,
                "p 9223372036854775807 " + key));
        Stream.concat(Stream.of("77", "-1", "0", "9223372036854775807"), numbersOf(key))
                .forEach(number -> mail.addAll(forged(number, key)));
        return mail;
    }

    private static List<String> forged(String number, String key) {
        return List.of(
                "g " + number + " 1 1 0 0 0 " + key,
                "g " + number + " 9007199254740991 9007199254740991 3 0 0 " + key,
                "g " + number + " 9007199254740991 9007199254740991 3 " + number + " 0 " + key,
                "g " + number + " 1 9007199254740991 0 0 78 " + key,
                "s 2 78 " + number + " " + key,
                "s 2 -78 " + number + " " + key,
                "d " + number + " " + key,
                "n " + number + " " + key,
                "i " + number + " " + key,
                "b " + number + " 5 " + key,
                "b " + number + " 9223372036854775807 " + key,
                "o " + number + " " + key,
                "t " + number + " 1 " + key,
                "t " + number + " 2 " + key,
                "t " + number + " 99 " + key,
                "t " + number + " -1 " + key,
                "q " + number + " " + key);
    }

    /** The sequence of whoever owns the key, if it's a lock. */
    private Stream<String> numbersOf(String key) {
        return server().command("HKEYS", key) instanceof List<?> fields
                ? fields.stream()
                        .map(String::valueOf)
                        .filter(field -> field.matches("interlock-[^:]+:\\d+"))
                        .map(field -> field.substring(field.indexOf(':') + 1))
                : Stream.of();
    }

    /** A forged grant to a thread that does wait may let it in, but its token reaches nobody else. */
    @ParameterizedTest
    @ValueSource(longs = {1L << 50, (1L << 49) - 2})
    void theTokenOfAForgedGrantGoesNoFurther(long forged) {
        Interlock victim = session();
        Interlock other = undisturbed();
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(other.lock(NAME)::lock);
        CompletableFuture<Boolean> entered = waiter.begin(victim.lock(NAME)::lock);
        awaitTickets(NAME, 1);
        String ticket = String.valueOf(server().command("ZRANGE", "interlock:{" + NAME + "}:queue", "0", "0"));
        String sequence = ticket.split(":", -1)[1];
        server().command(
                        "PUBLISH",
                        "interlock:mailbox:" + victim.id(),
                        "g " + sequence + " " + forged + " 9007199254740991 0 0 0 " + NAME);
        if (forged < 1L << 49) {
            assertThat(entered).succeedsWithin(PROMPTLY);
        } else {
            await("the mail's effect").during(Duration.ofMillis(300)).until(() -> !entered.isDone());
        }
        holder.run(other.lock(NAME)::unlock);
        assertThat(entered).succeedsWithin(PROMPTLY);
        waiter.run(() -> unlockThoughLost(victim.lock(NAME)));
        long token = 0;
        for (Interlock session : List.of(other, victim, other)) {
            DistributedReentrantLock lock = session.lock(NAME);
            lock.lock();
            assertThat(lock.fencingToken()).isBetween(token + 1, 1L << 62);
            token = lock.fencingToken();
            lock.unlock();
        }
    }

    /**
     * A forged signal wakes the thread it names, which waits again; the next true one doesn't go to the wait before.
     */
    @Test
    void aForgedSignalTakesNoTrueOneAway() {
        Interlock victim = session();
        DistributedReentrantLock lock = victim.lock(NAME);
        Condition condition = lock.newCondition("items");
        AtomicInteger waits = new AtomicInteger();
        AtomicBoolean isMet = new AtomicBoolean();
        CompletableFuture<Boolean> through = actor("waiter").begin(() -> {
            lock.lock();
            while (!isMet.get()) {
                waits.incrementAndGet();
                condition.await();
            }
            lock.unlock();
        });
        String key = "interlock:{" + NAME + "}:conditions";
        await("the first wait").until(() -> waiters(key).size() == 1);
        String sequence = waiters(key).get(0).split(":", -1)[3];
        server().command(
                        "PUBLISH", "interlock:mailbox:" + victim.id(), "s 2 " + sequence + " " + sequence + " " + NAME);
        await("the second wait").until(() -> waits.get() == 2 && waiters(key).size() == 2);
        actor("signaller").run(() -> {
            lock.lock();
            isMet.set(true);
            condition.signal();
            assertThat(lock.hasWaiters(condition))
                    .as("the true wait, after the one that was woken")
                    .isTrue();
            lock.unlock();
        });
        assertThat(through).succeedsWithin(PROMPTLY);
    }

    private List<String> waiters(String key) {
        return server().command("ZRANGE", key, "0", "-1") instanceof List<?> members
                ? members.stream().map(String::valueOf).toList()
                : List.of();
    }

    private static void unlockThoughLost(DistributedReentrantLock lock) {
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            assertThat(lock.isHeldByCurrentThread()).isFalse();
        }
    }

    /** Even for the right account, nobody is given more than is wanted: Redis is asked then. */
    @Test
    void aForgedBookingOfMoreThanIsWantedIsNotBelieved() {
        Interlock victim = session();
        Interlock other = undisturbed();
        other.semaphore(NAME, 1).acquireUninterruptibly();
        CompletableFuture<Boolean> entered =
                actor("waiter").begin(() -> victim.semaphore(NAME, 1).acquire());
        String key = "interlock:{" + NAME + "}:semaphore";
        await("a waiter").until(() -> server().command("ZCARD", key + "-queue") instanceof Long size && size == 1);
        String epoch =
                String.valueOf(server().command("HGET", key, victim.id())).split(":", 2)[0];
        server().command("PUBLISH", "interlock:mailbox:" + victim.id(), "b " + epoch + " 1000 " + key);
        await("the mail's effect").during(Duration.ofMillis(300)).until(() -> !entered.isDone());
        other.semaphore(NAME, 1).release();
        assertThat(entered).succeedsWithin(PROMPTLY);
        victim.semaphore(NAME, 1).release();
        assertThat(victim.semaphore(NAME, 1).availablePermits()).isEqualTo(1);
    }
}
