package dev.interlock.cli;

import dev.interlock.ops.Deadlock;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.NameView.Waiter;
import dev.interlock.ops.SessionView;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What was seen, for people. */
final class Text {
    private static final String UNKNOWN = "-";
    private static final String SILENT =
            "It can't be told of a loss. Its lease ends by itself: a session that stands still"
                    + " or can't reach Redis doesn't renew it.";
    private static final String UNCONNECTED =
            "It can't be told of a loss. Its lease ends by itself, unless a plain RLock"
                    + " client is alive and renews it: stop that client.";
    private static final String NEW_LINE = System.lineSeparator();

    private Text() {}

    /** Returns text without what could act on a terminal, end a line, or turn it around. */
    static String plain(String text) {
        StringBuilder plain = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (Character.getType(c)) {
                case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                    plain.append(String.format("\\u%04x", (int) c));
                default -> plain.append(c);
            }
        }
        return plain.toString();
    }

    /** Returns a duration in the two largest of its units. */
    static String age(@Nullable Duration age) {
        if (age == null) {
            return UNKNOWN;
        }
        if (age.toDays() > 0) {
            return age.toDays() + " d " + age.toHoursPart() + " h";
        }
        if (age.toHours() > 0) {
            return age.toHours() + " h " + age.toMinutesPart() + " min";
        }
        return age.toMinutes() > 0 ? age.toMinutes() + " min " + age.toSecondsPart() + " s" : age.toSeconds() + " s";
    }

    static String names(Snapshot seen) {
        if (seen.names().isEmpty()) {
            return "No names.";
        }
        Table table = new Table("NAME", "KIND", "STATE", "HOLDER", "WAITERS");
        for (NameView name : seen.names()) {
            String waiters = String.valueOf(name.waiters().size());
            table.row(plain(name.name()), name.kind(), Contention.state(name), holder(seen, name), waiters);
        }
        return table.toString();
    }

    static String top(Snapshot seen, int rows) {
        int waiting =
                seen.names().stream().mapToInt(name -> name.waiters().size()).sum();
        String head = String.format(
                "%s  %d sessions (%d silent), %d names, %d waiting",
                seen.at().truncatedTo(ChronoUnit.SECONDS),
                seen.sessions().size(),
                seen.silent().size(),
                seen.names().size(),
                waiting);
        Table table = new Table("WAITERS", "HELD FOR", "NAME", "KIND", "STATE", "HOLDER");
        Contention.sorted(seen.names()).stream()
                .limit(rows)
                .forEach(name -> table.row(
                        String.valueOf(name.waiters().size()),
                        age(Contention.age(name).orElse(null)),
                        plain(name.name()),
                        name.kind(),
                        Contention.state(name),
                        holder(seen, name)));
        return String.join(NEW_LINE, head, "", table.toString(), "");
    }

    static String sessions(Snapshot seen) {
        if (seen.sessions().isEmpty()) {
            return "No sessions.";
        }
        Table table = new Table("SESSION", "NAME", "HOST", "PID", "OPEN FOR");
        for (SessionView session : seen.sessions().values()) {
            String host = session.host();
            if (host == null) {
                table.row(plain(session.id()), UNKNOWN, "silent", UNKNOWN, UNKNOWN);
            } else {
                String name = session.name() == null ? UNKNOWN : plain(session.name());
                table.row(plain(session.id()), name, plain(host), String.valueOf(session.pid()), age(session.age()));
            }
        }
        return table.toString();
    }

    static String silent(Snapshot seen) {
        return seen.silent().stream()
                .map(session -> plain(session.id()))
                .collect(Collectors.joining(", ", "Silent, so that not all may be shown that they have: ", ""));
    }

    static String deadlocks(List<Deadlock> deadlocks) {
        return deadlocks.isEmpty()
                ? "No deadlocks."
                : deadlocks.stream()
                        .map(deadlock -> deadlock.steps().stream()
                                .map(step -> "  " + plain(step.toString()))
                                .collect(Collectors.joining(NEW_LINE, "Deadlock:" + NEW_LINE, "")))
                        .collect(Collectors.joining(NEW_LINE));
    }

    static String released(String name, long token) {
        return plain(name) + ": released; the thread of token " + token + " has lost it";
    }

    static String notReleased(String name, long token, Snapshot seen) {
        if (seen.isFree()) {
            return plain(name) + ": free";
        }
        List<String> lines = new ArrayList<>();
        lines.add(plain(name) + ": not released, since no thread is known to be inside with token " + token);
        seen.names().stream()
                .flatMap(view -> view.holders().stream())
                .filter(holder -> holder.state() == State.SILENT)
                .map(Holder::session)
                .forEach(owner -> {
                    lines.add("  owned by " + session(seen, owner));
                    lines.add("    " + (seen.sessions().containsKey(owner) ? SILENT : UNCONNECTED));
                });
        return String.join(NEW_LINE, lines);
    }

    static String who(String asked, Snapshot seen) {
        if (seen.names().isEmpty()) {
            return plain(asked) + ": free";
        }
        return seen.names().stream().map(name -> who(seen, name)).collect(Collectors.joining(NEW_LINE));
    }

    private static String who(Snapshot seen, NameView name) {
        List<String> lines = new ArrayList<>();
        lines.add(plain(name.name()) + ": " + name.kind() + ", " + Contention.state(name));
        for (Holder holder : name.holders()) {
            lines.add("  " + verb(holder) + " " + thread(holder.thread()) + session(seen, holder.session()));
            String details = details(holder);
            if (!details.isEmpty()) {
                lines.add("    " + details);
            }
        }
        if (!name.waiters().isEmpty()) {
            lines.add("  waiting:");
        }
        int place = 1;
        for (Waiter waiter : name.waiters()) {
            String condition = waiter.condition();
            lines.add("    " + place++ + ". " + thread(waiter.thread()) + session(seen, waiter.session())
                    + (waiter.age() == null ? "" : ", for " + age(waiter.age()))
                    + (condition == null ? "" : ", for condition '" + plain(condition) + "'"));
        }
        return String.join(NEW_LINE, lines);
    }

    private static String verb(Holder holder) {
        return switch (holder.state()) {
            case INSIDE -> holder.reads() ? "read by" : "held by";
            case KEPT -> "kept by";
            case LEAVING -> "being released by";
            case SILENT -> "owned by";
        };
    }

    private static String details(Holder holder) {
        List<String> details = new ArrayList<>();
        if (holder.reads()) {
            details.add(holder.readLocks() + (holder.readLocks() == 1 ? " read lock" : " read locks"));
        }
        if (holder.permits() > 0) {
            details.add(holder.permits() + " permits");
        }
        if (holder.age() != null) {
            details.add("for " + age(holder.age()));
        }
        if (holder.token() > 0) {
            details.add("token " + holder.token());
        }
        return String.join(", ", details);
    }

    private static String thread(@Nullable String thread) {
        return thread == null ? "" : "thread '" + plain(thread) + "' of ";
    }

    private static String session(Snapshot seen, String id) {
        SessionView session = seen.session(id);
        String host = session.host();
        if (host != null) {
            String name = session.name() == null ? "" : plain(session.name()) + ", ";
            return "pid " + session.pid() + " on " + plain(host) + " (session " + name + plain(id) + ")";
        }
        return "session " + plain(id)
                + (seen.sessions().containsKey(id)
                        ? ", which is silent"
                        : ", which isn't connected: a plain RLock client, or one that is gone");
    }

    /** Returns the first holder, and how many others there are, in a few words. */
    private static String holder(Snapshot seen, NameView name) {
        if (name.holders().isEmpty()) {
            return UNKNOWN;
        }
        Holder first = name.holders().get(0);
        String thread = first.thread();
        SessionView session = seen.session(first.session());
        String host = session.host();
        String process = host == null ? plain(first.session()) : plain(host) + ":" + session.pid();
        int others = name.holders().size() - 1;
        return (thread == null ? "" : plain(thread) + " on ")
                + (session.name() == null ? process : plain(session.name()))
                + (others == 0 ? "" : " and " + others + " more");
    }
}
