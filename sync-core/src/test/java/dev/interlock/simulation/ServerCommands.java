package dev.interlock.simulation;

import dev.interlock.simulation.Commands.Command;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Commands on channels, and what a server tells of itself. */
final class ServerCommands {
    /** Of a master without replicas. */
    private static final String REPLICATION = "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n";

    private static final String MEMORY = "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n";

    private static final long MICROS = 1_000_000;

    private final Database database;
    private final Publisher publisher;

    ServerCommands(Database database, Publisher publisher) {
        this.database = database;
        this.publisher = publisher;
    }

    Map<String, Command> all() {
        return Map.of(
                "time", this::time,
                "info", this::info,
                "publish", this::publish,
                "spublish", this::publish,
                "pubsub", this::subscribers);
    }

    private List<Object> time(Words words) {
        words.end();
        long micros = database.micros();
        return List.of(Long.toString(Math.floorDiv(micros, MICROS)), Long.toString(Math.floorMod(micros, MICROS)));
    }

    private String info(Words words) {
        return switch (words.last()) {
            case "replication" -> REPLICATION;
            case "memory" -> MEMORY;
            default -> throw words.unknown();
        };
    }

    private Long publish(Words words) {
        String channel = words.next();
        return (long) publisher.publish(Bytes.text(channel), Bytes.text(words.last()));
    }

    private List<Object> channels(String pattern) {
        if (pattern.indexOf('*') != pattern.length() - 1) {
            throw new CommandError("ERR only patterns that end with their one * are known here");
        }
        String prefix = pattern.substring(0, pattern.length() - 1);
        return publisher.channels(prefix).stream().<Object>map(Bytes::of).toList();
    }

    private List<Object> subscribers(Words words) {
        String verb = words.option();
        if (verb.equals("channels")) {
            return channels(Bytes.text(words.last()));
        }
        if (!verb.equals("numsub") && !verb.equals("shardnumsub")) {
            throw words.unknown();
        }
        List<Object> counts = new ArrayList<>();
        for (String channel : words.rest()) {
            counts.add(channel);
            counts.add((long) publisher.subscribers(Bytes.text(channel)));
        }
        return counts;
    }
}
