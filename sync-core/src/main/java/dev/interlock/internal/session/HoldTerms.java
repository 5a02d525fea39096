package dev.interlock.internal.session;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a hold is asked for.
 *
 * @param waitNanos how long the request may wait; 0 or less to ask only once, {@link RemoteWait#FOREVER} for no limit
 * @param leaseMillis the length of a fixed lease, or what stands for one that is renewed
 * @param by whom operators see as the owner, or the empty string
 * @param grants completes the request
 * @param callbacks completes all other stages of users
 */
public record HoldTerms(long waitNanos, long leaseMillis, String by, Executor grants, Executor callbacks) {
    private static final Logger log = LoggerFactory.getLogger(HoldTerms.class);

    /** Returns whether the request is refused at once if it can't be granted. */
    public boolean isOnce() {
        return waitNanos <= 0;
    }

    /** Returns whether the wait has a limit. */
    public boolean isTimed() {
        return waitNanos != RemoteWait.FOREVER;
    }

    /** Completes the request with what came of it. */
    public void complete(Session session, Runnable outcome) {
        run(grants, session, outcome);
    }

    /**
     * Completes the request with what was granted. If its user completes it first, that is given back at once, also
     * while the executor has yet to come to it.
     *
     * @param granted an object that stands for nothing else
     */
    public <T> void grant(Session session, CompletableFuture<T> request, T granted, Runnable giveBack) {
        request.whenComplete((result, failure) -> {
            if (result != granted) {
                giveBack.run();
            }
        });
        complete(session, () -> request.complete(granted));
    }

    /** Completes another stage. */
    public void callBack(Session session, Runnable outcome) {
        run(callbacks, session, outcome);
    }

    // On the executor, unless that refuses to: the outcome may be the only one that knows of a hold.
    private static void run(Executor executor, Session session, Runnable outcome) {
        try {
            executor.execute(outcome);
        } catch (RuntimeException | Error e) {
            log.debug("An executor for holds has refused a task", e);
            session.continuations().execute(outcome);
        }
    }
}
