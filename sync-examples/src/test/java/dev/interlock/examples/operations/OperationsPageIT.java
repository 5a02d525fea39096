package dev.interlock.examples.operations;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.examples.ratelimit.HeadlessChromium;
import dev.interlock.examples.ratelimit.LivePage;
import dev.interlock.examples.ratelimit.WebService;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page of one service, with a Redis and three sessions that stand for three JVMs. */
class OperationsPageIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String EVIL = "<img src=x onerror=\"document.title='broken'\">";

    private static final RedisServer REDIS = RedisServer.launch();

    private static ConfigurableApplicationContext service;
    private static @Nullable LivePage page;

    @TempDir
    private static Path folder;

    private final List<Interlock> sessions =
            Stream.generate(() -> Interlock.connect(REDIS.url())).limit(3).toList();
    private final List<Actor> actors = new ArrayList<>();

    @BeforeAll
    static void open() throws IOException, InterruptedException {
        service = WebService.start(REDIS.url(), 0);
        var browser = HeadlessChromium.installed();
        if (browser.isPresent()) {
            page = browser.get().live(url(service) + "operations.html", folder);
        }
    }

    @AfterAll
    static void close() {
        if (page != null) {
            page.close();
        }
        service.close();
        REDIS.close();
    }

    @AfterEach
    void end() {
        sessions.forEach(Interlock::close); // ends what a test that has failed still waits for
        actors.forEach(Actor::close);
    }

    private static String url(ConfigurableApplicationContext service) {
        return "http://127.0.0.1:" + WebService.port(service) + "/";
    }

    private static LivePage page() {
        assumeTrue(page != null, "no Chromium on the path");
        return requireNonNull(page);
    }

    private Actor actor(String name) {
        var actor = new Actor(name);
        actors.add(actor);
        return actor;
    }

    private static void await(ThrowingRunnable assertion) {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).untilAsserted(assertion);
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url(service) + path))
                .timeout(PATIENCE)
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    private static JsonNode onlyName() throws IOException, InterruptedException {
        JsonNode names = new JsonMapper().readTree(get("fleet").body()).path("names");
        assertThat(names.size()).describedAs("%s", names).isEqualTo(1);
        return names.path(0);
    }

    /** Has threads of other sessions want what somebody holds, one after the other. */
    private List<CompletableFuture<Boolean>> queueUp(String lock, Actor... waiters)
            throws IOException, InterruptedException {
        var entries = new ArrayList<CompletableFuture<Boolean>>();
        for (Actor waiter : waiters) {
            DistributedReentrantLock wanted = session(entries.size() + 1).fairLock(lock);
            entries.add(waiter.begin(wanted::lock));
            await(() -> assertThat(onlyName().path("waiters").size()).isEqualTo(entries.size()));
        }
        return entries;
    }

    private Interlock session(int number) {
        return sessions.get(number % sessions.size());
    }

    /** The service tells what sessions have, with all digits of their tokens, and with durations in seconds. */
    @Test
    void tellsPrograms() throws IOException, InterruptedException {
        DistributedReentrantLock lock = session(0).lock("a \"name\"");
        Actor holder = actor("holder");
        holder.run(lock::lock);
        await(() -> assertThat(onlyName().path("name").asString()).isEqualTo("a \"name\""));
        JsonNode name = onlyName();
        assertThat(name.path("kind").asString()).isEqualTo("lock");
        JsonNode held = name.path("holders").path(0);
        assertThat(held.path("thread").asString()).isEqualTo("holder");
        assertThat(held.path("state").asString()).isEqualTo("INSIDE");
        assertThat(held.path("token").asString()).isEqualTo(String.valueOf(holder.<Long>get(lock::fencingToken)));
        assertThat(held.path("age").isNumber()).isTrue();
        holder.run(lock::unlock);
    }

    /** All that the page loads comes from the service. */
    @Test
    void servesAllPartsOfThePage() throws IOException, InterruptedException {
        String html = get("operations.html").body();
        for (String part : List.of("operations.css", "operations.js", "operations-cycle.js")) {
            assertThat(html).contains("\"" + part + "\"");
            assertThat(get(part).statusCode()).isEqualTo(200);
        }
        assertThat(html).doesNotContain("http:", "https:");
    }

    /**
     * A holder and three waiters come, are shown in the order in which they came, and go, while the page stays open.
     */
    @Test
    void showsAHolderAndItsWaiters() throws IOException, InterruptedException {
        LivePage seen = page();
        await(() -> assertThat(seen.texts("#names-note")).containsExactly("None that a session has or waits for."));
        DistributedReentrantLock lock = session(0).fairLock("stock");
        Actor holder = actor("holder");
        holder.run(lock::lock);
        Actor[] waiters = {actor("third"), actor("first"), actor("second")};
        var entries = queueUp("stock", waiters);
        await(() -> assertThat(seen.texts("#names tr:not(.details) > td:nth-child(2)"))
                .containsExactly("holder", "third", "first", "second"));
        assertThat(seen.texts("#names tr:not(.details) > td:nth-child(1)")).containsExactly("inside", "1.", "2.", "3.");
        assertThat(seen.texts("#names td:nth-child(3)"))
                .hasSize(4)
                .allMatch(process ->
                        process.endsWith(" " + ProcessHandle.current().pid()));
        assertThat(seen.texts("#names .details"))
                .hasSize(4)
                .first()
                .asString()
                .endsWith(", token " + holder.<Long>get(lock::fencingToken));
        assertThat(seen.texts("#names article header")).containsExactly("stock fair lock inside");
        await(() -> assertThat(seen.texts("#sessions tr"))
                .hasSize(4)
                .filteredOn(row -> row.contains("this service"))
                .hasSize(1));

        holder.run(lock::unlock);
        for (int i = 0; i < waiters.length; i++) {
            entries.get(i).orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
            List<String> left = Stream.of(waiters)
                    .skip(i)
                    .map(waiter -> waiter.thread().getName())
                    .toList();
            await(() -> assertThat(seen.texts("#names tr:not(.details) > td:nth-child(2)"))
                    .isEqualTo(left));
            waiters[i].run(session(i + 1).fairLock("stock")::unlock);
        }
        await(() -> assertThat(seen.texts("#names article")).isEmpty());
    }

    /** Threads that wait for a condition have a queue of their own. */
    @Test
    void showsWhoWaitsForACondition() throws InterruptedException {
        LivePage seen = page();
        for (int i = 0; i < 2; i++) {
            DistributedReentrantLock lock = session(i).lock("shelf");
            Condition notEmpty = lock.newCondition("not empty");
            actor("taker " + i).begin(() -> {
                lock.lock();
                try {
                    notEmpty.await();
                } finally {
                    lock.unlock();
                }
            });
        }
        await(() -> assertThat(seen.texts("#names tbody"))
                .singleElement()
                .asString()
                .startsWith("Waiting for condition “not empty”: 2")
                .contains("taker 0", "taker 1"));
        await(() -> assertThat(seen.texts("#names article header")).containsExactly("shelf lock free"));
        DistributedReentrantLock lock = session(2).lock("shelf");
        Actor signaller = actor("signaller");
        signaller.run(lock::lock);
        signaller.run(lock.newCondition("not empty")::signalAll);
        signaller.run(lock::unlock);
    }

    /** A deadlock of three is drawn with the names of its threads and locks, on a narrow page, too; and goes. */
    @Test
    void drawsADeadlock() throws InterruptedException {
        LivePage seen = page();
        List<Lock> locks = new ArrayList<>();
        List<Actor> philosophers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            locks.add(session(i).lock("fork " + i));
            philosophers.add(actor("philosopher " + i));
            philosophers.get(i).run(locks.get(i)::lock);
        }
        for (int i = 0; i < 3; i++) {
            Lock next = session(i).lock("fork " + (i + 1) % 3);
            philosophers.get(i).begin(() -> {
                next.lockInterruptibly();
                next.unlock();
            });
        }
        await(() -> assertThat(seen.texts("#deadlocks svg text:not(.where)"))
                .containsExactly("philosopher 0", "fork 1", "philosopher 1", "fork 2", "philosopher 2", "fork 0"));
        assertThat(seen.texts("#deadlocks li")).hasSize(3);
        assertThat(seen.value("document.querySelectorAll('#deadlocks svg line').length"))
                .isEqualTo("6");
        seen.look(400, 800, true);
        await(() -> assertThat(seen.value("document.documentElement.scrollWidth <= window.innerWidth"))
                .isEqualTo("true"));

        philosophers.get(0).interrupt();
        philosophers.get(0).run(locks.get(0)::unlock);
        philosophers.get(2).run(locks.get(2)::unlock);
        philosophers.get(1).run(locks.get(1)::unlock);
        await(() -> assertThat(seen.texts("#deadlocks")).isEmpty());
    }

    /** What users call their locks, threads and conditions is text, whatever it says. */
    @Test
    void namesAreNeverMarkup() throws IOException, InterruptedException {
        LivePage seen = page();
        DistributedReentrantLock lock = session(0).fairLock(EVIL);
        Actor holder = actor(EVIL + "\u202e");
        holder.run(lock::lock);
        Actor waiter = actor("&lt;b>");
        var entries = queueUp(EVIL, waiter);
        await(() -> assertThat(seen.texts("#names tr:not(.details) > td:nth-child(2)"))
                .containsExactly(EVIL + "\\u{202e}", "&lt;b>"));
        assertThat(seen.texts("#names h3")).containsExactly(EVIL);
        assertThat(seen.value("document.querySelectorAll('img').length")).isEqualTo("0");
        assertThat(seen.value("document.title")).isEqualTo("Locks, live");
        holder.run(lock::unlock);
        entries.get(0).orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        waiter.run(session(1).fairLock(EVIL)::unlock);
    }

    /** While Redis is away, or the service, the page says so, and goes on to show what was seen last. */
    @Test
    void tellsWhenNobodyAnswers(@TempDir Path ownFolder) throws IOException, InterruptedException {
        var browser = HeadlessChromium.installed();
        assumeTrue(browser.isPresent(), "no Chromium on the path");
        try (RedisServer mortal = RedisServer.launch();
                var served = WebService.start(mortal.url(), 0);
                LivePage seen = browser.orElseThrow().live(url(served) + "operations.html", ownFolder)) {
            await(() -> assertThat(seen.texts("#sessions tr")).hasSize(1));
            mortal.kill();
            await(() -> assertThat(seen.texts("#trouble"))
                    .singleElement()
                    .asString()
                    .matches("Redis doesn't answer the service\\. What is shown was seen .* ago\\."));
            assertThat(seen.texts("#sessions tr")).hasSize(1);
            assertThat(seen.value("document.getElementById('fleet').className")).isEqualTo("old");

            mortal.restart();
            await(() -> assertThat(seen.value("document.getElementById('fleet').className"))
                    .isEmpty());
            served.stop();
            await(() -> assertThat(seen.texts("#what")).containsExactly("The service doesn't answer."));
        }
    }
}
