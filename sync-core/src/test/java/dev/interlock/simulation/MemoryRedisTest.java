package dev.interlock.simulation;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The library's scripts do in memory what they do in Redis: random calls of all of them, while time passes, keys are
 * lost and others write to them, have the same replies, messages and data at each step.
 */
class MemoryRedisTest {
    private static final int LEAST_RUNS = 9;

    private static RedisServer server;

    private final Map<String, Integer> scriptsRun = new TreeMap<>();
    private final Map<String, Long> commandsRun = new TreeMap<>();

    @BeforeAll
    static void start() {
        server = RedisServer.launch();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void scriptsDoWhatTheyDoInRedis() throws IOException, URISyntaxException {
        run(1);
        assertAllWasRun();
    }

    /** The seed is in the message of what fails. */
    @Test
    void scriptsDoWhatTheyDoInRedisForANewSeed() throws IOException {
        run(new Random().nextLong());
    }

    @RepeatedTest(12)
    @Tag("proof")
    void scriptsDoWhatTheyDoInRedisForMoreNewSeeds() throws IOException {
        run(new Random().nextLong());
    }

    private void run(long seed) throws IOException {
        Random random = new Random(seed);
        run(seed, 700, random, new LockCalls(random, "orders", "publish"));
        run(seed, 700, random, new LockCalls(random, "bestellungen ü", "spublish"));
        run(seed, 300, random, new QuorumCalls(random, "orders"));
        run(seed, 350, random, new SemaphoreCalls(random, "orders"));
        run(seed, 300, random, new LatchCalls(random, "orders"));
        run(seed, 400, random, new BarrierCalls(random, "orders"));
        run(seed, 450, random, new LimitCalls(random, "orders"));
        run(seed, 20, random, () -> Script.load("session/replicas").on(List.of("orders")));
        run(seed, 20, random, () -> Script.load("session/memory").on(List.of("orders")));
        run(seed, 20, random, () -> Script.load("session/ping").on(List.of("orders")));
        run(seed, 20, random, () -> Script.load("session/sessions").on(List.of("orders")));
        run(seed, 20, random, () -> Script.load("session/tell").on(List.of("orders"), "somebody", "w 1 me =ü"));
    }

    private void run(long seed, int steps, Random random, RandomCalls calls) throws IOException {
        try (RedisPair pair = new RedisPair(server.url())) {
            List<String> log = new ArrayList<>();
            try {
                for (int step = 0; step < steps; step++) {
                    disturb(random, pair, log);
                    Script.Call call = calls.next();
                    log.add(call.script() + " " + call.keys().size() + " " + call.arguments());
                    calls.heard(pair.run(call));
                }
            } catch (AssertionError | RuntimeException e) {
                List<String> last = log.subList(Math.max(0, log.size() - 20), log.size());
                throw new AssertionError(
                        "seed " + seed + ", after " + log.size() + " steps, the last of them "
                                + String.join("\n", last),
                        e);
            }
            pair.scriptsRun().forEach((script, count) -> scriptsRun.merge(script, count, Integer::sum));
            pair.memory().commandsRun().forEach((command, count) -> commandsRun.merge(command, count, Long::sum));
        }
    }

    /** Time passes; and rarely a key is lost, or becomes somebody else's. */
    private static void disturb(Random random, RedisPair pair, List<String> log) {
        long micros = switch (random.nextInt(12)) {
            case 0 -> random.nextInt(5_000_000);
            case 1 -> 1_000L * random.nextInt(40_000);
            case 2 -> random.nextInt(12_000);
            case 3 -> random.nextInt(10) > 0 ? 0 : -random.nextInt(20_000_000);
            case 4 -> random.nextInt(20) > 0 ? 0 : random.nextLong(800_000_000_000L);
            default -> random.nextInt(1_000);
        };
        pair.pass(micros);
        pair.setSubscribers(random.nextInt(4) == 0 ? 1 : 0);
        List<String> keys = List.copyOf(pair.memory().keys());
        if (keys.isEmpty() || random.nextInt(40) > 0) {
            return;
        }
        String key = keys.get(random.nextInt(keys.size()));
        String harm = switch (random.nextInt(8)) {
            case 0 -> "redis.call('del', KEYS[1]); redis.call('set', KEYS[1], 'foreign', 'px', 100)";
            case 1 ->
                "redis.call('del', KEYS[1]); redis.call('hset', KEYS[1], 'uuid:1', 1)"
                        + "redis.call('pexpire', KEYS[1], 5000)";
            default -> "redis.call('del', KEYS[1])";
        };
        log.add(harm + " " + key);
        pair.eval(harm + " return {}", List.of(key), List.of());
    }

    private void assertAllWasRun() throws IOException, URISyntaxException {
        Path folder = Path.of(Script.class.getResource("/dev/interlock/lua").toURI());
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(file -> file.toString().endsWith(".lua")).toList();
        }
        Pattern command = Pattern.compile("redis\\.call\\('([a-z]+)'");
        Set<String> commands = Stream.of("publish", "spublish").collect(toSet());
        for (Path file : files) {
            command.matcher(Files.readString(file))
                    .results()
                    .map((MatchResult call) -> call.group(1))
                    .forEach(commands::add);
        }
        Set<String> scripts = files.stream()
                .map(file ->
                        folder.relativize(file).toString().replace('\\', '/').replace(".lua", ""))
                .filter(name -> !name.contains("/include/"))
                .collect(toSet());
        assertThat(scriptsRun.keySet()).isEqualTo(scripts);
        assertThat(scriptsRun)
                .allSatisfy((script, count) -> assertThat(count).as(script).isGreaterThan(LEAST_RUNS));
        assertThat(commands)
                .allSatisfy(one -> assertThat(commandsRun.get(one)).as(one).isPositive());
    }
}
