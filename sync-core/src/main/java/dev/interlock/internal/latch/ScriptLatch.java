package dev.interlock.internal.latch;

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
public final class ScriptLatch extends StateSync<LatchState> implements RemoteLatch {
    private static final Logger log = LoggerFactory.getLogger(ScriptLatch.class);
    private static final RareLog UNCONFIRMED = new RareLog();

    static final Script TELL = Script.load("latch/tell");

    private final String name;
    private final LatchState state;
    private final long retentionMillis;
    private final LocalLatch local;
    private final List<Object> keys;

    /** Since when threads wait; used in events only. */
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
        this(session, name, new LatchState(name, count, count), retentionMillis, local);
    }

    private ScriptLatch(RedisSession session, String name, LatchState state, long retentionMillis, LocalLatch local) {
        super(session, Keys.prefix(session.key(name)) + "latch", newLease(session), state);
        this.name = name;
        this.state = state;
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
        return resource.<CompletableFuture<?>>call((known, now) -> tellAndHear());
    }

    @Override
    public void countDown() {
        CompletableFuture<Void> confirmed = resource.<@Nullable CompletableFuture<Void>>call((known, now) -> {
            known.ensureAlive(session.isClosed());
            return known.countDown() ? insist() : null;
        });
        if (confirmed == null) {
            return;
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
        return resource.<CompletableFuture<?>>call((known, now) -> {
            known.ensureAlive(session.isClosed());
            known.arrive(asks);
            waiting.put(Thread.currentThread(), now);
            return asks ? tellAndHear() : CompletableFuture.completedFuture(null);
        });
    }

    @Override
    public void leave() {
        resource.run((known, now) -> {
            known.leave();
            waiting.remove(Thread.currentThread());
            keepAlive(known);
        });
    }

    @Override
    public @Nullable Stake stake(Predicate<String> wanted) {
        if (!wanted.test(name)) {
            return null;
        }
        return resource.call((known, now) -> {
            List<Wait> waits = waiting.entrySet().stream()
                    .map(one -> Wait.of(one.getKey(), "", now - one.getValue()))
                    .toList();
            return Stake.ofWaiting(name, "latch", waits);
        });
    }

    // ---- commands, replies and messages

    @Override
    public void carryOut(LatchState known, long now) {
        for (LatchEffect next = known.effects.poll(); next != null; next = known.effects.poll()) {
            switch (next) {
                case TELL -> tell();
                case OPEN -> local.open();
            }
        }
    }

    @Override
    protected Call command(LatchState known, long version) {
        List<Object> all =
                List.of(keys.get(0), keys.get(1), keys.get(2), keys.get(3), Keys.of("opened:" + known.born, key));
        return TELL.on(
                all,
                session.id(),
                contributor,
                version,
                known.born,
                known.total,
                known.isWaiting() ? 1 : 0,
                known.count,
                retentionMillis,
                known.most(session.now()));
    }

    @Override
    protected void answered(LatchState known, List<Object> reply) {
        known.answered(LatchReply.of(reply), session.now());
    }

    @Override
    protected boolean refused(LatchState known, Throwable cause) {
        return known.refused(cause);
    }

    @Override
    protected boolean isWaiting(LatchState known) {
        return known.isWaiting();
    }

    @Override
    protected boolean isSettled(LatchState known) {
        return known.isOpen() || known.isLost();
    }

    @Override
    protected boolean isLeased(LatchState known) {
        return false;
    }

    @Override
    protected void mailed(LatchState known, Mail mail) {
        if (mail instanceof Mail.Opening opening) {
            known.told(opening.born(), session.runner().isReplicated());
        }
    }

    @Override
    protected CompletableFuture<?> closed(LatchState known) {
        known.close();
        // The session waits by itself for count-downs that aren't confirmed yet.
        return CompletableFuture.completedFuture(null);
    }

    @Override
    protected String description(LatchState known) {
        return known.toString();
    }
}
