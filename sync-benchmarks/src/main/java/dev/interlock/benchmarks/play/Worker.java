package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.play.Site.Round;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.ChildConsole;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A child JVM of a {@link Troupe}, which forms a crew for each {@link Ensemble} that it takes part in. */
final class Worker {

    private Worker() {}

    public static void main(String[] args) throws InterruptedException {
        ByteBuffer page = Ledger.page(Path.of(args[0]));
        ChildConsole.say("ready");
        for (String command = ChildConsole.readCommand();
                command.startsWith("gather ");
                command = ChildConsole.readCommand()) {
            work(Addresses.parse(command.substring("gather ".length())), page);
        }
        ChildConsole.say("closed");
    }

    private static void work(Addresses addresses, ByteBuffer page) throws InterruptedException {
        try (var crew = new Crew(addresses, page, Contestants::named)) {
            ChildConsole.say("gathered");
            for (String command = ChildConsole.readCommand();
                    !command.equals("disband");
                    command = ChildConsole.readCommand()) {
                if (command.startsWith("open ")) {
                    crew.open(command.substring("open ".length()));
                    ChildConsole.say("opened");
                } else if (command.startsWith("play ")) {
                    ChildConsole.say(crew.play(Round.parse(command)).line());
                } else {
                    throw new IllegalArgumentException("Nobody knows how to '" + command + "'");
                }
            }
        }
        ChildConsole.say("disbanded");
    }
}
