package dev.interlock.internal.lock.script;

import com.google.common.primitives.ImmutableLongArray;
import dev.interlock.internal.lock.script.LockScripts.AcquireReply;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.Status;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterState;
import dev.interlock.internal.redis.Mail;
import java.util.Set;

/** What Redis says, as far as tests of a lock's state tell these apart. */
final class LockReplies {
    private LockReplies() {}

    static AcquireReply granted(long sequence, long token) {
        return granted(sequence, token, 0, false, false);
    }

    static AcquireReply granted(long sequence, long token, long run, boolean waiters, boolean conditions) {
        return reply(Status.GRANTED, LockStateRig.LEASE_MILLIS, token, false, waiters, conditions, 0, sequence, run);
    }

    static AcquireReply grantedFor(long sequence, long token, long ttlMillis) {
        return reply(Status.GRANTED, ttlMillis, token, false, false, false, 0, sequence, 0);
    }

    static AcquireReply queued(long redisMicros) {
        return reply(Status.QUEUED, 5_000, 0, false, false, false, redisMicros, 0, 0);
    }

    static AcquireReply owned(Status status, long owner, long run) {
        return reply(status, -1, 0, false, false, false, 7, owner, run);
    }

    static AcquireReply busy(boolean asked) {
        return new AcquireReply(Status.BUSY, 5_000, 0, false, asked, false, false, 7, 0, 0, ImmutableLongArray.of());
    }

    static AcquireReply foreign() {
        return reply(Status.QUEUED, 5_000, 0, true, false, false, 7, 0, 0);
    }

    static AcquireReply over(long... sequences) {
        return new AcquireReply(
                Status.OVER, -1, 0, false, false, false, false, 7, 0, 0, ImmutableLongArray.copyOf(sequences));
    }

    private static AcquireReply reply(
            Status status,
            long ttl,
            long token,
            boolean foreign,
            boolean waiters,
            boolean conditions,
            long micros,
            long owner,
            long run) {
        ImmutableLongArray none = ImmutableLongArray.of();
        return new AcquireReply(status, ttl, token, foreign, false, waiters, conditions, micros, owner, run, none);
    }

    static Mail.Grant mail(long sequence, long token, long redisMicros) {
        return mail(sequence, token, redisMicros, 0, 0);
    }

    static Mail.Grant mail(long sequence, long token, long redisMicros, long run, long waiter) {
        return new Mail.Grant("name", sequence, token, redisMicros, false, false, run, waiter);
    }

    static SignalReply done(boolean conditions) {
        return new SignalReply(true, false, conditions, 0, Set.of());
    }

    static WaiterReply reply(Waiter waiter, WaiterState how, long ticket) {
        return new WaiterReply(waiter.sequence, how, ticket);
    }
}
