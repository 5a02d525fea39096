package dev.interlock;

import com.google.common.collect.MapMaker;
import dev.interlock.internal.Names;
import dev.interlock.internal.barrier.ScriptBarrier;
import dev.interlock.internal.session.RedisSession;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The barriers of a session, by name. A name has one object at a time. The remote half may outlive it, until Redis has
 * confirmed that the session is no longer a member; a new object of the same name continues with the same remote half.
 */
final class Barriers {
    private final RedisSession session;
    private final ConcurrentMap<String, DistributedCyclicBarrier> barriers =
            new MapMaker().weakValues().makeMap();
    private final ConcurrentMap<String, ScriptBarrier> remotes = new ConcurrentHashMap<>();

    Barriers(RedisSession session) {
        this.session = session;
    }

    DistributedCyclicBarrier obtain(String name, int parties, @Nullable Runnable action) {
        while (true) {
            ScriptBarrier other = remotes.get(name);
            if (other != null && other.parties() != parties) {
                other.leaveIfUnheld();
            }
            DistributedCyclicBarrier barrier =
                    barriers.computeIfAbsent(name, absent -> create(absent, parties, action));
            try {
                barrier.join();
            } catch (IllegalArgumentException | IllegalStateException e) {
                if (!barrier.discard()) {
                    throw e;
                }
                barriers.remove(name, barrier);
                if (barrier.getParties() == parties) {
                    throw e;
                }
                // Another thread asked for that number of parties.
                continue;
            }
            if (barrier.getParties() != parties) {
                throw otherParties(name, barrier.getParties(), parties);
            }
            if (barrier.action() != action) {
                throw new IllegalArgumentException("barrier " + Names.quoted(name)
                        + " is in use in this session with another action, or with none");
            }
            if (barrier.handOut()) {
                return barrier;
            }
        }
    }

    private DistributedCyclicBarrier create(String name, int parties, @Nullable Runnable action) {
        ScriptBarrier remote = remotes.compute(name, (key, known) -> {
            if (known == null || known.hasLeft()) {
                return open(key, parties);
            }
            if (known.parties() != parties) {
                throw otherParties(key, known.parties(), parties);
            }
            return known.attach() ? known : open(key, parties);
        });
        return new DistributedCyclicBarrier(remote, action);
    }

    private ScriptBarrier open(String name, int parties) {
        ScriptBarrier remote = new ScriptBarrier(session, name, parties, left -> remotes.remove(name, left));
        remote.attach();
        return remote;
    }

    private static IllegalArgumentException otherParties(String name, int known, int stated) {
        return new IllegalArgumentException("barrier " + Names.quoted(name) + " is one of " + known
                + " parties; it can't be one of " + stated + " at the same time");
    }
}
