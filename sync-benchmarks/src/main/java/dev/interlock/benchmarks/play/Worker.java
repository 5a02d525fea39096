package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.play.Site.Round;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.ChildConsole;
import java.nio.file.Path;

/** A crew in a child JVM, which takes its orders from {@link Ensemble}. */
final class Worker {

    private Worker() {}

    public static void main(String[] args) throws InterruptedException {
        try (var crew = new Crew(Addresses.parse(args[0]), Ledger.page(Path.of(args[1])), Contestants::named)) {
            ChildConsole.say("ready");
            while (true) {
                String command = ChildConsole.readCommand();
                if (command.startsWith("open ")) {
                    crew.open(command.substring("open ".length()));
                    ChildConsole.say("opened");
                } else if (command.startsWith("play ")) {
                    ChildConsole.say(crew.play(Round.parse(command)).line());
                } else {
                    break;
                }
            }
        }
        ChildConsole.say("closed");
    }
}
