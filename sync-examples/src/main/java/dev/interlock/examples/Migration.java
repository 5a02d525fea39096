package dev.interlock.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * From one JVM to two, by one line: existing code that takes a {@link ReentrantLock} is given one that holds across JVMs.
 *
 * <p>Run {@code main}; it starts two JVMs that draw 1,000 ticket numbers each from one file, before and after the migration.
 */
public final class Migration {

    private static final int JVMS = 2;
    private static final int DRAWS = 1_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Migration() {}

    /** The existing code. It stays as it is: it neither knows nor minds where the lock comes from. */
    static final class TicketNumbers {

        private final ReentrantLock lock;
        private final Path file;

        TicketNumbers(ReentrantLock lock, Path file) {
            this.lock = lock;
            this.file = file;
        }

        int draw() {
            lock.lock();
            try {
                int number = drawn(file) + 1;
                Files.writeString(file, Integer.toString(number), US_ASCII);
                return number;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                lock.unlock();
            }
        }
    }

    /** One of the JVMs. */
    static final class Office {

        public static void main(String[] args) throws InterruptedException {
            Path file = Path.of(args[2]);
            try (Interlock interlock = Interlock.connect(args[1])) {
                ReentrantLock lock = switch (args[0]) {
                    case "before" -> new ReentrantLock();
                    default -> interlock.lock("tickets"); // the migration
                };
                var numbers = new TicketNumbers(lock, file);
                ChildConsole.say("READY");
                ChildConsole.readCommand();
                for (int i = 0; i < DRAWS; i++) {
                    numbers.draw();
                }
                ChildConsole.say("DONE");
            }
        }
    }

    /** Draws before and after; the exit code is 0 if no number was drawn twice after. */
    public static void main(String[] args) throws IOException {
        boolean unique;
        try (RedisServer redis = RedisServer.launch()) {
            draw("before", redis.url());
            unique = draw("after", redis.url()) == JVMS * DRAWS;
        }
        System.exit(unique ? 0 : 1);
    }

    private static int draw(String when, String redisUrl) throws IOException {
        Path file = Files.createTempFile("tickets", ".txt");
        try (Fleet offices = Fleet.start(JVMS, Office.class, when, redisUrl, file.toString())) {
            offices.awaitAll("READY", PATIENCE);
            offices.send("go");
            offices.awaitAll("DONE", PATIENCE);
            int last = drawn(file);
            System.out.printf("%-6s %d JVMs drew %d numbers; the last one is %d%n", when, JVMS, JVMS * DRAWS, last);
            return last;
        } finally {
            Files.delete(file);
        }
    }

    private static int drawn(Path file) throws IOException {
        String content = Files.readString(file, US_ASCII);
        return content.isEmpty() ? 0 : Integer.parseInt(content);
    }
}
