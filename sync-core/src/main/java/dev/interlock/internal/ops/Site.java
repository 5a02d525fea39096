package dev.interlock.internal.ops;

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
import java.util.HashSet;
import java.util.LinkedHashMap;
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

    private static final String FAIR = "fair lock";
    private static final Comparator<Site> ORDER =
            Comparator.comparing(Site::name).thenComparing(Site::kind);

    /** A waiter and its place in the order. */
    private record Placed(int rank, Waiter waiter) {}

    static Site of(Stake stake) {
        return new Site(stake.name(), stake.kind().equals(FAIR) ? LOCK : stake.kind());
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
     * @param answers what sessions have said, null for those that are silent
     * @param owners what Redis has of its owners
     * @param tickets what Redis has in its queue
     */
    NameView view(Map<String, @Nullable Answer> answers, List<String> owners, List<String> tickets) {
        Map<String, Stake> stakes = new LinkedHashMap<>();
        answers.forEach((id, answer) -> {
            if (answer != null) {
                answer.stakes().stream()
                        .filter(stake -> of(stake).equals(this))
                        .forEach(stake -> stakes.put(id, stake));
            }
        });
        String seen = stakes.values().stream().map(Stake::kind).findFirst().orElse(kind);
        Set<String> ids = new HashSet<>();
        owners.forEach(owner -> ids.add(sessionOf(owner)));
        return new NameView(name, seen, holders(answers, ids, stakes), waiters(answers, ids, stakes, tickets));
    }

    private static List<Holder> holders(
            Map<String, @Nullable Answer> answers, Set<String> owners, Map<String, Stake> stakes) {
        List<Holder> holders = new ArrayList<>();
        stakes.forEach((id, stake) -> stake.holds().forEach(hold -> holders.add(holder(id, answers.get(id), hold))));
        for (String owner : owners) {
            if (holders.stream().noneMatch(holder -> holder.session().equals(owner))) {
                Answer answer = answers.get(owner);
                State state = answer == null ? State.SILENT : State.LEAVING;
                holders.add(new Holder(owner, Answer.nameIn(answer), state, null, false, 0, 0, 0, null));
            }
        }
        return holders;
    }

    private static Holder holder(String id, @Nullable Answer answer, Hold hold) {
        String thread = hold.thread().isEmpty() ? null : hold.thread();
        return new Holder(
                id,
                Answer.nameIn(answer),
                State.valueOf(hold.state()),
                thread,
                hold.reads(),
                hold.reads() ? hold.permits() : 0,
                hold.reads() ? 0 : hold.permits(),
                hold.token(),
                age(hold.ageMillis()));
    }

    private static List<Waiter> waiters(
            Map<String, @Nullable Answer> answers,
            Set<String> owners,
            Map<String, Stake> stakes,
            List<String> tickets) {
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
                placed.add(new Placed(isForCondition ? places.size() + 1 : rank, waiter(id, answers.get(id), wait)));
            }
        });
        places.forEach((request, rank) -> {
            String id = sessionOf(request);
            if (answers.get(id) == null) {
                placed.add(new Placed(rank, new Waiter(id, null, null, null, null)));
            }
        });
        return placed.stream()
                .sorted(Comparator.comparingInt(Placed::rank))
                .map(Placed::waiter)
                .toList();
    }

    private static Waiter waiter(String id, @Nullable Answer answer, Wait wait) {
        String condition = wait.condition().isEmpty() ? null : Stake.text(wait.condition());
        return new Waiter(id, Answer.nameIn(answer), wait.thread(), condition, age(wait.ageMillis()));
    }

    private static @Nullable Duration age(long millis) {
        return millis == Stake.UNKNOWN ? null : Duration.ofMillis(millis);
    }

    // Owners are `<session>:<sequence>`, tickets `<session>:<sequence>:<lease>…`; ids contain no colon.
    private static String sessionOf(String text) {
        return text.substring(0, text.indexOf(':'));
    }

    private static String requestOf(String ticket) {
        return ticket.substring(0, ticket.indexOf(':', ticket.indexOf(':') + 1));
    }
}
