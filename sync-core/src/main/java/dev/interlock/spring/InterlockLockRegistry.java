package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * A {@code LockRegistry} of Spring Integration whose locks exclude all JVMs, for aggregators, metadata stores, leaders
 * and everything else that takes one. The key {@code k} is the lock {@code prefix + k} of
 * {@link Interlock#lock(String)}, with all of its guarantees: a lease that is renewed, fencing tokens, conditions.
 */
public final class InterlockLockRegistry implements LockRegistry<DistributedReentrantLock> {
    private final Interlock interlock;
    private final String prefix;

    /**
     * Creates a registry.
     *
     * @param interlock the session, which stays open
     * @param prefix what the names of its locks begin with, may be empty; registries with the same share their locks
     */
    public InterlockLockRegistry(Interlock interlock, String prefix) {
        this.interlock = requireNonNull(interlock, "interlock");
        this.prefix = requireNonNull(prefix, "prefix");
    }

    /**
     * Returns the lock of a key.
     *
     * @param lockKey a string, or anything whose {@code toString()} is the same in all JVMs
     */
    @Override
    public DistributedReentrantLock obtain(Object lockKey) {
        return interlock.lock(prefix + requireNonNull(lockKey, "lockKey"));
    }
}
