package dev.interlock.semaphore.fleet;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;

/** The kinds of semaphores that children are told to use. */
enum Kind {
    PLAIN {
        @Override
        DistributedSemaphore of(Interlock interlock, String name, int permits) {
            return interlock.semaphore(name, permits);
        }
    },
    FAIR {
        @Override
        DistributedSemaphore of(Interlock interlock, String name, int permits) {
            return interlock.semaphore(name, permits, SemaphoreOptions.fair());
        }
    },
    UNOWNED {
        @Override
        DistributedSemaphore of(Interlock interlock, String name, int permits) {
            return interlock.semaphore(name, permits, SemaphoreOptions.unowned());
        }
    };

    abstract DistributedSemaphore of(Interlock interlock, String name, int permits);
}
