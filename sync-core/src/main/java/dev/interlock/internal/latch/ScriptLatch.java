package dev.interlock.internal.latch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.StateSync;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a latch over our own script. A command says how often this object has counted down in all, so that
 * a repeat changes nothing; the reply says what the count is by now.
 *
 * <p>The latch that an object has joined is known by the time at which it was made. If Redis loses it, and another one
 * of the same name is made, nobody takes one for the other: objects that have joined the first one learn that it is
 * gone.
 */
public final class ScriptLatch extends StateSync implements RemoteLatch {
    private static final Logger log = LoggerFactory.getLogger(ScriptLatch.class);

    static final Script TELL = Script.load("latch/tell");

    private final String name;
    private final int count;
    private final long retentionMillis;
    private final LocalLatch local;
    private final List<Object> keys;

    /** Identifies this object among all that ever joined, so that each one's count-downs are counted separately. */
    private final String contributor;

    /** When the latch was made that this object has joined, 0 as long as it has not. */
    @GuardedBy("mutex")
    private long born;

    /** How often this object has counted down. */
    @GuardedBy("mutex")
    private long total;

    /** How many threads wait. */
    @GuardedBy("mutex")
    private int waiting;

    /** Why this object can't be used any more. */
    private record Failure(String message) {}

    private volatile @Nullable Failure failure;

    /** What threads that wait throw. It doesn't end the latch: later ones ask again. */
    private volatile @Nullable Throwable refusal;

    private volatile boolean open;
    private volatile long left;

    /** The count that the latch began with, if this object was refused because of that. */
    private volatile int otherCount = -1;

    /** Whether the latch that this object has joined was opened long ago, so that the name is free for another one. */
    private volatile boolean past;

    /**
     * Creates the remote half of the latch of this name, which has yet to {@linkplain #join join}.
     *
     * @param count what it begins with
     * @param retentionMillis for how long it is to be known that it was opened
     */
    public ScriptLatch(RedisSession session, String name, int count, long retentionMillis, LocalLatch local) {
        super(session, Keys.prefix(session.key(name)) + "latch");
        this.name = name;
        this.count = count;
        this.left = count;
        this.retentionMillis = retentionMillis;
        this.local = local;
        this.contributor = session.id() + ":" + session.nextSequence();
        this.keys = List.of(key, Keys.of("totals", key), Keys.of("waiters", key), Keys.of("mark:" + session.id(), key));
    }

    // ---- what threads call

    @Override
    public boolean join(int wanted) {
        session.ensureOpen();
        if (failure != null) {
            return false;
        }
        boolean isNew;
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            isNew = born == 0;
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
        Failure known = failure;
        int began = known == null ? count : otherCount;
        if (isNew && known != null && otherCount < 0) {
            throw exception(known);
        } else if (began >= 0 && began != wanted && !past) {
            throw new IllegalArgumentException("latch " + Names.quoted(name) + " began with a count of " + began
                    + "; it can't be joined with a count of " + wanted);
        }
        return known == null && !past;
    }

    private CompletableFuture<Void> ask() {
        mutex.lock();
        try {
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    private void hear(CompletableFuture<Void> answer) {
        if (!isAnswered(answer)) {
            throw new RedisUnavailableException(
                    "Redis has not answered for latch " + Names.quoted(name) + " within "
                            + session.settings().commandTimeoutMillis() + " ms",
                    session.outage().cause());
        }
        throwIfRefused(answer);
    }

    private void throwIfRefused(CompletableFuture<Void> answer) {
        if (answer.isCompletedExceptionally()) {
            throw refusal(Failures.of(answer));
        }
    }

    /** Waits for one command time-out at most. Returns whether there is an answer, if only a refusal. */
    private boolean isAnswered(CompletableFuture<Void> answer) {
        session.await(answer);
        return answer.isDone();
    }

    @Override
    public void countDown() {
        CompletableFuture<Void> confirmed;
        mutex.lock();
        try {
            ensureAlive();
            if (open) {
                return;
            }
            total++;
            confirmed = insist();
        } finally {
            mutex.unlock();
        }
        session.expect(confirmed, confirmed);
        if (!isAnswered(confirmed)) {
            log.warn(
                    "Redis has not confirmed that latch {} was counted down; it is told until it has",
                    Names.quoted(name));
        }
        ensureAlive();
        throwIfRefused(confirmed);
    }

    @Override
    public long count() {
        ensureAlive();
        if (!open) {
            hear(ask());
            ensureAlive();
        }
        return knownCount();
    }

    @Override
    public long knownCount() {
        return open ? 0 : left;
    }

    @Override
    public CompletableFuture<?> arrive(boolean asks) {
        mutex.lock();
        try {
            ensureAlive();
            waiting++;
            if (asks) {
                return tellAndHear();
            }
            if (waiting == 1) {
                tell();
            }
            return CompletableFuture.completedFuture(null);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void leave() {
        mutex.lock();
        try {
            // Redis isn't told: it forgets sessions that no longer say that they wait.
            waiting--;
            if (waiting == 0) {
                refusal = null;
            }
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void ensureUsable() {
        ensureAlive();
        Throwable cause = refusal;
        if (cause != null && !open) {
            throw refusal(cause);
        }
    }

    private void ensureAlive() {
        Failure known = failure;
        if (known != null && !open) {
            throw exception(known);
        }
        if (!open) {
            session.ensureOpen();
        }
    }

    private static IllegalStateException exception(Failure known) {
        return new IllegalStateException(known.message);
    }

    private IllegalStateException refusal(Throwable cause) {
        return Failures.refusal("latch " + Names.quoted(name), cause);
    }

    // ---- commands and their replies

    @Override
    @GuardedBy("mutex")
    protected Call command(long version) {
        List<Object> all = List.of(keys.get(0), keys.get(1), keys.get(2), keys.get(3), Keys.of("opened:" + born, key));
        return TELL.on(
                all, session.id(), contributor, version, born, total, isWaiting() ? 1 : 0, count, retentionMillis);
    }

    @Override
    @GuardedBy("mutex")
    protected void answered(List<Object> reply) {
        refusal = null;
        LatchReply now = LatchReply.of(reply);
        switch (now.status()) {
            case COUNTING -> {
                born = now.born();
                left = now.left();
            }
            case OPEN -> {
                born = now.born();
                open();
            }
            case PAST -> {
                past = true;
                open();
            }
            case OTHER_COUNT -> {
                otherCount = now.began();
                fail("latch " + Names.quoted(name) + " began with another count");
            }
            case GONE -> {
                past = true;
                fail("latch " + Names.quoted(name)
                        + " is lost: Redis doesn't know it any more, since its data was lost or deleted,"
                        + " or since it was open and its retention is over");
            }
        }
    }

    @Override
    @GuardedBy("mutex")
    protected void refused(Throwable cause) {
        refusal = waiting > 0 ? cause : null;
    }

    private void open() {
        open = true;
        local.open();
    }

    // Threads that wait are let out, and throw.
    private void fail(String message) {
        if (!open && failure == null) {
            failure = new Failure(message);
            local.open();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isWaiting() {
        return waiting > 0 && !open && failure == null;
    }

    @Override
    protected boolean isLeased() {
        return false;
    }

    // ---- what the session calls

    @Override
    @GuardedBy("mutex")
    protected void mailed(Mail mail) {
        if (!(mail instanceof Mail.Opening opening) || opening.born() != born || open) {
            return;
        }
        if (session.runner().isReplicated()) {
            // A message may precede the replication of what it tells.
            tell();
        } else {
            open();
            keepAlive();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected CompletableFuture<?> closed() {
        fail("the Interlock session is closed");
        // The session waits by itself for count-downs that aren't confirmed yet.
        return CompletableFuture.completedFuture(null);
    }

    @Override
    @GuardedBy("mutex")
    protected String description() {
        return open ? "open" : failure != null ? "lost" : left + " of " + count;
    }
}
