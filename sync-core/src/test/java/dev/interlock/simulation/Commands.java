package dev.interlock.simulation;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The commands by which scripts use a database. */
final class Commands {
    /** Carries out a command. Returns a Long, a String of bytes, a {@link Status}, a List of these, or null for nil. */
    interface Command {
        @Nullable
        Object run(Words words);
    }

    /** A reply of a word that isn't data. */
    record Status(String word) {
        static final Status OK = new Status("OK");
    }

    private static final class Counted {
        final Command command;
        long count;

        Counted(Command command) {
            this.command = command;
        }
    }

    private final Map<String, Counted> commands = new HashMap<>();

    Commands(Database database, RandomGenerator random, Publisher publisher) {
        Map<String, Command> all = new HashMap<>();
        all.putAll(new KeyCommands(database).all());
        all.putAll(new StringCommands(database).all());
        all.putAll(new HashCommands(database, random).all());
        all.putAll(new SortedSetCommands(database).all());
        all.putAll(new ServerCommands(database, publisher).all());
        all.forEach((name, command) -> commands.put(name, new Counted(command)));
    }

    @Nullable
    Object run(String[] words) {
        Counted found = commands.get(words[0]);
        if (found == null) {
            found = commands.get(words[0].toLowerCase(Locale.ROOT));
        }
        if (found == null) {
            throw new Words(words).unknown();
        }
        found.count++;
        return found.command.run(new Words(words));
    }

    /** Returns how often each command was run. */
    Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        commands.forEach((name, command) -> counts.put(name, command.count));
        return counts;
    }
}
