package dev.interlock.simulation;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Calls of the scripts of a lock: it is owned and shared, queued for, and its conditions are waited for. */
final class LockCalls implements RandomCalls {
    private static final int SESSIONS = 3;
    private static final List<String> CONDITIONS = List.of("a", "b");
    private static final List<Long> LEASES = List.of(2_000L, 30_000L);
    private static final List<Long> HEARTBEATS = List.of(3_000L, 6_000L);
    private static final int MEMORY = 8;

    /** Of a session or a reader, with the operations that are done or the sequence. */
    private static final Pattern OWNER = Pattern.compile("(interlock-\\d):(\\d+|r)=(\\d+)");

    /** Of a waiter. */
    private static final Pattern TICKET = Pattern.compile("(interlock-\\d):(\\d+:\\d+:-?\\d+)=");

    private static final Script TAKE = Script.load("lock/take");
    private static final Script DROP = Script.load("lock/drop");
    private static final Script ACQUIRE = Script.load("lock/acquire");
    private static final Script AWAIT = Script.load("lock/await");
    private static final Script RELEASE = Script.load("lock/release");
    private static final Script RENEW = Script.load("lock/renew");
    private static final Script PROLONG = Script.load("lock/prolong");
    private static final Script SIGNAL = Script.load("lock/signal");
    private static final Script DOWNGRADE = Script.load("lock/downgrade");
    private static final Script INSPECT = Script.load("lock/inspect");
    private static final Script WHO = Script.load("lock/who");
    private static final Script ANSWER = Script.load("lock/answer");
    private static final Script HEARTBEAT = Script.load("lock/heartbeat");

    private final Random random;
    private final String key;
    private final String verb;
    private final String channel;
    private final List<Session> sessions = new ArrayList<>();
    private final List<Session> owners = new ArrayList<>();

    /** A session, with the requests and waiters that it has had. */
    private static final class Session {
        final String id;
        final List<String> tickets = new ArrayList<>();
        final List<String> waiters = new ArrayList<>();
        long last;
        long tenure;
        long operations = 1;

        Session(String id) {
            this.id = id;
        }
    }

    LockCalls(Random random, String key, String verb) {
        this.random = random;
        this.key = key;
        this.verb = verb;
        this.channel = "redisson_lock__channel:{" + key + "}";
        for (int i = 1; i <= SESSIONS; i++) {
            sessions.add(new Session("interlock-" + i));
        }
    }

    private <T> T any(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private boolean rarely() {
        return random.nextInt(6) == 0;
    }

    private List<Object> keys(Session session, String... kinds) {
        List<Object> keys = new ArrayList<>();
        keys.add(key);
        for (String kind : kinds) {
            keys.add(Keys.of(kind.equals("mark") ? "mark:" + session.id : kind, key));
        }
        return keys;
    }

    private List<Object> allKeys(Session session) {
        return keys(session, "queue", "waiters", "token", "turns", "mark", "conditions", "signals", "readers");
    }

    @Override
    public Script.Call next() {
        Session session = any(sessions);
        int choice = random.nextInt(20);
        if (choice < 9) {
            return choice < 2
                    ? take(session)
                    : choice < 7 ? acquire(session) : choice < 8 ? poll(session) : heartbeat(session);
        } else if (choice < 11) {
            return random.nextInt(4) == 0 ? looking(session) : rarely() ? answer(session) : await(session);
        }
        // The rest is for owners, most of the time.
        Session owner = owners.isEmpty() || rarely() ? session : any(owners);
        return switch (choice) {
            case 11 -> drop(owner);
            case 12 -> random.nextInt(3) == 0 ? prolong(owner) : renew(owner);
            case 13 -> downgrade(owner);
            case 14, 15, 16 -> signal(owner);
            default -> release(owner);
        };
    }

    private Script.Call looking(Session session) {
        return random.nextBoolean() ? INSPECT.on(keys(session)) : WHO.on(keys(session, "queue"));
    }

    private Script.Call answer(Session session) {
        return ANSWER.on(keys(session), any(sessions).id, session.last, random.nextInt(2));
    }

    private Script.Call renew(Session session) {
        List<Object> keys = keys(session, "queue", "waiters", "readers");
        return RENEW.on(keys, session.id, owned(session), any(LEASES), channel, verb);
    }

    private Script.Call prolong(Session session) {
        return PROLONG.on(List.of(key), session.id, owned(session), any(LEASES));
    }

    private Script.Call downgrade(Session session) {
        return DOWNGRADE.on(
                allKeys(session),
                session.id,
                owned(session),
                any(LEASES),
                floor(),
                session.operations,
                operations(session));
    }

    /** The sequence of its tenure, or of any other request of it. */
    private long owned(Session session) {
        return session.tenure == 0 || rarely() ? Math.max(1, session.last - random.nextInt(4)) : session.tenure;
    }

    private long newSequence(Session session) {
        session.last += 1 + random.nextInt(2);
        return session.last;
    }

    private long floor() {
        return random.nextInt(20) == 0 ? 300_000_000_000_000L : 1;
    }

    private Script.Call take(Session session) {
        long sequence = rarely() ? owned(session) : newSequence(session);
        return TAKE.on(
                keys(session, "queue", "token", "conditions", "mark"),
                session.id + ":" + sequence,
                sequence,
                any(LEASES),
                floor());
    }

    private Script.Call drop(Session session) {
        long sequence = owned(session);
        return DROP.on(
                keys(session, "queue", "conditions", "mark"),
                session.id + ":" + sequence,
                sequence,
                any(LEASES),
                channel,
                verb);
    }

    private Script.Call acquire(Session session) {
        List<String> tickets = new ArrayList<>();
        if (rarely() && !session.tickets.isEmpty()) {
            tickets.add(any(session.tickets));
        } else {
            String terms = any(LEASES) + (random.nextInt(3) == 0 ? ":r" : "");
            for (int i = random.nextInt(3); i >= 0; i--) {
                tickets.add(newSequence(session) + ":" + terms);
            }
        }
        session.tickets.addAll(tickets);
        return acquire(session, String.join(" ", tickets), rarely() ? any(session.tickets) : "");
    }

    private Script.Call acquire(Session session, String tickets, String used) {
        Object earlier = switch (random.nextInt(4)) {
            case 0 -> -1;
            case 1 -> owned(session);
            default -> 0;
        };
        int enqueue = rarely() ? 0 : 1;
        return ACQUIRE.on(
                allKeys(session), session.id, tickets, any(LEASES), enqueue, earlier, floor(), used, any(HEARTBEATS));
    }

    /** Asks anew about requests, some of them those of waiters. */
    private Script.Call poll(Session session) {
        if (session.tickets.isEmpty()) {
            return acquire(session);
        }
        List<String> last = session.tickets.subList(Math.max(0, session.tickets.size() - 3), session.tickets.size());
        return acquire(session, String.join(" ", last), "");
    }

    /** Says that some requests wait, for which the name is as good as many. */
    private Script.Call heartbeat(Session session) {
        if (session.tickets.isEmpty()) {
            return acquire(session);
        }
        List<Object> keys = new ArrayList<>();
        List<String> tickets = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            keys.addAll(keys(session, "queue", "waiters", "mark"));
            tickets.add(any(session.tickets));
        }
        return HEARTBEAT.on(keys, session.id, String.join(" ", tickets), any(HEARTBEATS));
    }

    private Script.Call release(Session session) {
        String ticket = session.tickets.isEmpty() || random.nextBoolean()
                ? owned(session) + ":" + any(LEASES)
                : any(session.tickets);
        int colon = ticket.indexOf(':');
        String used = rarely() && !session.tickets.isEmpty() ? any(session.tickets) : "";
        String operations = random.nextBoolean() ? "" : rarely() ? "*" : operations(session);
        return RELEASE.on(
                allKeys(session),
                session.id,
                ticket.substring(0, colon),
                ticket.substring(colon + 1),
                floor(),
                channel,
                verb,
                used,
                rarely() ? 1 : session.operations,
                operations);
    }

    private Script.Call signal(Session session) {
        return SIGNAL.on(
                keys(session, "queue", "waiters", "conditions", "signals", "mark"),
                session.id,
                owned(session),
                session.operations,
                operations(session),
                any(CONDITIONS),
                random.nextInt(2));
    }

    /** Up to three operations; each wait is one of a new waiter. */
    private String operations(Session session) {
        List<String> operations = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            operations.add(
                    switch (random.nextInt(8)) {
                        case 0, 1 -> "s" + any(CONDITIONS);
                        case 2 -> "a" + any(CONDITIONS);
                        case 3 -> "f" + newWaiter(session);
                        default -> "w" + newWaiter(session);
                    });
        }
        return String.join(" ", operations);
    }

    private String newWaiter(Session session) {
        long number = newSequence(session);
        String waiter = String.format("%s:%025d:%d:%d", any(CONDITIONS), number, number, any(LEASES));
        session.waiters.add(waiter);
        return waiter;
    }

    private Script.Call await(Session session) {
        return AWAIT.on(
                allKeys(session),
                session.id,
                floor(),
                waiters(session),
                waiters(session),
                waiters(session),
                rarely() ? 1 : 0);
    }

    private String waiters(Session session) {
        return session.waiters.isEmpty() || random.nextBoolean()
                ? ""
                : any(session.waiters) + (random.nextBoolean() ? "" : " " + any(session.waiters));
    }

    @Override
    public void heard(Outcome outcome) {
        owners.clear();
        String start = Bytes.printable(Bytes.of(key)) + " hash ";
        outcome.data().lines().filter(line -> line.startsWith(start)).forEach(this::noteOwners);
        Matcher ticket = TICKET.matcher(outcome.data());
        while (ticket.find()) {
            Session session = session(ticket.group(1));
            if (!session.tickets.contains(ticket.group(2))) {
                session.tickets.add(ticket.group(2));
            }
        }
        for (Session session : sessions) {
            while (session.tickets.size() > MEMORY) {
                session.tickets.remove(0);
            }
        }
    }

    private void noteOwners(String lock) {
        Matcher owner = OWNER.matcher(lock);
        while (owner.find()) {
            Session session = session(owner.group(1));
            session.tenure = Long.parseLong(owner.group(2).equals("r") ? owner.group(3) : owner.group(2));
            session.operations = owner.group(2).equals("r") ? 1 : Long.parseLong(owner.group(3));
            owners.add(session);
        }
    }

    private Session session(String id) {
        return sessions.get(id.charAt(id.length() - 1) - '1');
    }
}
