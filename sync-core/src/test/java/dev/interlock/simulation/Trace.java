package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What happened, for people: a table of time, JVM, thread and event. */
final class Trace {
    private record Line(long nanos, String jvm, String thread, String event) {}

    private final Scheduler scheduler;
    private final boolean isKept;
    private final List<Line> lines = new ArrayList<>();

    Trace(Scheduler scheduler, boolean isKept) {
        this.scheduler = scheduler;
        this.isKept = isKept;
    }

    /** Returns whether anybody will read it. */
    boolean isKept() {
        return isKept;
    }

    /** Adds an event of Redis, or of the network. */
    void add(String event, Object... details) {
        if (isKept) {
            lines.add(new Line(scheduler.nanos(), "", "", String.format(Locale.ROOT, event, details)));
        }
    }

    /** Adds an event of a JVM: of the actor whose turn it is, or of the session's own threads. */
    void add(Jvm jvm, String event, Object... details) {
        if (isKept) {
            Actor actor = scheduler.current();
            String thread = actor == null || actor.jvm() != jvm ? "" : actor.name();
            lines.add(new Line(scheduler.nanos(), jvm.name(), thread, String.format(Locale.ROOT, event, details)));
        }
    }

    /** Returns the table. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("        ms  JVM  thread  event\n");
        for (Line line : lines) {
            text.append(String.format(
                    Locale.ROOT, "%,10.3f  %-3s  %-6s  %s%n", line.nanos / 1e6, line.jvm, line.thread, line.event));
        }
        return text.toString();
    }
}
