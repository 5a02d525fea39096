package dev.interlock.internal.latch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.StateSync;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a latch over our own script. A command says how often this object has counted down in all, so that
 * a repeat changes nothing; the reply says what the count is by now. Each event changes the {@link LatchState}, under
 * the mutex, and its effects are carried out then.
 */
public final class ScriptLatch extends StateSync implements RemoteLatch {
    private static final Logger log = LoggerFactory.getLogger(ScriptLatch.class);
    private static final RareLog UNCONFIRMED = new RareLog();

    static final Script TELL = Script.load("latch/tell");

    private final String name;
    private final LatchState state;
    private final long retentionMillis;
    private final LocalLatch local;
    private final List<Object> keys;

    @GuardedBy("mutex")
    private final Map<Thread, Long> waiting = new LinkedHashMap<>();

    /** Identifies this object among all that ever joined, so that each one's count-downs are counted separately. */
    private final String contributor;

    /**
     * Creates the remote half of the latch of this name, which has yet to be joined.
     *
     * @param count what it begins with
     * @param retentionMillis for how long it is to be known that it was opened
     */
    public ScriptLatch(RedisSession session, String name, int count, long retentionMillis, LocalLatch local) {
        super(session, Keys.prefix(session.key(name)) + "latch");
        this.name = name;
        this.state = new LatchState(name, count, count);
        this.retentionMillis = retentionMillis;
        this.local = local;
        this.contributor = session.id() + ":" + session.nextSequence();
        this.keys = List.of(key, Keys.of("totals", key), Keys.of("waiters", key), Keys.of("mark:" + session.id(), key));
    }

    @Override
    public LatchState state() {
        return state;
    }

    // ---- what threads call

    @Override
    public CompletableFuture<?> ask() {
        mutex.lock();
        try {
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void countDown() {
        CompletableFuture<Void> confirmed;
        mutex.lock();
        try {
            state.ensureAlive(session.isClosed());
            if (!state.countDown()) {
                return;
            }
            confirmed = insist();
        } finally {
            mutex.unlock();
        }
        session.expect(confirmed, confirmed);
        session.await(confirmed);
        if (!confirmed.isDone()) {
            UNCONFIRMED.say(
                    key,
                    often -> log.warn(
                            "Redis has not confirmed that {} was counted down; it is told until it has{}",
                            state.described(),
                            often));
        }
        state.ensureAlive(session.isClosed());
        if (confirmed.isCompletedExceptionally()) {
            throw state.refusal(Failures.of(confirmed));
        }
    }

    @Override
    public CompletableFuture<?> arrive(boolean asks) {
        mutex.lock();
        try {
            state.ensureAlive(session.isClosed());
            state.arrive(asks);
            waiting.put(Thread.currentThread(), session.now());
            carryOut();
            return asks ? tellAndHear() : CompletableFuture.completedFuture(null);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void leave() {
        mutex.lock();
        try {
            state.leave();
            waiting.remove(Thread.currentThread());
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        if (!wanted.test(name)) {
            return null;
        }
        mutex.lock();
        try {
            long now = session.now();
            List<Wait> waits = waiting.entrySet().stream()
                    .map(one -> Wait.of(one.getKey(), "", now - one.getValue()))
                    .toList();
            return Stake.ofWaiting(name, "latch", waits);
        } finally {
            mutex.unlock();
        }
    }

    // ---- commands, replies and messages

    @GuardedBy("mutex")
    private void carryOut() {
        for (LatchEffect next = state.effects.poll(); next != null; next = state.effects.poll()) {
            switch (next) {
                case TELL -> tell();
                case OPEN -> local.open();
            }
        }
    }

    @Override
    @GuardedBy("mutex")
    protected Call command(long version) {
        List<Object> all =
                List.of(keys.get(0), keys.get(1), keys.get(2), keys.get(3), Keys.of("opened:" + state.born, key));
        int waits = isWaiting() ? 1 : 0;
        return TELL.on(
                all,
                session.id(),
                contributor,
                version,
                state.born,
                state.total,
                waits,
                state.count,
                retentionMillis,
                state.most(session.now()));
    }

    @Override
    @GuardedBy("mutex")
    protected void answered(List<Object> reply) {
        state.answered(LatchReply.of(reply), session.now());
        carryOut();
    }

    @Override
    @GuardedBy("mutex")
    protected void refused(Throwable cause) {
        state.refused(cause);
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isWaiting() {
        return state.isWaiting();
    }

    @Override
    @GuardedBy("mutex")
    protected boolean isSettled() {
        return state.isOpen() || state.isLost();
    }

    @Override
    protected boolean isLeased() {
        return false;
    }

    @Override
    @GuardedBy("mutex")
    protected void mailed(Mail mail) {
        if (mail instanceof Mail.Opening opening) {
            state.told(opening.born(), session.runner().isReplicated());
            carryOut();
            keepAlive();
        }
    }

    @Override
    @GuardedBy("mutex")
    protected CompletableFuture<?> closed() {
        state.close();
        carryOut();
        // The session waits by itself for count-downs that aren't confirmed yet.
        return CompletableFuture.completedFuture(null);
    }

    @Override
    @GuardedBy("mutex")
    protected String description() {
        return state.toString();
    }
}
