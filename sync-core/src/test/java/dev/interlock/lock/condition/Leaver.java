package dev.interlock.lock.condition;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A child JVM whose main thread waits for a signal, or leaves another wait and signals.
 *
 * <p>It says {@code READY}. Its commands are {@code wait}, {@code timeOut} and {@code interrupt}, each with a kind of
 * lock, and {@code stop}. One that waits says {@code WAITING} while it has the lock, so that the next owner of the lock
 * finds it waiting.
 */
@SuppressWarnings("WaitNotInLoop") // what ends a wait is what the test is about
final class Leaver {

    private static final long LEAVE_MILLIS = 2;

    /** A lock, what threads wait for until they are signalled, and what they wait for in vain. */
    private record Place(Lock lock, Condition signalled, Condition never) {
        static Place of(Lock lock) {
            return new Place(lock, lock.newCondition(), lock.newCondition());
        }

        void await() {
            lock.lock();
            try {
                ChildConsole.say("WAITING");
                signalled.awaitUninterruptibly();
            } finally {
                lock.unlock();
            }
            ChildConsole.say("RETURNED");
        }

        void leave(boolean byInterrupt) {
            lock.lock();
            try {
                if (byInterrupt) {
                    awaitInterrupt();
                } else if (never.await(LEAVE_MILLIS, TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException("nobody has signalled this");
                }
                signalled.signal();
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts this", e);
            } finally {
                lock.unlock();
            }
            ChildConsole.say("SIGNALLED");
        }

        private void awaitInterrupt() {
            interruptWaiting(Thread.currentThread());
            try {
                never.await();
                throw new IllegalStateException("nobody has signalled this");
            } catch (InterruptedException e) {
                // That is how it leaves.
            }
        }

        private static void interruptWaiting(Thread thread) {
            new Thread(() -> {
                        while (thread.getState() == Thread.State.RUNNABLE) {
                            Thread.onSpinWait();
                        }
                        thread.interrupt();
                    })
                    .start();
        }
    }

    private Leaver() {}

    static ChildJvm.Builder of(String url, String name) {
        return ChildJvm.of(Leaver.class).options("-XX:TieredStopAtLevel=1").arguments(url, name);
    }

    public static void main(String[] args) throws InterruptedException {
        String name = args[1];
        try (Interlock interlock = RedisServer.connect(() -> Interlock.connect(args[0]))) {
            Map<String, Place> places = Map.of(
                    "plain", Place.of(interlock.lock(name + "-plain")),
                    "fair", Place.of(interlock.fairLock(name + "-fair")),
                    "write", Place.of(interlock.readWriteLock(name + "-write").writeLock()),
                    "fairWrite",
                            Place.of(interlock
                                    .fairReadWriteLock(name + "-fair-write")
                                    .writeLock()));
            ChildConsole.say("READY");
            while (true) {
                String[] command = ChildConsole.readCommand().split(" ", -1);
                if (command[0].equals("stop")) {
                    return;
                }
                Place place = requireNonNull(places.get(command[1]));
                switch (command[0]) {
                    case "wait" -> place.await();
                    case "timeOut" -> place.leave(false);
                    case "interrupt" -> place.leave(true);
                    default -> throw new IllegalArgumentException(command[0]);
                }
            }
        }
    }
}
