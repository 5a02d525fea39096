package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** The reply to a request: seven numbers, and the sequences that are over. */
public record Answer(
        Status status, long ttlMillis, long third, long behind, long micros, long owner, long run, List<Long> over) {
    private static final List<Status> STATUSES = List.of(Status.values());

    /** How a request stands, in the numbers of the reply. */
    public enum Status {
        OVER,
        GRANTED,
        QUEUED,
        BUSY
    }

    static Answer of(List<Long> reply) {
        assertThat(reply).hasSizeGreaterThanOrEqualTo(7);
        return new Answer(
                STATUSES.get(Math.toIntExact(reply.get(0))),
                reply.get(1),
                reply.get(2),
                reply.get(3),
                reply.get(4),
                reply.get(5),
                reply.get(6),
                reply.subList(7, reply.size()));
    }

    public long token() {
        assertThat(status).isEqualTo(Status.GRANTED);
        return third;
    }

    public boolean foreign() {
        assertThat(status).isIn(Status.QUEUED, Status.BUSY);
        assertThat(third).isBetween(0L, 2L);
        return third == 1;
    }

    /** Whether sessions are asked whether a thread is inside. */
    public boolean asked() {
        return !foreign() && third == 2;
    }
}
