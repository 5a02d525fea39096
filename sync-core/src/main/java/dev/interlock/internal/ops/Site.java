package dev.interlock.internal.ops;

import dev.interlock.internal.Presence;
import dev.interlock.internal.Stake;
import dev.interlock.internal.Stake.Hold;
import dev.interlock.internal.Stake.Wait;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.NameView.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A name that operators ask for.
 *
 * @param name the name, without namespace
 * @param kind what it is the name of, with {@link #LOCK} for all locks of the same key
 */
record Site(String name, String kind) implements Comparable<Site> {
    static final String LOCK = "lock";
    static final String READ_WRITE = "read-write lock";

    /** What has the key of a lock, and excludes that. */
    private static final Set<String> LIKE_LOCKS = Set.of("fair lock", "hold");

    private static final Answer SILENT = new Answer(Presence.UNKNOWN, "", Stake.UNKNOWN, List.of());
    private static final Comparator<Site> ORDER =
            Comparator.comparing(Site::name).thenComparing(Site::kind);

    /** A waiter and its place in the order. */
    private record Placed(int rank, Waiter waiter) {}

    static Site of(Stake stake) {
        return new Site(stake.name(), LIKE_LOCKS.contains(stake.kind()) ? LOCK : stake.kind());
    }

    @Override
    public int compareTo(Site other) {
        return ORDER.compare(this, other);
    }

    /** Returns whether Redis knows its holders and waiters. */
    boolean isLock() {
        return kind.equals(LOCK) || kind.equals(READ_WRITE);
    }

    /** Returns the keys of its owners and of its queue. It is a lock. */
    List<Object> keys(RedisSession session) {
        String key = session.key(name);
        String owners = kind.equals(READ_WRITE) ? Keys.prefix(key) + "rw" : key;
        return List.of(owners, Keys.of("queue", owners));
    }

    /**
     * Returns its holders and waiters.
     *
     * @param answers those of all sessions
     * @param stakes what sessions have told of it
     * @param owners what Redis has of its owners
     * @param tickets what Redis has in its queue
     */
    NameView view(Map<String, Answer> answers, Map<String, Stake> stakes, List<String> owners, List<String> tickets) {
        String seen = stakes.values().stream().map(Stake::kind).findFirst().orElse(kind);
        Set<String> ids = new LinkedHashSet<>();
        owners.forEach(owner -> ids.add(sessionOf(owner)));
        return new NameView(name, seen, holders(answers, ids, stakes), waiters(answers, ids, stakes, tickets));
    }

    private static List<Holder> holders(Map<String, Answer> answers, Set<String> owners, Map<String, Stake> stakes) {
        List<Holder> holders = new ArrayList<>();
        Set<String> silent = new LinkedHashSet<>(owners);
        stakes.forEach((id, stake) -> stake.holds().forEach(hold -> {
            holders.add(holder(id, answer(answers, id), hold));
            silent.remove(id);
        }));
        for (String owner : silent) {
            Answer answer = answer(answers, owner);
            State state = answer.isSilent() ? State.SILENT : State.LEAVING;
            holders.add(new Holder(owner, answer.name(), state, null, false, 0, 0, 0, null));
        }
        return holders;
    }

    /** Returns the answer of a session; that it is silent, if it isn't connected. */
    private static Answer answer(Map<String, Answer> answers, String id) {
        return answers.getOrDefault(id, SILENT);
    }

    private static Holder holder(String id, Answer answer, Hold hold) {
        String thread = hold.thread().isEmpty() ? null : hold.thread();
        return new Holder(
                id,
                answer.name(),
                State.valueOf(hold.state()),
                thread,
                hold.reads(),
                hold.reads() ? hold.permits() : 0,
                hold.reads() ? 0 : hold.permits(),
                hold.token(),
                age(hold.ageMillis()));
    }

    private static List<Waiter> waiters(
            Map<String, Answer> answers, Set<String> owners, Map<String, Stake> stakes, List<String> tickets) {
        Map<String, Integer> places = new LinkedHashMap<>();
        for (String ticket : tickets) {
            places.putIfAbsent(requestOf(ticket), places.size());
        }
        List<Placed> placed = new ArrayList<>();
        stakes.forEach((id, stake) -> {
            for (Wait wait : stake.waits()) {
                // Threads that wait for another one of the session that owns it come first.
                int elsewhere = owners.contains(id) ? -1 : places.size();
                int rank = places.getOrDefault(id + ":" + wait.place(), elsewhere);
                boolean isForCondition = !wait.condition().isEmpty();
                placed.add(
                        new Placed(isForCondition ? places.size() + 1 : rank, waiter(id, answer(answers, id), wait)));
            }
        });
        places.forEach((request, rank) -> {
            String id = sessionOf(request);
            Answer answer = answer(answers, id);
            if (answer.isSilent() && !stakes.containsKey(id)) {
                placed.add(new Placed(rank, new Waiter(id, answer.name(), null, null, null)));
            }
        });
        return placed.stream()
                .sorted(Comparator.comparingInt(Placed::rank))
                .map(Placed::waiter)
                .toList();
    }

    private static Waiter waiter(String id, Answer answer, Wait wait) {
        String condition = wait.condition().isEmpty() ? null : Stake.text(wait.condition());
        return new Waiter(id, answer.name(), wait.thread(), condition, age(wait.ageMillis()));
    }

    private static @Nullable Duration age(long millis) {
        return millis == Stake.UNKNOWN ? null : Duration.ofMillis(millis);
    }

    // Owners are `<session>:<sequence>`, tickets `<session>:<sequence>:<lease>…`; ids contain no colon. What strangers
    // have written has maybe none at all.
    private static String sessionOf(String text) {
        int end = text.indexOf(':');
        return end < 0 ? text : text.substring(0, end);
    }

    private static String requestOf(String ticket) {
        int end = ticket.indexOf(':', ticket.indexOf(':') + 1);
        return end < 0 ? ticket : ticket.substring(0, end);
    }
}
