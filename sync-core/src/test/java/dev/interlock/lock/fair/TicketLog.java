package dev.interlock.lock.fair;

import static org.assertj.core.api.Assertions.fail;

import dev.interlock.internal.redis.RedisMonitor.Command;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a fair lock as Redis has seen it: in which order tickets came, and in which they were served. Asserts
 * all along that a ticket is granted at most once, and never while one that came before it still stands.
 */
final class TicketLog {

    /**
     * An interval in which a session owned the name.
     *
     * @param token the remote part of its fencing token
     * @param served the tickets that were served meanwhile, by their place in the order of arrival
     */
    record Tenure(String session, long token, List<Integer> served) {}

    private static final int ACQUIRE_ARGUMENTS = 7;
    private static final int EARLIER = 4;

    private final String lock;
    private final String queue;
    private final String token;

    /** Tickets in the order of arrival, with their place in it. */
    private final Map<String, Integer> standing = new LinkedHashMap<>();

    private final Set<String> known = new HashSet<>();
    private final List<String> cancelled = new ArrayList<>();
    private final List<String> dropped = new ArrayList<>();
    private final List<Tenure> tenures = new ArrayList<>();
    private int arrived;

    TicketLog(String name) {
        this.lock = name;
        this.queue = "interlock:{" + name + "}:queue";
        this.token = "interlock:{" + name + "}:token";
    }

    /** The tenures so far, in their order. */
    List<Tenure> tenures() {
        return tenures;
    }

    /** How many tickets have come so far, those included that were granted at once. */
    int arrived() {
        return arrived;
    }

    /** Tickets that were given up before they were granted. */
    List<String> cancelled() {
        return cancelled;
    }

    /** Tickets that were passed over because their session was taken to be dead. */
    List<String> dropped() {
        return dropped;
    }

    /**
     * Asserts that threads were served in the order in which their tickets came. A ticket that was granted when its
     * thread had just left counts as given up: it may be any of a tenure that has served less threads than tickets.
     *
     * @param entries how many threads have entered on each tenure, -1 if unknown
     */
    void assertServedInOrder(List<Integer> entries) {
        int last = 0;
        for (int i = 0; i < tenures.size(); i++) {
            Tenure tenure = tenures.get(i);
            int before = last;
            List<Integer> later = tenure.served().stream()
                    .filter(place -> place > before)
                    .sorted()
                    .toList();
            int count = entries.get(i);
            if (count > later.size()) {
                fail(
                        "%d threads entered by tickets before %d in %s, after %s",
                        count, last, tenure, tenures.get(i - 1));
            }
            last = count > 0 ? later.get(count - 1) : last;
        }
    }

    /** Takes the next command into account. */
    void add(Command command) {
        if (command.isScriptOn(lock)) {
            addScript(command);
        }
    }

    private void addScript(Command command) {
        String popped = null;
        boolean granted = false;
        for (List<String> words : command.inside()) {
            if (granted && words.get(0).equals("set") && words.get(1).equals(token)) {
                draw(Long.parseLong(words.get(2)));
            }
            boolean ofQueue = words.size() > 1 && words.get(1).equals(queue);
            switch (words.get(0)) {
                case "zadd" -> {
                    for (int i = 3; ofQueue && i < words.size(); i += 2) {
                        arrive(words.get(i));
                    }
                }
                case "zpopmin" -> {
                    for (int i = words.size() > 2 ? Integer.parseInt(words.get(2)) : 1; i > 0; i--) {
                        drop(popped);
                        popped = standing.keySet().stream().findFirst().orElse(null);
                    }
                }
                case "zrem" -> {
                    for (int i = 2; ofQueue && i < words.size(); i++) {
                        remove(words.get(i), command);
                    }
                }
                case "hset" -> {
                    if (words.get(1).equals(lock)) {
                        grant(words.get(2), popped, command);
                        popped = null;
                        granted = true;
                    }
                }
                default -> {}
            }
        }
        drop(popped);
    }

    private void arrive(String ticket) {
        if (!known.add(ownerOf(ticket))) {
            fail("%s came twice", ticket);
        }
        standing.put(ticket, ++arrived);
    }

    private void drop(@Nullable String ticket) {
        if (ticket != null) {
            standing.remove(ticket);
            dropped.add(ticket);
        }
    }

    private void remove(String ticket, Command command) {
        Integer place = standing.remove(ticket);
        if (place == null) {
            return;
        }
        List<String> arguments = command.arguments();
        boolean isCancel = ticket.equals(String.join(":", arguments.subList(0, 3)));
        if (isCancel) {
            cancelled.add(ticket);
            return;
        }
        Tenure tenure = tenures.isEmpty() ? null : tenures.get(tenures.size() - 1);
        if (tenure == null || !tenure.session().equals(sessionOf(ticket))) {
            fail("%s was served on the tenure of %s", ticket, tenure);
        } else {
            tenure.served().add(place);
        }
    }

    private void grant(String owner, @Nullable String popped, Command command) {
        List<Integer> served = new ArrayList<>();
        if (popped != null) {
            if (!ownerOf(popped).equals(owner)) {
                fail("%s was granted, but %s came first", owner, popped);
            }
            served.add(standing.remove(popped));
        } else if (!isContinued(command)) {
            if (!known.add(owner)) {
                fail("%s was granted twice", owner);
            }
            if (!standing.isEmpty()) {
                fail("%s was granted past %s", owner, standing);
            }
            served.add(++arrived);
        }
        tenures.add(new Tenure(sessionOf(owner), 0, served));
    }

    private void draw(long drawn) {
        int last = tenures.size() - 1;
        Tenure tenure = tenures.get(last);
        tenures.set(last, new Tenure(tenure.session(), drawn, tenure.served()));
    }

    private static boolean isContinued(Command command) {
        List<String> arguments = command.arguments();
        return arguments.size() == ACQUIRE_ARGUMENTS
                && Stream.of(arguments.get(EARLIER)).anyMatch(earlier -> earlier.matches("[1-9]\\d*"));
    }

    private static String ownerOf(String ticket) {
        return ticket.substring(0, ticket.lastIndexOf(':'));
    }

    private static String sessionOf(String ticket) {
        return ticket.substring(0, ticket.indexOf(':'));
    }
}
