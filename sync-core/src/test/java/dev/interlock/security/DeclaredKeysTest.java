package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Transport;
import dev.interlock.testing.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Scripts touch no key that they don't declare, as servers demand that share their keys out among threads or nodes. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeclaredKeysTest {
    private static final Set<String> WITHOUT_KEYS = Set.of("time", "publish", "spublish", "pubsub", "info", "ping");
    private static final Set<String> OF_KEYS_ONLY = Set.of("exists", "del", "unlink");
    private static final String END = "the tour is over";
    private static final int FIRST_KEY = 3;

    /** The commands that MONITOR has shown, and the keys among them that no script had declared. */
    private static final class Seen {
        private final Set<String> undeclared = new TreeSet<>();
        private final Set<String> commands = new TreeSet<>();

        /** Those of the script that runs, or null if that is one of Redisson's. */
        private @Nullable Set<String> declared;

        void add(String line) {
            List<String> words = words(line);
            if (!line.contains(" lua] ")) {
                declared = isScript(words)
                        ? new HashSet<>(words.subList(FIRST_KEY, FIRST_KEY + Integer.parseInt(words.get(2))))
                        : null;
                return;
            }
            String command = words.get(0).toLowerCase(Locale.ROOT);
            commands.add(command);
            Set<String> keysOfScript = declared;
            if (WITHOUT_KEYS.contains(command) || keysOfScript == null) {
                return;
            }
            List<String> keys = words.subList(1, OF_KEYS_ONLY.contains(command) ? words.size() : 2);
            keys.stream()
                    .filter(key -> !keysOfScript.contains(key))
                    .forEach(key -> undeclared.add(command + " " + key));
        }

        /** Returns what stands in quotes, as it is escaped there. */
        private static List<String> words(String line) {
            List<String> words = new ArrayList<>();
            int begin = line.indexOf('"');
            while (begin >= 0) {
                int end = begin + 1;
                while (line.charAt(end) != '"') {
                    end += line.charAt(end) == '\\' ? 2 : 1;
                }
                words.add(line.substring(begin + 1, end));
                begin = line.indexOf('"', end + 1);
            }
            return words;
        }

        private static boolean isScript(List<String> words) {
            return !words.isEmpty() && words.get(0).equalsIgnoreCase("evalsha");
        }
    }

    @Test
    void scriptsDeclareEachKeyThatTheyTouch() throws IOException {
        try (RedisServer server = RedisServer.launch();
                Socket monitor = new Socket(server.host(), server.port());
                BufferedReader lines = new BufferedReader(
                        new InputStreamReader(monitor.getInputStream(), StandardCharsets.ISO_8859_1))) {
            monitor.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(lines.readLine()).isEqualTo("+OK");
            CompletableFuture<Seen> seen =
                    CompletableFuture.supplyAsync(() -> read(lines), task -> new Thread(task, "monitor").start());
            tour(server);
            server.command("ECHO", END);
            Seen all = seen.join();
            assertThat(all.undeclared).isEmpty();
            assertThat(all.commands).contains("hset", "zadd", "exists", "publish", "zrangebylex");
        }
    }

    private static Seen read(BufferedReader lines) {
        Seen seen = new Seen();
        try {
            for (String line = lines.readLine(); line != null && !line.contains(END); line = lines.readLine()) {
                seen.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return seen;
    }

    private static void tour(RedisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient neighbour = Redisson.create(config);
        try (Tour tour = new Tour(
                server,
                one -> one.uri(server.url()),
                other -> other.uri(server.url()).transport(Transport.REDISSON))) {
            tour.all(neighbour);
        } finally {
            neighbour.shutdown();
        }
    }
}
