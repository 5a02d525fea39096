package dev.interlock.cli;

import dev.interlock.internal.Names;
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
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;

/** What was seen, for people. */
final class Text {
    private static final String UNKNOWN = "-";
    private static final String SILENT =
            "It can't be told of a loss. Its lease ends by itself: a session that stands still"
                    + " or can't reach Redis doesn't renew it.";
    private static final String UNCONNECTED =
            "It can't be told of a loss. Its lease ends by itself, unless a plain RLock"
                    + " client is alive and renews it: stop that client.";
    private static final int GAP = 2;
    private static final String NEW_LINE = System.lineSeparator();

    private Text() {}

    /**
     * Returns lines that do nothing to a terminal. All that is shown goes through this: names, threads, and what
     * sessions say of themselves may be written by anybody.
     */
    static String lines(Stream<String> lines) {
        return lines.map(Names::escaped).collect(Collectors.joining(NEW_LINE));
    }

    /** Returns rows, the first of which is the header, in columns as wide as what is in them. */
    private static String table(Stream<List<String>> rows) {
        List<List<String>> cells =
                rows.map(row -> row.stream().map(Names::escaped).toList()).toList();
        ColorScheme plain = Help.defaultColorScheme(Ansi.OFF);
        TextTable table = TextTable.forColumns(
                plain,
                IntStream.range(0, cells.get(0).size())
                        .mapToObj(i -> {
                            int indent = i == 0 ? 0 : GAP;
                            int width = cells.stream()
                                    .mapToInt(row -> row.get(i).length())
                                    .max()
                                    .orElse(0);
                            return new Column(indent + width, indent, Overflow.TRUNCATE);
                        })
                        .toArray(Column[]::new));
        // Strings would be read as markup of picocli's.
        cells.forEach(row -> table.addRowValues(
                row.stream().map(cell -> plain.apply(cell, List.of())).toArray(Ansi.Text[]::new)));
        return table.toString().stripTrailing();
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
            return "No names" + limit(seen);
        }
        return table(Stream.concat(
                Stream.of(List.of("NAME", "KIND", "STATE", "HOLDER", "WAITERS")),
                seen.names().stream()
                        .map(name -> List.of(
                                name.name(),
                                name.kind(),
                                Contention.state(name),
                                holder(seen, name),
                                String.valueOf(name.waiters().size())))));
    }

    /** Returns how a sentence ends that says that there is nothing. */
    private static String limit(Snapshot seen) {
        return seen.silent().isEmpty() ? "." : " of those sessions that have answered.";
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
        String table = table(Stream.concat(
                Stream.of(List.of("WAITERS", "HELD FOR", "NAME", "KIND", "STATE", "HOLDER")),
                Contention.sorted(seen.names()).stream()
                        .limit(rows)
                        .map(name -> List.of(
                                String.valueOf(name.waiters().size()),
                                age(Contention.age(name).orElse(null)),
                                name.name(),
                                name.kind(),
                                Contention.state(name),
                                holder(seen, name)))));
        return String.join(NEW_LINE, head, "", table, "");
    }

    static String sessions(Snapshot seen) {
        if (seen.sessions().isEmpty()) {
            return "No sessions.";
        }
        return table(Stream.concat(
                Stream.of(List.of("SESSION", "NAME", "HOST", "PID", "VERSION", "PROTOCOL", "OPEN FOR")),
                seen.sessions().values().stream()
                        .map(session -> List.of(
                                session.id(),
                                known(session.name()),
                                known(session.host()),
                                session.host() == null ? UNKNOWN : String.valueOf(session.pid()),
                                known(session.version()),
                                session.protocol() == 0 ? UNKNOWN : String.valueOf(session.protocol()),
                                session.isSilent() ? "silent" : age(session.age())))));
    }

    private static String known(@Nullable String text) {
        return text == null ? UNKNOWN : text;
    }

    static String silent(Snapshot seen) {
        String sessions = seen.silent().stream()
                .map(session -> session.id() + (session.host() == null ? "" : " (" + process(session) + ")"))
                .collect(Collectors.joining(", "));
        return lines(Stream.of("Silent, so that not all may be shown that they have: " + sessions));
    }

    static String deadlocks(List<Deadlock> deadlocks, Snapshot seen) {
        return deadlocks.isEmpty()
                ? "No deadlocks" + limit(seen)
                : lines(deadlocks.stream()
                        .flatMap(deadlock -> Stream.concat(
                                Stream.of("Deadlock:"),
                                deadlock.steps().stream().map(step -> "  " + step))));
    }

    static String released(String name, long token) {
        return lines(Stream.of(name + ": released; the thread of token " + token + " has lost it"));
    }

    static String notReleased(String name, long token, Snapshot seen) {
        if (seen.isFree()) {
            return lines(Stream.of(name + ": free"));
        }
        List<String> lines = new ArrayList<>();
        lines.add(name + ": not released, since no thread is known to be inside with token " + token);
        seen.names().stream()
                .flatMap(view -> view.holders().stream())
                .filter(holder -> holder.state() == State.SILENT)
                .map(Holder::session)
                .forEach(owner -> {
                    lines.add("  owned by " + session(seen, owner));
                    lines.add("    " + (seen.sessions().containsKey(owner) ? SILENT : UNCONNECTED));
                });
        return lines(lines.stream());
    }

    static String who(String asked, Snapshot seen) {
        return seen.names().isEmpty()
                ? lines(Stream.of(asked + ": free"))
                : lines(seen.names().stream().flatMap(name -> who(seen, name)));
    }

    private static Stream<String> who(Snapshot seen, NameView name) {
        List<String> lines = new ArrayList<>();
        lines.add(name.name() + ": " + name.kind() + ", " + Contention.state(name));
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
                    + (condition == null ? "" : ", for condition '" + condition + "'"));
        }
        return lines.stream();
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
        return thread == null ? "" : "thread '" + thread + "' of ";
    }

    private static String session(Snapshot seen, String id) {
        SessionView session = seen.session(id);
        String name = session.name() == null ? "" : session.name() + ", ";
        if (!session.isSilent()) {
            return process(session) + " (session " + name + id + ")";
        }
        if (!seen.sessions().containsKey(id)) {
            return "session " + id + ", which isn't connected: a plain RLock client, or one that is gone";
        }
        return "session " + id + ", which is silent" + (session.host() == null ? "" : ": " + name + process(session));
    }

    private static String process(SessionView session) {
        return "pid " + session.pid() + " on " + session.host();
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
        String process = host == null ? first.session() : host + ":" + session.pid();
        int others = name.holders().size() - 1;
        return (thread == null ? "" : thread + " on ")
                + (session.name() == null ? process : session.name())
                + (others == 0 ? "" : " and " + others + " more");
    }
}
