package dev.interlock.internal.lock.script;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.RemoteLock.Departure;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that has the local half and waits for the remote one. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class LeaderTest extends LockScriptTest {

    /** Far from {@link TicketQueue#POLL_NANOS}, which is what a lost permit would cost. */
    private static final Duration AT_ONCE = Duration.ofNanos(TicketQueue.POLL_NANOS / 2);

    private static final LocalLock LOCAL = new LocalLock() {
        @Override
        public boolean tryLock(long waitNanos) {
            return false;
        }

        @Override
        public int holds() {
            return 1;
        }

        @Override
        public boolean isAnnounced() {
            return true;
        }

        @Override
        public boolean isWanted() {
            return false;
        }

        @Override
        public boolean isQueued(Thread thread) {
            return false;
        }

        @Override
        public boolean isHeld() {
            return true;
        }

        @Override
        public boolean tryLock() {
            return false;
        }

        @Override
        public void unlock() {}
    };

    /**
     * The clock, which is read at just those moments that matter: by the leader after the step that brought nothing,
     * and by a pulse under the mutex of the claim.
     */
    private static final class Choreography {
        private final CompletableFuture<ScriptLock> lock = new CompletableFuture<>();
        private final CompletableFuture<Thread> leader = new CompletableFuture<>();
        private final CountDownLatch granted = new CountDownLatch(1);
        private final CountDownLatch inMutex = new CountDownLatch(1);
        private volatile long startNanos;

        private final Thread pulse = new Thread(this::pulse, "pulse");

        long read() {
            Thread current = Thread.currentThread();
            if (leader.getNow(null) == current && granted.getCount() > 0 && isReadByEnter()) {
                awaitGrant();
            } else if (current == pulse && inMutex.getCount() > 0) {
                inMutex.countDown();
                awaitLeaderBehindMutex();
            }
            return System.nanoTime();
        }

        // This method, read() and the clock's readers come first. There, the leader doesn't have the mutex.
        private boolean isReadByEnter() {
            return lock.join().isWaiting()
                    && StackWalker.getInstance()
                            .walk(frames -> frames.limit(7)
                                    .anyMatch(frame -> frame.getMethodName().equals("goesOn")));
        }

        // Without parking, which would use up the permit that this is about.
        private void awaitGrant() {
            while (!lock.join().hasNews()) {
                Thread.onSpinWait();
            }
            granted.countDown();
            while (inMutex.getCount() > 0) {
                Thread.onSpinWait();
            }
            startNanos = System.nanoTime();
        }

        private void pulse() {
            try {
                granted.await();
            } catch (InterruptedException e) {
                // The grant came before the leader looked.
                return;
            }
            lock.join().pulse();
        }

        private void awaitLeaderBehindMutex() {
            while (leader.join().getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * A grant wakes the leader while he isn't asleep yet. He has to wait for the mutex before he would be, and that
     * wait uses up the permit of the grant: he must not sleep all the same.
     */
    @Test
    void aPermitThatTheMutexUsesUpWakesTheLeaderAllTheSame() throws InterruptedException {
        int attempts = 0;
        while (!isPlayed()) {
            assertThat(++attempts).isLessThan(50);
        }
    }

    /** Returns whether it came about: on a busy machine the answer may overtake the leader. */
    private boolean isPlayed() throws InterruptedException {
        var choreography = new Choreography();
        RedisSession session = openSession(choreography::read);
        try {
            // A fair one: after a grant, the thread of a plain lock sleeps for a moment only.
            var lock = new ScriptLock(
                    session,
                    keys.lock(),
                    new Halves<>(LOCAL, true, () -> LOCAL, System::nanoTime),
                    true,
                    ScriptLock.CONFIRMED);
            choreography.lock.complete(lock);
            choreography.pulse.start();
            choreography.leader.complete(Thread.currentThread());
            boolean entered = lock.enter(false, Long.MAX_VALUE, RemoteLock.RENEWED);
            long took = System.nanoTime() - choreography.startNanos;
            assertThat(entered).isTrue();
            boolean isPlayed = choreography.startNanos != 0;
            if (isPlayed) {
                assertWithin(AT_ONCE, Duration.ofNanos(took));
            } else {
                choreography.pulse.interrupt();
            }
            Departure departure = lock.leave(session.now());
            assertThat(departure).isNotNull();
            departure.complete();
            choreography.pulse.join();
            return isPlayed;
        } finally {
            session.close();
        }
    }
}
