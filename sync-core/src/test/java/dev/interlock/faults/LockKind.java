package dev.interlock.faults;

import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/** The locks over scripts of our own. */
enum LockKind {
    PLAIN {
        @Override
        Lock of(Interlock session, String name) {
            return session.lock(name);
        }
    },
    RETAINED {
        @Override
        Lock of(Interlock session, String name) {
            return session.lock(name, LockOptions.retain(Duration.ofSeconds(2)));
        }
    },
    CONFIRMED {
        @Override
        Lock of(Interlock session, String name) {
            return session.lock(name, LockOptions.confirmUnlock());
        }
    },
    FAIR {
        @Override
        Lock of(Interlock session, String name) {
            return session.fairLock(name);
        }
    },
    READ {
        @Override
        Lock of(Interlock session, String name) {
            return session.readWriteLock(name).readLock();
        }
    },
    WRITE {
        @Override
        Lock of(Interlock session, String name) {
            return session.readWriteLock(name).writeLock();
        }
    },
    FAIR_READ {
        @Override
        Lock of(Interlock session, String name) {
            return session.fairReadWriteLock(name).readLock();
        }
    },
    FAIR_WRITE {
        @Override
        Lock of(Interlock session, String name) {
            return session.fairReadWriteLock(name).writeLock();
        }
    };

    private static final List<String> ROLES =
            List.of("queue", "conditions", "waiters", "token", "turns", "signals", "readers");

    abstract Lock of(Interlock session, String name);

    /** Returns the kind that excludes this one. */
    LockKind opponent() {
        return switch (this) {
            case READ -> WRITE;
            case WRITE -> READ;
            case FAIR_READ -> FAIR_WRITE;
            case FAIR_WRITE -> FAIR_READ;
            default -> this;
        };
    }

    /** Returns what Redis keeps for such a lock, the lock itself first, then its queue and its conditions. */
    List<String> keys(String name, Interlock session) {
        String key = opponent() == this ? name : "interlock:{" + name + "}:rw";
        Stream<String> others = Stream.concat(ROLES.stream(), Stream.of("mark:" + session.id()))
                .map(role -> key.contains("{") ? "interlock:" + role + ":" + key : "interlock:{" + key + "}:" + role);
        return Stream.concat(Stream.of(key), others).toList();
    }
}
