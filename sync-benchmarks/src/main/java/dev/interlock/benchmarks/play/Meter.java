package dev.interlock.benchmarks.play;

import dev.interlock.testing.RedisServer;
import java.util.function.Supplier;

/** Counts what a Redis does that nobody else uses, but for what the counting itself costs it. */
final class Meter {

    /**
     * What a server has done.
     *
     * @param commands those that scripts call included
     * @param bytes in both directions
     */
    record Reading(double commands, double bytes) {

        Reading minus(Reading other) {
            return new Reading(commands - other.commands, bytes - other.bytes);
        }
    }

    private final Supplier<String> stats;
    private final Reading own;

    /** Counts by {@code INFO stats}. */
    Meter(Supplier<String> stats) {
        this.stats = stats;
        Reading before = read();
        this.own = read().minus(before);
    }

    static Meter of(RedisServer server) {
        return new Meter(() -> String.valueOf(server.command("INFO", "stats")));
    }

    /** What the server has done since its start. */
    Reading read() {
        String text = stats.get();
        return new Reading(
                value(text, "total_commands_processed"),
                value(text, "total_net_input_bytes") + value(text, "total_net_output_bytes"));
    }

    /** What others have had it do since a reading, which has to be the last one. */
    Reading since(Reading last) {
        return read().minus(last).minus(own);
    }

    private static double value(String text, String key) {
        return text.lines()
                .filter(line -> line.startsWith(key + ":"))
                .mapToDouble(line -> Double.parseDouble(line.substring(key.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No " + key + " in INFO stats"));
    }
}
