package dev.interlock.internal.events;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.election.Term;
import dev.interlock.ops.Deadlock;
import dev.interlock.ratelimit.OutagePolicy;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listeners of a session, which come and go while it is open. */
public final class Listeners {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    private volatile SyncListener current = SyncListener.NONE;
    private volatile SyncListener ofAcquisitions = SyncListener.NONE;

    /** Creates those of a session that has none. */
    public Listeners() {
        this(SyncListener.NONE);
    }

    /** Creates those of a session that has this one, or none if it is {@link SyncListener#NONE}. */
    public Listeners(SyncListener first) {
        add(first);
    }

    /**
     * Returns those that there are now, as one that throws nothing; {@link SyncListener#NONE} if there are none. Of
     * events that belong together, the later ones are told to those that have heard the first.
     */
    public SyncListener current() {
        return current;
    }

    /** Returns those of them that want to hear of each acquisition. */
    public SyncListener ofAcquisitions() {
        return ofAcquisitions;
    }

    /** Adds a listener, unless it is one of them already. Returns whether it wasn't. */
    public synchronized boolean add(SyncListener added) {
        List<SyncListener> all = all();
        boolean isNew = added != SyncListener.NONE && !all.contains(added);
        if (isNew) {
            become(Stream.concat(all.stream(), Stream.of(added)).toList());
        }
        return isNew;
    }

    /** Removes a listener, if it is one of them. */
    public synchronized void remove(SyncListener removed) {
        become(all().stream().filter(listener -> !listener.equals(removed)).toList());
    }

    private void become(List<SyncListener> all) {
        current = asOne(all);
        ofAcquisitions =
                asOne(all.stream().filter(SyncListener::hearsEachAcquisition).toList());
    }

    private List<SyncListener> all() {
        return current instanceof Several several ? List.of(several.listeners) : List.of();
    }

    /** Returns these listeners as one that throws nothing. */
    public static SyncListener asOne(List<SyncListener> listeners) {
        return listeners.isEmpty() ? SyncListener.NONE : new Several(listeners.toArray(SyncListener[]::new));
    }

    /** Tells each of them, whatever the others do. */
    private static final class Several implements SyncListener {
        private final SyncListener[] listeners;

        Several(SyncListener[] listeners) {
            this.listeners = listeners;
        }

        private void each(Consumer<SyncListener> event) {
            for (SyncListener listener : listeners) {
                // What a listener throws must cost neither a thread its lock nor the others their event.
                try {
                    event.accept(listener);
                } catch (RuntimeException | Error e) {
                    log.warn(
                            "Listener {} failed; what it has thrown is ignored",
                            listener.getClass().getName(),
                            e);
                }
            }
        }

        @Override
        public void waiting(String name, String kind) {
            each(listener -> listener.waiting(name, kind));
        }

        @Override
        public void waited(String name, String kind, Outcome outcome, boolean local, long waitedNanos) {
            each(listener -> listener.waited(name, kind, outcome, local, waitedNanos));
        }

        @Override
        public void acquired(String name, long waitedNanos, boolean local) {
            each(listener -> listener.acquired(name, waitedNanos, local));
        }

        @Override
        public void held(String name, long holds, long heldNanos) {
            each(listener -> listener.held(name, holds, heldNanos));
        }

        @Override
        public void released(String name, long tenureNanos) {
            each(listener -> listener.released(name, tenureNanos));
        }

        @Override
        public void handedOff(String name) {
            each(listener -> listener.handedOff(name));
        }

        @Override
        public void renewed(String name, long validNanos) {
            each(listener -> listener.renewed(name, validNanos));
        }

        @Override
        public void renewalFailed(String name, long validNanos, Throwable cause) {
            each(listener -> listener.renewalFailed(name, validNanos, cause));
        }

        @Override
        public void unanswered(String name, long waitedNanos) {
            each(listener -> listener.unanswered(name, waitedNanos));
        }

        @Override
        public void lost(LeaseLostException loss) {
            each(listener -> listener.lost(loss));
        }

        @Override
        public void lostUnnoticed(LeaseLostException loss) {
            each(listener -> listener.lostUnnoticed(loss));
        }

        @Override
        public void deadlocked(Deadlock deadlock) {
            each(listener -> listener.deadlocked(deadlock));
        }

        @Override
        public void permitsAsked(String name, int permits, Outcome outcome, long waitedNanos) {
            each(listener -> listener.permitsAsked(name, permits, outcome, waitedNanos));
        }

        @Override
        public void decided(String name, long permits, boolean granted) {
            each(listener -> listener.decided(name, permits, granted));
        }

        @Override
        public void decidedWithoutRedis(String name, long permits, OutagePolicy policy) {
            each(listener -> listener.decidedWithoutRedis(name, permits, policy));
        }

        @Override
        public void elected(String election, long token) {
            each(listener -> listener.elected(election, token));
        }

        @Override
        public void deposed(String election, long token, Term.End why) {
            each(listener -> listener.deposed(election, token, why));
        }

        @Override
        public void redisUnreachable(Throwable cause) {
            each(listener -> listener.redisUnreachable(cause));
        }

        @Override
        public void redisReachable(long outageNanos) {
            each(listener -> listener.redisReachable(outageNanos));
        }
    }
}
