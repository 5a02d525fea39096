package dev.interlock.benchmarks;

import dev.interlock.testing.RedisServer;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The calls and microseconds that {@code INFO commandstats} has counted since a given moment. */
record Cost(long calls, long micros) {
    /** Commands that are counted. The time of a script includes the commands that it calls. */
    private static final Set<String> COUNTED = Set.of("eval", "evalsha", "subscribe", "unsubscribe");

    private static final Pattern STATISTIC = Pattern.compile("cmdstat_(\\w+):calls=(\\d+),usec=(\\d+)");

    /** Begins to count. */
    static void reset(RedisServer server) {
        server.command("CONFIG", "RESETSTAT");
    }

    /** Returns the cost of scripts and subscriptions since the beginning. */
    static Cost sinceReset(RedisServer server) {
        String statistics = String.valueOf(server.command("INFO", "commandstats"));
        long calls = 0;
        long micros = 0;
        for (Matcher line = STATISTIC.matcher(statistics); line.find(); ) {
            if (COUNTED.contains(line.group(1))) {
                calls += Long.parseLong(line.group(2));
                micros += Long.parseLong(line.group(3));
            }
        }
        return new Cost(calls, micros);
    }
}
