package dev.interlock.internal.redis;

import dev.interlock.testing.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sees every command that a server executes, those inside scripts included. For ASCII arguments only. */
public final class RedisMonitor implements AutoCloseable {
    private static final Pattern LINE = Pattern.compile("\\+[\\d.]+ \\[\\d+ (\\S+)\\] (.*)");
    private static final Pattern ARGUMENT = Pattern.compile("\"((?:[^\"\\\\]++|\\\\.)*+)\"");

    private final RedisServer server;
    private final Socket socket;
    private final BufferedReader lines;

    /** What a client has sent, with what its script did if it was one. */
    public record Command(List<String> words, List<List<String>> inside) {
        /** For EVAL and EVALSHA. */
        public List<String> keys() {
            return words.subList(3, 3 + Integer.parseInt(words.get(2)));
        }

        /** For EVAL and EVALSHA. */
        public List<String> arguments() {
            return words.subList(3 + Integer.parseInt(words.get(2)), words.size());
        }

        public boolean isScript() {
            return words.get(0).equalsIgnoreCase("eval") || words.get(0).equalsIgnoreCase("evalsha");
        }

        /** Use this to count scripts: a session also runs some in the background that are about no name. */
        public boolean isScriptOn(String key) {
            return isScript() && keys().contains(key);
        }
    }

    public RedisMonitor(RedisServer server) throws IOException {
        this.server = server;
        this.socket = new Socket(server.host(), server.port());
        this.socket.setSoTimeout(20_000);
        this.lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
        if (!"+OK".equals(lines.readLine())) {
            throw new IOException("Redis can't be monitored");
        }
    }

    /** What was executed since the last call, in order. */
    public List<Command> commands() throws IOException {
        String end = UUID.randomUUID().toString();
        server.command("ECHO", end);
        List<Command> commands = new ArrayList<>();
        while (true) {
            String line = lines.readLine();
            Matcher matcher = LINE.matcher(line == null ? "" : line);
            if (!matcher.matches()) {
                throw new IOException("Not a line of a monitor: " + line);
            }
            List<String> words = ARGUMENT.matcher(matcher.group(2))
                    .results()
                    .map(word -> word.group(1).replace("\\\"", "\"").replace("\\\\", "\\"))
                    .toList();
            if (matcher.group(1).equals("lua")) {
                commands.get(commands.size() - 1).inside.add(words);
            } else if (words.contains(end)) {
                return commands;
            } else {
                commands.add(new Command(words, new ArrayList<>()));
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
