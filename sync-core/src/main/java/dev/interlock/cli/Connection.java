package dev.interlock.cli;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Which Redis is meant, and as whom to use it. */
final class Connection {
    private static final String REDIS = "INTERLOCK_REDIS";
    private static final String USER = "INTERLOCK_USER";
    private static final String PASSWORD = "INTERLOCK_PASSWORD";
    private static final int TIMEOUT = 10;
    private static final double SHORTEST_TIMEOUT = 1;
    private static final double LONGEST_TIMEOUT = 3_600;

    /** So that there are several attempts within the time-out. */
    private static final int ATTEMPTS = 3;

    private final Map<String, String> environment;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            scope = ScopeType.INHERIT,
            description = "redis://host:port[/database], or rediss://... for TLS. Default: " + REDIS + ".")
    private @Nullable String redis;

    @Option(
            names = "--namespace",
            paramLabel = "NS",
            scope = ScopeType.INHERIT,
            description = "The namespace of the sessions whose names are meant. Default: none.")
    private @Nullable String namespace;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            scope = ScopeType.INHERIT,
            description = "How long to try to reach a Redis that is slow, 1 to 3600; an answer to a question may take a"
                    + " third of it. Default: " + TIMEOUT + ".")
    private double timeout = TIMEOUT;

    @Option(
            names = "--ask-password",
            interactive = true,
            prompt = "Password: ",
            scope = ScopeType.INHERIT,
            description = "Ask for the password, instead of taking it from " + PASSWORD + ".")
    private char @Nullable [] password;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    Connection(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * Opens a session.
     *
     * @throws ParameterException if the options make no sense
     */
    Interlock open() {
        String uri = redis != null ? redis : environment.get(REDIS);
        if (uri == null) {
            throw misuse("give --redis URI, or set " + REDIS);
        }
        // In a URI with a slip in it one can't tell the password from the rest.
        if (uri.indexOf('@') >= 0) {
            throw misuse("the URI must not contain a user or password, since everybody on this machine may see the"
                    + " arguments of a process: set " + USER + " and " + PASSWORD + ", or give --ask-password");
        }
        Main.check("--timeout", timeout, SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
        Duration patience = Duration.ofMillis((long) (timeout * 1_000));
        InterlockBuilder builder = Interlock.builder()
                .namespace(namespace == null ? "" : namespace)
                .openTimeout(patience)
                .commandTimeout(patience.dividedBy(ATTEMPTS));
        String user = environment.getOrDefault(USER, "");
        String secret = password != null ? new String(password) : environment.getOrDefault(PASSWORD, "");
        if (!secret.isEmpty()) {
            builder.credentials(user, secret);
        } else if (!user.isEmpty()) {
            throw misuse(USER + " needs a password: set " + PASSWORD + ", or give --ask-password");
        }
        return builder.uri(uri).open();
    }

    private ParameterException misuse(String message) {
        return new ParameterException(requireNonNull(spec).commandLine(), message);
    }
}
