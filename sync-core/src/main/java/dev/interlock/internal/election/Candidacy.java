package dev.interlock.internal.election;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.election.Candidate;
import dev.interlock.election.Term;
import dev.interlock.election.Term.End;
import dev.interlock.election.TermListener;
import dev.interlock.election.TermTask;
import dev.interlock.internal.Names;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.HoldQueue.Held;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A candidate: asks for the hold of an election's name, is elected when that is granted, and deposed when it is lost or
 * the term is ended. At any time it does one of three things, until it has ended: it waits for a request, it has a
 * term, or it pauses until it stands again.
 *
 * <p>What the queue of the name tells changes the state at once, on the thread that tells it; the listener is called in
 * a thread of the candidate's own, in the same order. So a listener that blocks delays nothing else. Whatever ends a
 * term, it is that thread that releases the hold, once the listener has been told: a leader that resigns is done before
 * another one begins, and its own next request comes after all others that wait.
 *
 * <p>The mutex of the candidate is held for changes of its state only, never while the queue is called: that may run
 * callbacks of other candidates.
 */
public final class Candidacy implements Candidate {
    private static final Logger log = LoggerFactory.getLogger(Candidacy.class);

    /** Before it stands again after a failure, or when its work has returned: that may happen at once, each time. */
    private static final long PAUSE_MILLIS = 1_000;

    private final RedisSession session;
    private final HoldQueue queue;
    private final String name;
    private final HoldTerms terms;
    private final TermListener listener;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** Calls the listener. */
    private final Executor thread;

    @GuardedBy("this")
    private @Nullable CompletableFuture<Held> request;

    /** The term, until its hold is released. */
    private volatile @Nullable HeldTerm current;

    /** Whether it waits for the time to stand again. */
    @GuardedBy("this")
    private boolean pausing;

    /** Whether it was withdrawn. Written under the mutex. */
    private volatile boolean closed;

    /**
     * Creates one that doesn't {@linkplain #stand stand} yet.
     *
     * @param queue that of the election's name
     * @param name the election, for people
     * @param by whom operators see, or the empty string
     */
    public Candidacy(RedisSession session, HoldQueue queue, String name, String by, TermListener listener) {
        this.session = session;
        this.queue = queue;
        this.name = name;
        this.terms = new HoldTerms(RemoteWait.FOREVER, RemoteLock.RENEWED, by, Runnable::run, Runnable::run);
        this.listener = listener;
        this.thread = session.threadOfItsOwn("candidate", ended);
    }

    /** Returns a listener that works while its candidate leads. */
    public static TermListener listener(TermTask work) {
        return new TermListener() {
            @Override
            public void elected(Term term) throws InterruptedException {
                work.run(term);
                ((HeldTerm) term).end(End.RETURNED);
            }
        };
    }

    /** Asks to be elected. */
    public void stand() {
        synchronized (this) {
            pausing = false;
        }
        if (closed) {
            ended.complete(null);
            return;
        }
        CompletableFuture<Held> asked = queue.acquire(terms, Optional::orElseThrow);
        synchronized (this) {
            request = asked;
        }
        asked.whenComplete(this::answered);
        if (closed) {
            asked.cancel(false);
        }
    }

    private void answered(@Nullable Held held, @Nullable Throwable failure) {
        HeldTerm elected = null;
        synchronized (this) {
            request = null;
            if (held != null && !closed) {
                elected = new HeldTerm(held);
                current = elected;
                report(listener -> listener.elected(name, held.token()));
            }
        }
        if (elected != null) {
            elected.begin();
        } else if (held != null) {
            held.handOver().whenComplete((released, unconfirmed) -> ended.complete(null));
        } else if (closed || failure == null) {
            ended.complete(null);
        } else if (failure instanceof RedisUnavailableException) {
            log.debug("Candidate for {} waits for Redis", Names.quoted(name), failure);
            pause();
        } else {
            log.warn("Candidate for {} stands no more: {}", Names.quoted(name), failure.getMessage());
            ended.completeExceptionally(failure);
        }
    }

    /** Tells the session's listeners; under the mutex, so that they hear of the end of a term after its beginning. */
    private void report(Consumer<SyncListener> event) {
        session.listeners().execute(() -> event.accept(session.settings().listener()));
    }

    /** Tells a listener of the session of a term that goes on: it may not have heard of that. */
    public synchronized void tell(SyncListener added) {
        HeldTerm term = current;
        if (term != null && term.end == null) {
            SyncListener told = Listeners.asOne(List.of(added));
            session.listeners().execute(() -> told.elected(name, term.held.token()));
        }
    }

    private void pause() {
        synchronized (this) {
            pausing = !closed;
        }
        if (closed || session.isClosing()) {
            // Its timer may run nothing more.
            ended.complete(null);
        } else {
            session.schedule(this::stand, PAUSE_MILLIS);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isLeader() {
        HeldTerm term = current;
        return term != null && term.isValid();
    }

    @Override
    public Optional<Term> term() {
        HeldTerm term = current;
        return term == null || term.end != null ? Optional.empty() : Optional.of(term);
    }

    @Override
    public CompletionStage<Void> resign() {
        HeldTerm term = current;
        return term == null ? CompletableFuture.completedStage(null) : term.resign();
    }

    @Override
    public CompletionStage<Void> ended() {
        return ended.copy();
    }

    @Override
    public void close() {
        CompletableFuture<Held> asked;
        boolean wasPausing;
        synchronized (this) {
            closed = true;
            asked = request;
            wasPausing = pausing;
            pausing = false;
        }
        HeldTerm term = current;
        if (asked != null) {
            asked.cancel(false);
        } else if (term != null) {
            term.end(End.CLOSED);
        } else if (wasPausing) {
            ended.complete(null);
        }
    }

    /** Withdraws, and releases the name at once: the session is about to be closed, and doesn't wait for the work. */
    public void abandon() {
        close();
        HeldTerm term = current;
        if (term != null) {
            term.held.handOver();
        }
    }

    /** The term that comes with a hold. */
    private final class HeldTerm implements Term {
        private final Held held;

        /** Completes when another candidate may be elected. */
        private final CompletableFuture<Void> over = new CompletableFuture<>();

        /** Written under the mutex. */
        private volatile @Nullable End end;

        /** The thread that calls {@link TermListener#elected}, during that call. */
        @GuardedBy("Candidacy.this")
        private @Nullable Thread worker;

        /** Whether the listener knows of it. Used in the candidate's thread. */
        private boolean told;

        HeldTerm(Held held) {
            this.held = held;
        }

        void begin() {
            log.info("Elected: {}, token {}", Names.quoted(name), held.token());
            thread.execute(this::tellElected);
            held.lost().thenAccept(loss -> end(End.LOST));
        }

        private void tellElected() {
            synchronized (Candidacy.this) {
                if (end != null) {
                    return;
                }
                worker = Thread.currentThread();
            }
            told = true;
            try {
                listener.elected(this);
            } catch (InterruptedException | RuntimeException | Error e) {
                if (end == null) {
                    log.warn("The leader of {} has failed, which ends its term", Names.quoted(name), e);
                } else {
                    log.debug("The former leader of {} has ended its work", Names.quoted(name), e);
                }
                end(End.FAILED);
            } finally {
                synchronized (Candidacy.this) {
                    worker = null;
                }
            }
        }

        /** Ends it, unless it has ended. */
        void end(End why) {
            synchronized (Candidacy.this) {
                if (end != null) {
                    return;
                }
                end = why;
                report(listener -> listener.deposed(name, held.token(), why));
                // The leader itself may be the one that finds a loss, in whatever it calls.
                if (worker != null && (worker != Thread.currentThread() || why == End.LOST)) {
                    worker.interrupt();
                }
            }
            log.info("Deposed: {}, token {}, {}", Names.quoted(name), held.token(), why);
            thread.execute(() -> tellDeposed(why));
        }

        private void tellDeposed(End why) {
            try {
                if (told) {
                    listener.deposed(this, why);
                }
            } catch (RuntimeException | Error e) {
                log.warn("A listener of {} has failed; what it has thrown is ignored", Names.quoted(name), e);
            }
            boolean isLast;
            synchronized (Candidacy.this) {
                current = null;
                isLast = closed;
            }
            held.handOver().whenComplete((released, failure) -> released(why, failure, isLast));
            if (isLast) {
                return;
            }
            if (why == End.RETURNED || why == End.FAILED) {
                pause();
            } else {
                stand();
            }
        }

        private void released(End why, @Nullable Throwable failure, boolean isLast) {
            if (failure == null || why == End.LOST) {
                over.complete(null);
            } else {
                over.completeExceptionally(failure);
            }
            if (isLast) {
                ended.complete(null);
            }
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long fencingToken() {
            return held.token();
        }

        @Override
        public boolean isValid() {
            return end == null && held.isValid();
        }

        @Override
        public void assertValid() {
            LeaseLostException loss = held.loss();
            if (loss != null) {
                throw new LeaseLostException(loss);
            }
            if (end != null) {
                throw new IllegalStateException(this + " has ended: " + end);
            }
            held.assertValid();
        }

        @Override
        public CompletionStage<Void> resign() {
            end(End.RESIGNED);
            return over.copy();
        }

        @Override
        public String toString() {
            return "term of " + Names.quoted(name) + ", token " + held.token();
        }
    }

    @Override
    public String toString() {
        return "candidate for " + Names.quoted(name) + (isLeader() ? ", which leads" : "");
    }
}
