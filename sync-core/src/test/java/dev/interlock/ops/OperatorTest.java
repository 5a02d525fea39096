package dev.interlock.ops;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.SyncListener;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.ops.Deadlock.Step;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.NameView.Waiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.Requests;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;

/** An operator sees the holders and waiters of names in all sessions. */
class OperatorTest extends FaultFixture {
    private static final String NAME = "order:42 \n%";

    /** On another connection than those that a test disturbs. */
    private Operator operator;

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore|barrier";
    }

    @BeforeEach
    void look() {
        operator = undisturbed().operator();
    }

    private NameView inspected(String name) {
        List<NameView> views = operator.inspect(name);
        assertThat(views).hasSize(1);
        return views.get(0);
    }

    private Holder holder(NameView view) {
        assertThat(view.holders()).hasSize(1);
        return view.holders().get(0);
    }

    private static List<@Nullable String> threads(NameView view) {
        return view.waiters().stream().map(Waiter::thread).toList();
    }

    @Test
    void aFreeNameHasNobody() {
        session().lock(NAME);
        assertThat(operator.inspect(NAME)).isEmpty();
        assertThat(operator.find("*")).isEmpty();
    }

    /** As after a restart. */
    @Test
    void aRedisThatHasForgottenItsScriptsAnswers() {
        assertThat(operator.inspect(NAME)).isEmpty();
        server().command("SCRIPT", "FLUSH");
        assertThat(operator.inspect(NAME)).isEmpty();
    }

    /** A name may have all that a message uses to tell its words apart. */
    @Test
    void namesOfSessionsAreSeen() {
        String name = "a%20b+c:|%";
        Interlock session = session(builder -> builder.sessionName(name));
        Interlock other = session(builder -> builder.sessionName("other"));
        DistributedReentrantLock lock = session.lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Actor waiter = actor("waiter");
        queue(waiter, other.lock(NAME));
        assertThat(operator.sessions())
                .filteredOn(seen -> seen.id().equals(session.id()))
                .extracting(SessionView::name)
                .containsExactly(name);
        NameView view = inspected(NAME);
        assertThat(holder(view).sessionName()).isEqualTo(name);
        assertThat(view.waiters()).extracting(Waiter::sessionName).containsExactly("other");
        holder.run(lock::unlock);
        waiter.run(other.lock(NAME)::unlock);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void holderAndWaitersAreSeenInTheirOrder(boolean isFair) {
        Interlock first = session();
        Interlock second = session();
        DistributedReentrantLock here = isFair ? first.fairLock(NAME) : first.lock(NAME);
        DistributedReentrantLock there = isFair ? second.fairLock(NAME) : second.lock(NAME);
        Actor holder = actor("holder");
        holder.run(here::lock);
        Actor elsewhere = actor("elsewhere");
        queue(elsewhere, there);
        Actor behind = actor("behind");
        behind.begin(there::lock);
        awaitQueued(there, behind);

        NameView view = inspected(NAME);
        assertThat(view.name()).isEqualTo(NAME);
        assertThat(view.kind()).isEqualTo(isFair ? "fair lock" : "lock");
        Holder seen = holder(view);
        assertThat(seen.session()).isEqualTo(first.id());
        assertThat(seen.state()).isEqualTo(State.INSIDE);
        assertThat(seen.thread()).isEqualTo(holder.thread().getName());
        assertThat(seen.token()).isEqualTo(holder.<Long>get(here::fencingToken));
        assertThat(threads(view))
                .containsExactly(elsewhere.thread().getName(), behind.thread().getName());
        assertThat(view.waiters()).extracting(Waiter::session).containsOnly(second.id());

        holder.run(here::unlock);
        elsewhere.run(there::unlock);
        behind.run(there::unlock);
        await("nobody").until(() -> operator.inspect(NAME).isEmpty());
    }

    @Test
    void theAgeOfAHoldIsKnownWithinASecond() {
        DistributedReentrantLock lock = session().lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        await("two seconds of it")
                .until(() ->
                        isAbove(Duration.ofSeconds(2), holder(inspected(NAME)).age()));
        holder.run(lock::unlock);
        long begun = System.nanoTime();
        holder.run(lock::lock);
        Duration age = requireNonNull(holder(inspected(NAME)).age());
        assertThat(age.minusSeconds(1)).isLessThan(Duration.ofNanos(System.nanoTime() - begun));
        holder.run(lock::unlock);
    }

    private static boolean isAbove(Duration bound, @Nullable Duration age) {
        return age != null && age.compareTo(bound) > 0;
    }

    /** As the session itself has seen it once a second; it begins anew with the thread that is inside. */
    @Test
    void theAgeOfALocalWaitIsKnownWithinASecond() {
        DistributedReentrantLock lock = session().lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Actor first = actor("first");
        Actor second = actor("second");
        CompletableFuture<Boolean> entered = first.begin(lock::lock);
        awaitQueued(lock, first);
        CompletableFuture<Boolean> entersLater = second.begin(lock::lock);
        awaitQueued(lock, second);
        await("two seconds of it")
                .until(() -> inspected(NAME).waiters().stream()
                        .allMatch(waiter -> isAbove(Duration.ofSeconds(2), waiter.age())));
        holder.run(lock::unlock);
        // The lock isn't fair.
        await("one of them").until(() -> entered.isDone() || entersLater.isDone());
        Actor inside = entered.isDone() ? first : second;
        // A thread that has just been woken is in no queue for a moment.
        assertThat(await("the other one").until(() -> inspected(NAME).waiters(), waiters -> waiters.size() == 1))
                .noneMatch(waiter -> isAbove(Duration.ofSeconds(2), waiter.age()));
        await("a second of it")
                .until(() -> inspected(NAME).waiters().stream()
                        .anyMatch(waiter -> isAbove(Duration.ofSeconds(1), waiter.age())));
        inside.run(lock::unlock);
        Actor last = inside == first ? second : first;
        last.run(lock::unlock);
    }

    @Test
    void aKeptNameHasNobodyInside() {
        Interlock session = session();
        DistributedReentrantLock lock = session.lock(NAME, LockOptions.retain(Duration.ofMinutes(1)));
        Actor user = actor("user");
        user.run(lock::lock);
        user.run(lock::unlock);
        Holder seen = holder(inspected(NAME));
        assertThat(seen.state()).isEqualTo(State.KEPT);
        assertThat(seen.thread()).isNull();
        session.close();
    }

    @Test
    void aReleaseOnItsWayIsSeen() {
        Interlock session = session(builder -> builder.commandTimeout(Duration.ofSeconds(20)));
        DistributedReentrantLock lock = session.lock(NAME, LockOptions.releaseAtOnce());
        Actor user = actor("user");
        user.run(lock::lock);
        proxy().delayRequests(Requests.release(NAME), Duration.ofSeconds(1), 1);
        user.run(lock::unlock);
        assertThat(holder(inspected(NAME)).state()).isEqualTo(State.LEAVING);
        awaitFree(NAME);
    }

    @Test
    void aSilentSessionIsShownWithWhatRedisKnows() throws UnknownHostException {
        Interlock silent = session();
        DistributedReentrantLock lock = silent.lock(NAME);
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Interlock other = undisturbed();
        DistributedReentrantLock wanted = other.lock(NAME);
        Actor waiter = actor("waiter");
        queue(waiter, wanted);
        proxy().stall();

        NameView view = inspected(NAME);
        assertThat(holder(view).state()).isEqualTo(State.SILENT);
        assertThat(holder(view).session()).isEqualTo(silent.id());
        assertThat(threads(view)).containsExactly(waiter.thread().getName());
        assertThat(operator.sessions())
                .filteredOn(SessionView::isSilent)
                .extracting(SessionView::id)
                .containsExactly(silent.id());
        assertThat(operator.lookAt(NAME).silent()).extracting(SessionView::id).containsExactly(silent.id());
        String host = InetAddress.getLocalHost().getHostName();
        assertThat(operator.sessions())
                .filteredOn(session -> session.id().equals(other.id()))
                .allSatisfy(session -> {
                    assertThat(session.host()).isEqualTo(host);
                    assertThat(session.pid()).isEqualTo(ProcessHandle.current().pid());
                    assertThat(session.age()).isPositive();
                });

        proxy().resume();
        holder.run(lock::unlock);
        waiter.run(wanted::unlock);
    }

    @Test
    void readersAndAWriterAreSeen() {
        DistributedReadWriteLock here = session().readWriteLock(NAME);
        DistributedReadWriteLock there = session().readWriteLock(NAME);
        DistributedReadWriteLock third = session().readWriteLock(NAME);
        Actor reader = actor("reader");
        Actor another = actor("another");
        reader.run(here.readLock()::lock);
        another.run(there.readLock()::lock);
        another.run(there.readLock()::lock);
        Actor writer = actor("writer");
        writer.begin(third.writeLock()::lock);

        await("the writer").until(() -> threads(inspected(NAME)).contains("writer"));
        NameView view = inspected(NAME);
        assertThat(view.kind()).isEqualTo("read-write lock");
        assertThat(view.holders()).hasSize(2).allMatch(Holder::reads).allMatch(held -> held.state() == State.INSIDE);
        assertThat(view.holders()).extracting(Holder::readLocks).containsExactlyInAnyOrder(1L, 2L);
        assertThat(view.holders()).extracting(Holder::permits).containsOnly(0L);

        reader.run(here.readLock()::unlock);
        another.run(there.readLock()::unlock);
        another.run(there.readLock()::unlock);
        writer.run(third.writeLock()::unlock);
    }

    @Test
    void waitersOfConditionsAreSeen() {
        DistributedReentrantLock lock = session().lock(NAME);
        Condition filled = lock.newCondition("is filled");
        Actor waiter = actor("waiter");
        waiter.run(lock::lock);
        var done = waiter.begin(filled::await);
        await("a waiter").until(() -> !operator.inspect(NAME).isEmpty());
        await("its condition")
                .until(() -> inspected(NAME).waiters().stream()
                        .anyMatch(one -> "is filled".equals(one.condition()) && "waiter".equals(one.thread())));
        awaitAges();
        Actor signaller = actor("signaller");
        signaller.run(lock::lock);
        signaller.run(filled::signal);
        signaller.run(lock::unlock);
        assertThat(done).succeedsWithin(PATIENCE);
        waiter.run(lock::unlock);
    }

    /** All waiters of the name have waited for some time. */
    private void awaitAges() {
        long begun = Monotonic.nanos();
        await("ages")
                .until(() -> operator.inspect(NAME).stream()
                        .flatMap(view -> view.waiters().stream())
                        .allMatch(waiter -> isAbove(Duration.ofMillis(300), waiter.age())));
        Duration watched = Duration.ofNanos(Monotonic.nanos() - begun);
        assertThat(operator.inspect(NAME))
                .flatExtracting(NameView::waiters)
                .allMatch(waiter -> isAbove(watched.minusMillis(1), waiter.age()));
    }

    @Test
    void permitsAndTheirWaitersAreSeen() {
        DistributedSemaphore here = session().semaphore(NAME, 3);
        DistributedSemaphore there = session().semaphore(NAME, 3);
        here.acquireUninterruptibly(2);
        Actor waiter = actor("waiter");
        waiter.begin(() -> there.acquire(2));
        await("the waiter").until(() -> threads(inspected(NAME)).equals(List.of("waiter")));
        NameView view = inspected(NAME);
        assertThat(view.kind()).isEqualTo("semaphore");
        assertThat(holder(view).permits()).isEqualTo(2);
        awaitAges();
        here.release(2);
        waiter.run(() -> there.release(2));
    }

    @Test
    void waitersAtLatchesAndBarriersAreSeen() {
        DistributedCountDownLatch latch = session().countDownLatch(NAME, 1);
        DistributedCyclicBarrier barrier = session().cyclicBarrier(NAME, 2);
        Actor atLatch = actor("at the latch");
        atLatch.begin(latch::await);
        Actor atBarrier = actor("at the barrier");
        atBarrier.ask(barrier::await);
        await("both").until(() -> operator.inspect(NAME).size() == 2);
        assertThat(operator.inspect(NAME)).extracting(NameView::kind).containsExactly("barrier", "latch");
        assertThat(operator.inspect(NAME))
                .flatExtracting(OperatorTest::threads)
                .containsExactly("at the barrier", "at the latch");
        awaitAges();
        latch.countDown();
        assertThat(actor("last").ask(barrier::await)).succeedsWithin(PATIENCE);
        await("nobody").until(() -> operator.inspect(NAME).isEmpty());
    }

    @Test
    void aPlainRLockClientIsShownAsSilent() {
        RLock plain = client(server().url()).getLock(NAME);
        Actor owner = actor("owner");
        owner.run(plain::lock);
        assertThat(holder(inspected(NAME)).state()).isEqualTo(State.SILENT);
        owner.run(plain::unlock);
    }

    @Test
    void namesOfOtherNamespacesAreOtherNames() {
        DistributedReentrantLock shop =
                session(builder -> builder.namespace("shop")).lock("order");
        DistributedReentrantLock lock = session().lock("order");
        Actor one = actor("one");
        Actor other = actor("other");
        one.run(shop::lock);
        other.run(lock::lock);
        assertThat(operator.find("*")).extracting(NameView::name).containsExactly("order", "shop:order");
        assertThat(holder(inspected("order")).thread()).isEqualTo("other");
        assertThat(holder(inspected("shop:order")).thread()).isEqualTo("one");
        Operator ofShop = session(builder -> builder.namespace("shop")).operator();
        assertThat(ofShop.find("*")).singleElement().satisfies(view -> {
            assertThat(view.name()).isEqualTo("order");
            assertThat(holder(view).thread()).isEqualTo("one");
        });
        assertThat(ofShop.inspect("shop:order")).isEmpty();
        assertThat(ofShop.forceRelease("order", one.<Long>get(shop::fencingToken)))
                .isTrue();
        assertThatThrownBy(() -> one.run(shop::unlock)).hasRootCauseInstanceOf(LeaseLostException.class);
        other.run(lock::unlock);
    }

    /** Returns the deadlocks that a session with a watch tells of. */
    private List<Deadlock> watched() {
        List<Deadlock> watched = new CopyOnWriteArrayList<>();
        session(builder -> builder.deadlockWatch(Duration.ofSeconds(1)).listener(new SyncListener() {
            @Override
            public void deadlocked(Deadlock deadlock) {
                watched.add(deadlock);
            }
        }));
        return watched;
    }

    @Test
    void threadsThatWaitForEachOtherAreFound() {
        List<Deadlock> watched = watched();
        List<String> names = List.of("a", "b", "c");
        List<DistributedReentrantLock> held = new ArrayList<>();
        List<Actor> threads = new ArrayList<>();
        for (String name : names) {
            DistributedReentrantLock lock = session().lock(name);
            Actor thread = actor("holder of " + name);
            thread.run(lock::lock);
            held.add(lock);
            threads.add(thread);
        }
        List<DistributedReentrantLock> wanted = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            DistributedReentrantLock next = session().lock(names.get((i + 1) % names.size()));
            wanted.add(next);
            assertThat(operator.deadlocks()).isEmpty();
            threads.get(i).begin(next::lockInterruptibly);
        }
        await("the cycle").until(() -> operator.deadlocks().size() == 1);
        await("the watch").until(() -> !watched.isEmpty());
        Deadlock deadlock = operator.deadlocks().get(0);
        assertThat(deadlock.steps()).extracting(Step::holds).containsExactly("a", "b", "c");
        assertThat(deadlock.steps()).extracting(Step::waitsFor).containsExactly("b", "c", "a");
        assertThat(deadlock.steps())
                .extracting(Step::thread)
                .containsExactly("holder of a", "holder of b", "holder of c");
        assertThat(watched).containsExactly(deadlock);

        threads.get(1).interrupt();
        await("no cycle").until(() -> operator.deadlocks().isEmpty());
        threads.get(1).run(held.get(1)::unlock);
        threads.get(0).run(wanted.get(0)::unlock);
        threads.get(0).run(held.get(0)::unlock);
        threads.get(2).run(wanted.get(2)::unlock);
        threads.get(2).run(held.get(2)::unlock);
    }

    @Test
    void nobodyIsAskedForNothing() {
        assertThatThrownBy(() -> operator.forceRelease(NAME, 0)).hasMessage("token must be 1 or more, but is 0");
        assertThatThrownBy(() -> operator.find("")).hasMessage("glob must not be empty");
        assertThatThrownBy(() -> operator.inspect("")).hasMessage("name must not be empty");
    }
}
