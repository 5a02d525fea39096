package dev.interlock.cli;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Throwables;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.FleetView;
import dev.interlock.ops.Operator;
import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** Shows who holds a lock and who waits for it, in all sessions of a fleet; see {@code docs/operations.md}. */
@Command(
        name = "interlock",
        description = "Shows who holds a lock and who waits for it, in all sessions that share a Redis.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false,
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:found, or done",
            "1:nothing found; of 'who' and 'release': nobody has the name",
            "2:no Redis: it can't be reached, doesn't answer, or refuses",
            "3:refused: somebody has the name with another token",
            "64:the command makes no sense"
        },
        footer = {
            "",
            "INTERLOCK_PASSWORD has the password, and INTERLOCK_USER the user of Redis' ACL, if it isn't 'default'."
        })
public final class Main {
    static final int FOUND = 0;
    static final int NOTHING = 1;
    static final int NO_REDIS = 2;
    static final int REFUSED = 3;
    static final int USAGE = 64;

    /** That of a defect, as in {@code sysexits.h}. */
    private static final int DEFECT = 70;

    private static final String GLOB = "Which names: * stands for anything, ? for one character. Default: all.";
    private static final double MILLIS = 1_000;
    private static final double SHORTEST_WAIT = 0.1;
    private static final double LONGEST_WAIT = 60;
    private static final double SHORTEST_INTERVAL = 0.1;
    private static final double LONGEST_INTERVAL = 3_600;

    /** Where the cursor goes before a refresh; what follows it is erased. */
    private static final String CLEAR = "\u001b[H\u001b[J";

    @Mixin
    private final Connection connection;

    private final boolean isTerminal;

    @Option(
            names = "--json",
            scope = ScopeType.INHERIT,
            description = "Print a JSON document instead; of 'top', one per line.")
    private boolean json;

    @Option(
            names = "--wait",
            paramLabel = "SECONDS",
            defaultValue = "1",
            scope = ScopeType.INHERIT,
            description = "A session is silent if nothing has come from it for so long, 0.1 to 60. Default: 1.")
    private double wait;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Print this.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Spec
    private @Nullable CommandSpec spec;

    private Main(Map<String, String> environment, boolean isTerminal) {
        this.connection = new Connection(environment);
        this.isTerminal = isTerminal;
    }

    /** Runs a command, and ends this JVM with its exit code. */
    @SuppressWarnings("SystemConsoleNull")
    public static void main(String... args) {
        // Otherwise, from JDK 22 to 24, there is a console even if the output is a file.
        System.setProperty("jdk.console", "java.base");
        // What sessions log goes to standard error, if it is worth a warning.
        if (System.getProperty("org.slf4j.simpleLogger.defaultLogLevel") == null) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        }
        Console console = System.console();
        System.exit(commandLine(System.getenv(), console != null)
                .setOut(standardOutput(console == null ? Charset.defaultCharset() : console.charset()))
                .execute(args));
    }

    /** Returns a writer that tells when nobody reads any more, unlike the one that picocli makes. */
    private static PrintWriter standardOutput(Charset charset) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), charset), true);
    }

    /** Returns what runs commands, and writes to its own writers. */
    static CommandLine commandLine(Map<String, String> environment, boolean isTerminal) {
        return new CommandLine(new Main(environment, isTerminal))
                .setParameterExceptionHandler((misuse, args) -> misused(misuse))
                .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, command));
    }

    private static int misused(ParameterException misuse) {
        CommandLine command = misuse.getCommandLine();
        PrintWriter err = command.getErr();
        err.println(Text.lines(String.valueOf(misuse.getMessage()).lines()));
        if (!UnmatchedArgumentException.printSuggestions(misuse, err)) {
            err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        }
        return USAGE;
    }

    private static int failed(Exception failure, CommandLine command) {
        if (failure instanceof IllegalArgumentException) {
            return misused(new ParameterException(command, String.valueOf(failure.getMessage())));
        }
        if (failure instanceof RedisUnavailableException || failure instanceof IllegalStateException) {
            command.getErr()
                    .println(Text.lines(String.valueOf(failure.getMessage()).lines()));
            return NO_REDIS;
        }
        Throwables.throwIfUnchecked(failure);
        return DEFECT;
    }

    @Command(name = "ls", description = "Lists the names that sessions have or wait for, and who has them.")
    int list(@Parameters(paramLabel = "GLOB", arity = "0..1", defaultValue = "*", description = GLOB) String glob) {
        try (Interlock session = open()) {
            Snapshot seen = Snapshot.of(session, operator(session).look(glob));
            show(() -> Text.names(seen), () -> Document.names(seen));
            warnOfSilent(seen);
            return seen.names().isEmpty() ? NOTHING : FOUND;
        }
    }

    @Command(name = "who", description = "Shows who has a name, and who waits for it.")
    int who(@Parameters(paramLabel = "NAME", description = "The name, without namespace.") String name) {
        try (Interlock session = open()) {
            Snapshot seen = Snapshot.of(session, operator(session).lookAt(name));
            show(() -> Text.who(name, seen), () -> Document.names(seen));
            warnOfSilent(seen);
            return seen.isFree() ? NOTHING : FOUND;
        }
    }

    @Command(name = "sessions", description = "Lists the sessions that are connected, but for the one of this command.")
    int sessions() {
        try (Interlock session = open()) {
            Snapshot seen = Snapshot.of(session, operator(session).sessions());
            show(() -> Text.sessions(seen), () -> Document.sessions(seen));
            return seen.sessions().isEmpty() ? NOTHING : FOUND;
        }
    }

    @Command(name = "deadlocks", description = "Shows the threads that wait for each other, across JVMs.")
    int deadlocks() {
        try (Interlock session = open()) {
            FleetView fleet = operator(session).look("*");
            Snapshot seen = Snapshot.of(session, fleet);
            List<Deadlock> deadlocks = fleet.deadlocks();
            show(() -> Text.deadlocks(deadlocks, seen), () -> Document.deadlocks(deadlocks, seen));
            warnOfSilent(seen);
            return deadlocks.isEmpty() ? NOTHING : FOUND;
        }
    }

    @Command(name = "release", description = "Takes a lock from the thread that has entered with a token.")
    int release(
            @Parameters(paramLabel = "NAME", description = "The name, without namespace.") String name,
            @Option(
                            names = "--token",
                            paramLabel = "N",
                            required = true,
                            description = "The fencing token that 'who' shows.")
                    long token) {
        try (Interlock session = open()) {
            boolean isReleased = operator(session).forceRelease(name, token);
            if (isReleased) {
                show(() -> Text.released(name, token), () -> Map.of("released", true));
                return FOUND;
            }
            Snapshot seen = Snapshot.of(session, operator(session).lookAt(name));
            show(() -> Text.notReleased(name, token, seen), () -> Map.of("released", false));
            return seen.isFree() ? NOTHING : REFUSED;
        }
    }

    @Command(
            name = "top",
            description = "Shows which names most threads wait for, and who has them, again and again until Ctrl-C.")
    int top(
            @Parameters(paramLabel = "GLOB", arity = "0..1", defaultValue = "*", description = GLOB) String glob,
            @Option(
                            names = "--interval",
                            paramLabel = "SECONDS",
                            defaultValue = "1",
                            description = "The time between two refreshes, 0.1 to 3600. Default: 1.")
                    double interval,
            @Option(
                            names = "--count",
                            paramLabel = "N",
                            defaultValue = "2147483647",
                            description = "End after so many refreshes.")
                    int count,
            @Option(
                            names = "--rows",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "Show so many names. Default: 20.")
                    int rows) {
        check("--interval", interval, SHORTEST_INTERVAL, LONGEST_INTERVAL);
        check("--count", count, 1, Integer.MAX_VALUE);
        check("--rows", rows, 1, Integer.MAX_VALUE);
        try (Interlock session = open()) {
            int refreshes = 0;
            do {
                Snapshot seen = Snapshot.of(session, operator(session).look(glob));
                show(() -> (isTerminal ? CLEAR : "") + Text.top(seen, rows), () -> Document.top(seen, rows));
                refreshes++;
            } while (refreshes < count && !out().checkError() && isPaused(interval));
        }
        return FOUND;
    }

    private Interlock open() {
        check("--wait", wait, SHORTEST_WAIT, LONGEST_WAIT);
        return connection.open();
    }

    private Operator operator(Interlock session) {
        return session.operator(Duration.ofMillis((long) (wait * MILLIS)));
    }

    static void check(String option, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException(
                    String.format("%s must be from %s to %s, but is %s", option, least, most, value));
        }
    }

    private static boolean isPaused(double seconds) {
        try {
            Thread.sleep((long) (seconds * MILLIS));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void show(Supplier<String> text, Supplier<Map<String, @Nullable Object>> document) {
        out().println(json ? Document.json(document.get()) : text.get());
        out().flush();
    }

    // What they have isn't among what was found.
    private void warnOfSilent(Snapshot seen) {
        if (!json && !seen.silent().isEmpty()) {
            requireNonNull(spec).commandLine().getErr().println(Text.silent(seen));
        }
    }

    private PrintWriter out() {
        return requireNonNull(spec).commandLine().getOut();
    }
}
