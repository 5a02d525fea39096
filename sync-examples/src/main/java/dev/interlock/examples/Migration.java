package dev.interlock.examples;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * From one JVM to two, by one line: existing code that takes a {@link ReentrantLock} is given one that holds across
 * JVMs.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=Migration} starts two JVMs that draw 1,000 ticket numbers each from one file,
 * before and after the migration.
 */
public final class Migration {

    private static final int JVMS = 2;
    private static final int DRAWS = 1_000;
    private static final Duration PATIENCE = Duration.ofSeconds(50);

    private Migration() {}

    /** The existing code. It stays as it is: it neither knows nor minds where the lock comes from. */
    static final class TicketNumbers {

        private final ReentrantLock lock;
        private final Path file;

        TicketNumbers(ReentrantLock lock, Path file) {
            this.lock = lock;
            this.file = file;
        }

        long draw() throws IOException {
            lock.lock();
            try {
                long number = last(file) + 1;
                try (var channel = FileChannel.open(file, WRITE)) {
                    channel.write(ByteBuffer.allocate(Long.BYTES).putLong(0, number), 0);
                }
                return number;
            } finally {
                lock.unlock();
            }
        }

        static long last(Path file) throws IOException {
            var number = ByteBuffer.allocate(Long.BYTES);
            try (var channel = FileChannel.open(file, READ)) {
                channel.read(number, 0);
            }
            return number.getLong(0);
        }
    }

    /** One of the JVMs. */
    static final class Office {

        public static void main(String[] args) throws InterruptedException, IOException {
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

    private static long draw(String when, String redisUrl) throws IOException {
        Path file = Files.createTempFile("tickets", ".last");
        try (Fleet offices = Fleet.start(JVMS, Office.class, when, redisUrl, file.toString())) {
            offices.awaitAll("READY", PATIENCE);
            offices.send("go");
            offices.awaitAll("DONE", PATIENCE);
            long last = TicketNumbers.last(file);
            System.out.printf("%-6s %d JVMs drew %d numbers; the last one is %d%n", when, JVMS, JVMS * DRAWS, last);
            return last;
        } finally {
            Files.delete(file);
        }
    }
}
