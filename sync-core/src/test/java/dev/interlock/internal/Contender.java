package dev.interlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A session as the scripts see it: it sends commands, in any order it likes, and reads the replies as they come. */
final class Contender {
    static final long LEASE = 30_000;
    static final long NOTHING = 0;
    static final long TENURE = 1;
    static final long TICKET = 2;

    private static final List<Status> STATUSES = List.of(Status.values());
    private static final String ACQUIRE = Script.load("lock/acquire").text();
    private static final String TAKE = Script.load("lock/take").text();
    private static final String DROP = Script.load("lock/drop").text();
    private static final String RELEASE = Script.load("lock/release").text();
    private static final String RENEW = Script.load("lock/renew").text();
    private static final String INSPECT = Script.load("lock/inspect").text();

    final String id = "interlock-" + UUID.randomUUID();
    private final RedisServer server;
    private final LockKeys keys;
    private final Set<Request> sent = new LinkedHashSet<>();

    Contender(RedisServer server, LockKeys keys) {
        this.server = server;
        this.keys = keys;
    }

    /** How a request stands, in the numbers of the reply. */
    enum Status {
        OVER,
        GRANTED,
        QUEUED,
        BUSY
    }

    /**
     * A request to own the lock by one sequence or several, not yet sent.
     *
     * @param leaseMillis if it gets the lock without having queued
     * @param grantMillis the lease in its tickets
     * @param from what becomes of an earlier tenure, as in the script
     * @param used what was served on the tenure of another ticket
     */
    record Request(
            Contender by,
            List<Long> sequences,
            long leaseMillis,
            long grantMillis,
            boolean queues,
            long from,
            long floor,
            List<Long> used) {
        long sequence() {
            return sequences.get(0);
        }

        Request lease(long millis) {
            return new Request(by, sequences, millis, millis, queues, from, floor, used);
        }

        Request granting(long millis) {
            return new Request(by, sequences, leaseMillis, millis, queues, from, floor, used);
        }

        Request once() {
            return new Request(by, sequences, leaseMillis, grantMillis, false, from, floor, used);
        }

        Request continuing(long tenure) {
            return new Request(by, sequences, leaseMillis, grantMillis, queues, tenure, floor, used);
        }

        Request above(long token) {
            return new Request(by, sequences, leaseMillis, grantMillis, queues, from, token, used);
        }

        Request using(Long... served) {
            return new Request(by, sequences, leaseMillis, grantMillis, queues, from, floor, List.of(served));
        }

        Answer send() {
            by.sent.add(this);
            return Answer.of(by.run(
                    ACQUIRE,
                    by.keys.all(by.id),
                    by.id,
                    by.text(sequences, grantMillis),
                    Long.toString(leaseMillis),
                    queues ? "1" : "0",
                    Long.toString(from),
                    Long.toString(floor),
                    by.text(used, grantMillis)));
        }
    }

    /** The reply to a request: seven numbers, and the sequences that are over. */
    record Answer(
            Status status,
            long ttlMillis,
            long third,
            long behind,
            long micros,
            long owner,
            long run,
            List<Long> over) {
        private static Answer of(List<Long> reply) {
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

        long token() {
            assertThat(status).isEqualTo(Status.GRANTED);
            return third;
        }

        boolean foreign() {
            assertThat(status).isIn(Status.QUEUED, Status.BUSY);
            assertThat(third).isBetween(0L, 1L);
            return third == 1;
        }
    }

    /** The reply to a renewal. */
    record Renewed(boolean owned, long ttlMillis, long tickets, long foreign) {}

    Request request(long sequence) {
        return new Request(this, List.of(sequence), LEASE, LEASE, true, 0, 1, List.of());
    }

    /** A request by several tickets of a fair lock. */
    Request requests(Long... sequences) {
        return new Request(this, List.of(sequences), LEASE, LEASE, true, -1, 1, List.of());
    }

    private String text(List<Long> sequences, long leaseMillis) {
        return sequences.stream().map(sequence -> sequence + ":" + leaseMillis).collect(Collectors.joining(" "));
    }

    Answer acquire(long sequence) {
        return request(sequence).send();
    }

    /** Acquires a lock that must be free. */
    Answer own(long sequence) {
        Answer answer = acquire(sequence);
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        return answer;
    }

    /** Acquires a lock that must not be free. */
    Answer queue(long sequence) {
        Answer answer = acquire(sequence);
        assertThat(answer.status()).isEqualTo(Status.QUEUED);
        return answer;
    }

    long release(long sequence) {
        return release(sequence, LEASE, 1);
    }

    long release(long sequence, long leaseMillis, long floor) {
        return release(sequence, leaseMillis, floor, List.of());
    }

    /** Gives up a tenure on which other tickets were served. */
    long releaseWith(long sequence, Long... used) {
        return release(sequence, LEASE, 1, List.of(used));
    }

    long release(long sequence, long leaseMillis, long floor, List<Long> used) {
        return release(sequence, Long.toString(leaseMillis), floor, text(used, leaseMillis), "");
    }

    /** Gives up a tenure that had something to do with conditions. */
    long releaseAfter(long sequence, String operations) {
        return release(sequence, Long.toString(LEASE), 1, "", operations);
    }

    private long release(long sequence, String terms, long floor, String used, String operations) {
        List<Long> reply = run(
                RELEASE,
                keys.all(id),
                id,
                Long.toString(sequence),
                terms,
                Long.toString(floor),
                keys.channel(),
                "publish",
                used,
                "1",
                operations);
        assertThat(reply).hasSize(1);
        return reply.get(0);
    }

    /** Takes a lock that is simply free. Returns the token, or 0 if it isn't. */
    long take(long sequence) {
        sent.add(request(sequence));
        List<Long> reply = run(
                TAKE,
                List.of(keys.lock(), keys.queue(), keys.token(), keys.conditions(), keys.mark(id)),
                owner(sequence),
                Long.toString(sequence),
                Long.toString(LEASE));
        assertThat(reply).hasSize(1);
        return reply.get(0);
    }

    /** Releases a lock that nobody waits for. Returns whether it was that. */
    boolean drop(long sequence) {
        List<Long> reply = run(
                DROP,
                List.of(keys.lock(), keys.queue(), keys.conditions(), keys.mark(id)),
                owner(sequence),
                Long.toString(sequence),
                Long.toString(LEASE),
                keys.channel(),
                "publish");
        assertThat(reply).hasSize(1);
        return reply.get(0) == 1;
    }

    Renewed renew(long sequence) {
        List<Long> reply = run(
                RENEW,
                List.of(keys.lock(), keys.queue(), keys.mark(id)),
                owner(sequence),
                Long.toString(LEASE),
                keys.channel(),
                "publish");
        assertThat(reply).hasSize(4);
        return new Renewed(reply.get(0) == 1, reply.get(1), reply.get(2), reply.get(3));
    }

    boolean inspect() {
        List<Long> reply = run(INSPECT, List.of(keys.lock()));
        assertThat(reply).hasSize(1);
        return reply.get(0) == 1;
    }

    /** Leaves no request unfinished. */
    void releaseAll() {
        for (Request request : sent) {
            for (long sequence : request.sequences) {
                release(sequence, request.grantMillis, request.floor);
            }
        }
    }

    /** What stands in the lock's hash if this one owns it. */
    String owner(long sequence) {
        return id + ":" + sequence;
    }

    /** What stands in the queue if this one waits. */
    String ticket(long sequence) {
        return owner(sequence) + ":" + LEASE;
    }

    String mark() {
        return keys.mark(id);
    }

    String mailbox() {
        return LockKeys.mailbox(id);
    }

    private List<Long> run(String script, List<String> on, String... arguments) {
        String[] command = Stream.of(
                        Stream.of("EVAL", script, Integer.toString(on.size())), on.stream(), Stream.of(arguments))
                .flatMap(part -> part)
                .toArray(String[]::new);
        if (!(server.command(command) instanceof List<?> reply)) {
            throw new IllegalStateException("not a list");
        }
        List<Long> numbers = new ArrayList<>();
        for (Object element : reply) {
            assertThat(element).as("%s", reply).isInstanceOfSatisfying(Long.class, numbers::add);
        }
        return numbers;
    }

    @Override
    public String toString() {
        return id;
    }
}
