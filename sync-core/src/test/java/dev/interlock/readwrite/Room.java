package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.lock.Entry;
import dev.interlock.testing.Visitors.Visit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * What the locks of one test guard. It counts the visitors inside; one that finds there whom it should exclude fails.
 */
final class Room {
    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();

    private AtomicInteger inside(View view) {
        return view == View.READ ? readers : writers;
    }

    /** A visit by way of one view of a lock. */
    Visit visit(ReentrantReadWriteLock lock, View view, Entry entry) {
        return new Visit() {
            @Override
            public boolean enter() throws InterruptedException {
                return entry.into(view.of(lock));
            }

            @Override
            public void begin() {
                inside(view).incrementAndGet();
                assertThat(writers).as("writers inside").hasValue(view == View.READ ? 0 : 1);
                if (view == View.WRITE) {
                    assertThat(readers).as("readers inside").hasValue(0);
                }
                view.assertHeld(lock, 1);
            }

            @Override
            public void end() {
                view.assertHeld(lock, 1);
                inside(view).decrementAndGet();
            }

            @Override
            public void exit() {
                view.of(lock).unlock();
            }

            @Override
            public void outside() {
                ReadWriteLockFixture.assertHolds(lock, 0, 0);
            }
        };
    }
}
