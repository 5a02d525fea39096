package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.SessionId;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A session as the scripts see it: it sends commands, in any order it likes, and reads the replies as they come. */
public final class Contender {
    public static final long LEASE = 30_000;
    public static final long NOTHING = 0;
    public static final long TENURE = 1;
    public static final long TICKET = 2;

    private static final String ACQUIRE = Script.load("lock/acquire").text();
    private static final String TAKE = Script.load("lock/take").text();
    private static final String DROP = Script.load("lock/drop").text();
    private static final String RELEASE = Script.load("lock/release").text();
    private static final String RENEW = Script.load("lock/renew").text();
    private static final String INSPECT = Script.load("lock/inspect").text();
    private static final String SIGNAL = Script.load("lock/signal").text();
    private static final String DOWNGRADE = Script.load("lock/downgrade").text();
    private static final String AWAIT = Script.load("lock/await").text();
    private static final String HEARTBEAT = Script.load("lock/heartbeat").text();

    /** The session is taken to be dead if it says nothing for so long. */
    private static final String HEARTBEAT_MILLIS = "3000";

    public final String id = SessionId.fresh("");
    private final RedisServer server;
    private final Evaluator scripts;
    private final LockKeys keys;
    private final Set<Request> sent = new LinkedHashSet<>();
    private final Set<Waiting> waiting = new LinkedHashSet<>();

    Contender(RedisServer server, LockKeys keys) {
        this.server = server;
        scripts = new Evaluator(server);
        this.keys = keys;
    }

    /** The reply to a renewal. */
    public record Renewed(boolean owned, long ttlMillis, long tickets, long foreign) {}

    public Request request(long sequence) {
        return new Request(this, List.of(sequence), LEASE, LEASE, true, 0, 1, List.of(), false);
    }

    /** A request by several tickets of a fair lock. */
    public Request requests(Long... sequences) {
        return new Request(this, List.of(sequences), LEASE, LEASE, true, -1, 1, List.of(), false);
    }

    Answer send(Request request) {
        sent.add(request);
        return Answer.of(scripts.run(
                ACQUIRE,
                keys.all(id),
                id,
                text(request.sequences(), request.terms()),
                Long.toString(request.leaseMillis()),
                request.queues() ? "1" : "0",
                Long.toString(request.from()),
                Long.toString(request.floor()),
                text(request.used(), request.terms()),
                HEARTBEAT_MILLIS));
    }

    /** Gives up one sequence of a request. */
    long release(Request request, long sequence) {
        return release(sequence, request.terms(), request.floor(), "", "");
    }

    private static String text(List<Long> sequences, String terms) {
        return sequences.stream().map(sequence -> sequence + ":" + terms).collect(Collectors.joining(" "));
    }

    public Answer acquire(long sequence) {
        return request(sequence).send();
    }

    /** Acquires a lock that must be free. */
    public Answer own(long sequence) {
        Answer answer = acquire(sequence);
        assertThat(answer.status()).isEqualTo(Answer.Status.GRANTED);
        return answer;
    }

    /** Acquires a lock that must not be free. */
    public Answer queue(long sequence) {
        Answer answer = acquire(sequence);
        assertThat(answer.status()).isEqualTo(Answer.Status.QUEUED);
        return answer;
    }

    public long release(long sequence) {
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
        return release(sequence, Long.toString(leaseMillis), floor, text(used, Long.toString(leaseMillis)), "");
    }

    /** Gives up a tenure that had something to do with conditions. */
    public long releaseAfter(long sequence, String... operations) {
        return releaseAfter(sequence, 1, operations);
    }

    /** The same if the first of these operations wasn't the first one of that tenure. */
    public long releaseAfter(long sequence, long first, String... operations) {
        return release(sequence, Long.toString(LEASE), 1, "", first, String.join(" ", operations));
    }

    /** Asks how a waiter's place in the queue stands. */
    public Answer polls(Waiting waiter, long sequence) {
        return Answer.of(scripts.run(
                ACQUIRE,
                keys.all(id),
                id,
                sequence + ":" + LEASE + ":" + waiter.number(),
                Long.toString(LEASE),
                "1",
                "-1",
                "1",
                "",
                HEARTBEAT_MILLIS));
    }

    /** Gives up what a waiter has got in the queue, or that has become. */
    public long releaseOf(Waiting waiter, long sequence, String... operations) {
        return release(sequence, LEASE + ":" + waiter.number(), 1, "", 1, String.join(" ", operations));
    }

    private long release(long sequence, String terms, long floor, String used, String operations) {
        return release(sequence, terms, floor, used, 1, operations);
    }

    private long release(long sequence, String terms, long floor, String used, long first, String operations) {
        List<Long> reply = scripts.run(
                RELEASE,
                keys.all(id),
                id,
                Long.toString(sequence),
                terms,
                Long.toString(floor),
                keys.channel(),
                "publish",
                used,
                Long.toString(first),
                operations);
        assertThat(reply).hasSize(1);
        return reply.get(0);
    }

    /** Acquires for reading, beside others that do, what must not be closed to readers. */
    public Answer read(long sequence) {
        Answer answer = request(sequence).reading().send();
        assertThat(answer.status()).isEqualTo(Answer.Status.GRANTED);
        return answer;
    }

    /** Acquires for reading what must be closed to readers. */
    public Answer queueToRead(long sequence) {
        Answer answer = request(sequence).reading().send();
        assertThat(answer.status()).isEqualTo(Answer.Status.QUEUED);
        return answer;
    }

    /** Goes on as a reader. Returns whether it is one. */
    public boolean downgrade(long sequence, String... operations) {
        return downgrade(sequence, LEASE, 1, operations);
    }

    /** The same by another lease, or if the first of these operations wasn't the first one of that tenure. */
    public boolean downgrade(long sequence, long leaseMillis, long first, String... operations) {
        List<Long> reply = scripts.run(
                DOWNGRADE,
                keys.all(id),
                id,
                Long.toString(sequence),
                Long.toString(leaseMillis),
                "1",
                Long.toString(first),
                String.join(" ", operations));
        assertThat(reply).hasSize(2);
        return reply.get(0) == 1;
    }

    /** Takes a lock that is simply free. Returns the token, or 0 if it isn't. */
    public long take(long sequence) {
        return take(sequence, 1);
    }

    long take(long sequence, long floor) {
        sent.add(request(sequence));
        List<Long> reply = scripts.run(
                TAKE,
                List.of(keys.lock(), keys.queue(), keys.token(), keys.conditions(), keys.mark(id)),
                owner(sequence),
                Long.toString(sequence),
                Long.toString(LEASE),
                Long.toString(floor));
        assertThat(reply).hasSize(1);
        return reply.get(0);
    }

    /** Releases a lock that nobody waits for. Returns whether it was that. */
    public boolean drop(long sequence) {
        List<Long> reply = scripts.run(
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

    public Renewed renew(long sequence) {
        List<Long> reply = scripts.run(
                RENEW,
                List.of(keys.lock(), keys.queue(), keys.waiters(), keys.readers()),
                id,
                Long.toString(sequence),
                Long.toString(LEASE),
                keys.channel(),
                "publish");
        assertThat(reply).hasSize(4);
        return new Renewed(reply.get(0) == 1, reply.get(1), reply.get(2), reply.get(3));
    }

    /** Says that it waits for this lock as often as there are tickets. Returns the answers for each of these. */
    List<Long> heartbeat(String... tickets) {
        List<String> ofOne = List.of(keys.lock(), keys.queue(), keys.waiters(), keys.mark(id));
        List<String> on = Stream.of(tickets).flatMap(ticket -> ofOne.stream()).toList();
        List<Long> reply = scripts.run(HEARTBEAT, on, id, String.join(" ", tickets), HEARTBEAT_MILLIS);
        assertThat(reply).hasSize(tickets.length + 1);
        return reply.subList(1, reply.size());
    }

    public boolean inspect() {
        List<Long> reply = scripts.run(INSPECT, List.of(keys.lock()));
        assertThat(reply).hasSize(1);
        return reply.get(0) == 1;
    }

    public Waiting waiter(String condition, long position, long number) {
        Waiting waiter = new Waiting(this, condition, position, number);
        waiting.add(waiter);
        return waiter;
    }

    /** A waiter for which a session has sent its registration, as most tests need one. */
    public Waiting waits(String condition, long position) {
        return waits(condition, position, 2_000);
    }

    /** The same by another number; it was registered by a tenure whose sequence is a thousand less. */
    public Waiting waits(String condition, long position, long number) {
        return waiter(condition, position, number).begin(number - 1_000);
    }

    /** Has waiters of a fair lock wait, by one tenure. */
    public void beginAll(Waiting... waiters) {
        own(1_000);
        String[] operations = Stream.of(waiters).map(Waiting::fair).toArray(String[]::new);
        assertThat(releaseAfter(1_000, operations)).isEqualTo(TENURE);
    }

    /** Waiters of a fair lock in the order of their positions, which wait by one tenure. */
    public List<Waiting> waitTogether(String... conditions) {
        List<Waiting> waiters = new ArrayList<>();
        for (int i = 1; i <= conditions.length; i++) {
            waiters.add(waiter(conditions[i - 1], 10L * i, 1_000 + 1_000L * i));
        }
        beginAll(waiters.toArray(Waiting[]::new));
        return waiters;
    }

    /** Signals by the release of a tenure that does nothing else. */
    public void signals(String... operations) {
        own(1_000);
        assertThat(releaseAfter(1_000, operations)).isEqualTo(TENURE);
    }

    /** Signals ahead of the release of a tenure, which goes on. */
    public void signalsAhead(String... operations) {
        own(1_000);
        assertThat(signal(1_000, 1, "", operations).owned()).isTrue();
    }

    /** The reply to signals sent ahead. */
    public record Signalled(boolean owned, boolean othersQueue, boolean conditions, long count) {}

    public Signalled signal(long sequence, long first, String condition, String... operations) {
        List<Long> reply = scripts.run(
                SIGNAL,
                List.of(keys.lock(), keys.queue(), keys.waiters(), keys.conditions(), keys.signals(), mark()),
                id,
                Long.toString(sequence),
                Long.toString(first),
                String.join(" ", operations),
                condition,
                "0");
        assertThat(reply).hasSize(4);
        return new Signalled(reply.get(0) == 1, reply.get(1) == 1, reply.get(2) == 1, reply.get(3));
    }

    /** How a waiter stands, in the numbers of the reply. */
    public enum State {
        SIGNALLED,
        WAITING,
        LEFT
    }

    public record Stand(State state, long sequence) {}

    public Stand asks(Waiting waiter) {
        return await(List.of(waiter), List.of(), List.of(), false).get(0);
    }

    public Stand leaves(Waiting waiter) {
        return await(List.of(), List.of(waiter), List.of(), false).get(0);
    }

    void abandons(Waiting... waiters) {
        assertThat(await(List.of(), List.of(), List.of(waiters), false)).isEmpty();
    }

    void losesASignal() {
        assertThat(await(List.of(), List.of(), List.of(), true)).isEmpty();
    }

    /** Asks how waiters stand. The answers come in the order of those who leave, then of those asked for. */
    List<Stand> await(List<Waiting> asked, List<Waiting> leaving, List<Waiting> gone, boolean isSignalLost) {
        List<Long> reply = scripts.run(
                AWAIT, keys.all(id), id, "1", texts(asked), texts(leaving), texts(gone), isSignalLost ? "1" : "0");
        assertThat(reply.get(0)).isGreaterThan(1_000_000_000_000_000L);
        List<Waiting> answered = Stream.concat(leaving.stream(), asked.stream()).toList();
        assertThat(reply).hasSize(1 + 3 * answered.size());
        List<Stand> stands = new ArrayList<>();
        for (int i = 0; i < answered.size(); i++) {
            assertThat(reply.get(1 + 3 * i)).isEqualTo(answered.get(i).number());
            State state = State.values()[Math.toIntExact(reply.get(2 + 3 * i))];
            stands.add(new Stand(state, reply.get(3 + 3 * i)));
        }
        return stands;
    }

    private static String texts(List<Waiting> waiters) {
        return waiters.stream().map(Waiting::text).collect(Collectors.joining(" "));
    }

    /** Has nobody wait for a condition any more. */
    void abandonAll() {
        if (!waiting.isEmpty()) {
            abandons(waiting.toArray(Waiting[]::new));
        }
    }

    /** Gives up what its waiters have got. Returns whether there was anything. */
    boolean releaseTickets() {
        if (waiting.isEmpty()) {
            return false;
        }
        boolean isAny = false;
        for (String element : elements("ZRANGE", keys.queue(), "0", "-1")) {
            String[] parts = element.split(":", 3);
            if (parts[0].equals(id)) {
                isAny = true;
                assertThat(release(Long.parseLong(parts[1]), parts[2], 1, "", ""))
                        .isEqualTo(TICKET);
            }
        }
        for (String owner : elements("HKEYS", keys.lock())) {
            if (owner.startsWith(id + ":")) {
                isAny = true;
                release(Long.parseLong(owner.substring(id.length() + 1)));
            }
        }
        return isAny;
    }

    private List<String> elements(String... command) {
        return server.command(command) instanceof List<?> reply
                ? reply.stream().map(String::valueOf).toList()
                : List.of();
    }

    /** Leaves no request unfinished. */
    void releaseAll() {
        for (Request request : sent) {
            for (long sequence : request.sequences()) {
                release(request, sequence);
            }
        }
    }

    /** What stands in the lock's hash if this one owns it. */
    public String owner(long sequence) {
        return id + ":" + sequence;
    }

    /** What stands in the queue if this one waits. */
    public String ticket(long sequence) {
        return owner(sequence) + ":" + LEASE;
    }

    /** The same if it waits to read. */
    public String readingTicket(long sequence) {
        return ticket(sequence) + ":r";
    }

    public String mark() {
        return keys.mark(id);
    }

    public String mailbox() {
        return LockKeys.mailbox(id);
    }

    @Override
    public String toString() {
        return id;
    }
}
