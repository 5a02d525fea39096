package dev.interlock.security;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Commands of {@code docs/security.md} that give rights, as they stand there. */
record Rights(List<String> command) {
    static final String USER = "app";
    static final String PASSWORD = "PASSWORD";
    private static final Pattern PROBE = Pattern.compile(
            "reason, command, context, toplevel, object, eval,|reason, key, context, toplevel, object, test1,");
    private static final Path PAGE = Path.of("..", "docs", "security.md");

    /** The command that stands first under a heading. */
    static Rights under(String heading) {
        Matcher block = Pattern.compile(
                        "(?s)\n#+ " + Pattern.quote(heading) + "\n.*?```\n(ACL SETUSER " + USER + " .*?)\n```")
                .matcher(page());
        if (!block.find()) {
            throw new IllegalStateException("No ACL SETUSER under '" + heading + "' in " + PAGE);
        }
        return new Rights(List.of(block.group(1).strip().split("\\s+")));
    }

    private static String page() {
        try {
            return Files.readString(PAGE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whatever is given: commands, patterns of keys, patterns of channels. */
    List<String> given() {
        return command.stream().filter(word -> word.matches("[+~&].+")).toList();
    }

    /** The commands, as INFO spells them. */
    List<String> commands() {
        return given().stream()
                .filter(word -> word.startsWith("+"))
                .map(word -> word.substring(1))
                .toList();
    }

    Rights without(String given) {
        return new Rights(command.stream().filter(word -> !word.equals(given)).toList());
    }

    /** Gives these rights, in addition to those that the user has, unless the command takes these away. */
    void giveAt(RedisServer server) {
        server.command(command.toArray(String[]::new));
    }

    static String urlOf(RedisServer server) {
        return "redis://" + USER + ":" + PASSWORD + "@" + server.host() + ":" + server.port();
    }

    /**
     * What was refused since the log was reset, but for what Redisson tries, once in a client's life, to find out
     * whether it may.
     */
    static List<String> refusedAt(RedisServer server) {
        return loggedAt(server).filter(entry -> !PROBE.matcher(entry).find()).toList();
    }

    /** All that was refused. */
    static Stream<String> loggedAt(RedisServer server) {
        return server.command("ACL", "LOG") instanceof List<?> entries
                ? entries.stream().map(String::valueOf)
                : Stream.of();
    }
}
