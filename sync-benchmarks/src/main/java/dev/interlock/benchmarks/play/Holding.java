package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.play.Meter.Reading;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Upkeep;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * What it takes to hold many names at once: each contestant in a JVM of its own, with a Redis of its own, side by side.
 */
final class Holding {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private Holding() {}

    static List<Measurement> play(Scenario scenario, Pace pace) {
        var estates = new ArrayList<Estate>();
        try {
            scenario.contestants().forEach(contestant -> estates.add(Estate.of(contestant, scenario.threads())));
            estates.forEach(Estate::awaitHeld);
            parkFor(pace.round());
            return estates.stream().map(estate -> estate.measurement(scenario)).toList();
        } finally {
            estates.forEach(Estate::close);
        }
    }

    private static void parkFor(Duration time) {
        long endNanos = Monotonic.nanos() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = endNanos - Monotonic.nanos()) {
            LockSupport.parkNanos(left);
        }
    }

    /** One contestant with all that it holds. */
    private static final class Estate implements AutoCloseable {

        private final String contestant;
        private final RedisServer server;
        private final ChildJvm holder;
        private final Meter meter;
        private double heapBytesPerName;
        private double namesPerSecond;
        private Reading first = new Reading(0, 0);
        private long firstNanos;

        private Estate(String contestant, RedisServer server, ChildJvm holder) {
            this.contestant = contestant;
            this.server = server;
            this.holder = holder;
            this.meter = Meter.of(server);
        }

        static Estate of(String contestant, int names) {
            RedisServer server = RedisServer.launch();
            ChildJvm holder = ChildJvm.of(Holder.class)
                    .options("-Xmx512m")
                    .arguments(server.url(), contestant, String.valueOf(names))
                    .start();
            return new Estate(contestant, server, holder);
        }

        void awaitHeld() {
            String[] words = holder.await("held ", PATIENCE).split(" ", -1);
            heapBytesPerName = Double.parseDouble(words[1]);
            namesPerSecond = Double.parseDouble(words[2]);
            first = meter.read();
            firstNanos = Monotonic.nanos();
        }

        Measurement measurement(Scenario scenario) {
            Reading done = meter.since(first);
            double seconds = (Monotonic.nanos() - firstNanos) / 1e9;
            var upkeep =
                    new Upkeep(scenario.threads(), done.commands() / seconds, done.bytes() / seconds, heapBytesPerName);
            return new Measurement(
                    scenario.name(),
                    scenario.family(),
                    contestant,
                    1,
                    1,
                    0,
                    0,
                    List.of(namesPerSecond),
                    null,
                    null,
                    null,
                    upkeep);
        }

        @Override
        public void close() {
            holder.close();
            server.close();
        }
    }
}
