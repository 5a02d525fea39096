package dev.interlock.examples.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Two instances: one as it is started by hand, in a JVM of its own, and one here, which joins the first one's Redis.
 * And a third one with a Redis of its own, which it loses.
 */
class WebServiceIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int ADMITTED_COLOUR = 0x2b6cb0;
    private static final int REFUSED_COLOUR = 0xe8590c;

    /**
     * More than a swatch of the legend has (13), less than the bar of one request (27): on a busy machine each of a
     * client's requests may fall into a second of its own.
     */
    private static final int LEGEND_PIXELS = 20;

    private static final JsonMapper JSON = new JsonMapper();

    private static ChildJvm first;
    private static ConfigurableApplicationContext second;
    private static RedisServer mortal;
    private static ConfigurableApplicationContext third;
    private static List<String> urls;

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void start() {
        first = ChildJvm.of(WebService.class)
                .options("-Dserver.port=0", "-XX:TieredStopAtLevel=1")
                .start();
        mortal = RedisServer.launch();
        third = WebService.start(mortal.url(), 0); // while the first one starts
        String url = first.await("SERVING at ", PATIENCE).substring("SERVING at ".length());
        String command = first.await("    mvn ", PATIENCE);
        second = WebService.start(command.substring(command.indexOf("redis://")), 0);
        urls = List.of(url, url(second));
    }

    @AfterAll
    static void stop() {
        third.close();
        mortal.close();
        second.close();
        first.close();
    }

    private static String url(ConfigurableApplicationContext instance) {
        return "http://127.0.0.1:" + WebService.port(instance) + "/";
    }

    /** One that no other test and no test before has used. */
    private static String newClient() {
        return UUID.randomUUID().toString();
    }

    private static HttpRequest.Builder request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE);
    }

    private HttpResponse<String> get(String url) throws IOException, InterruptedException {
        return client.send(request(url).build(), BodyHandlers.ofString());
    }

    private static String field(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("none");
    }

    private static JsonNode json(HttpResponse<String> response) {
        return JSON.readTree(response.body());
    }

    /** The fourth request in ten seconds is one too many, wherever it goes; other clients are none the worse for it. */
    @Test
    void instancesShareTheirLimits() throws IOException, InterruptedException {
        String lua = "lua/" + newClient();
        for (int i = 0; i < 3; i++) {
            var response = get(urls.get(i % 2) + lua);
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(field(response, "RateLimit-Policy")).isEqualTo("\"lua\";q=3;w=10");
            assertThat(field(response, "RateLimit")).matches("\"lua\";r=" + (2 - i) + ";t=([1-9]|10)");
            assertThat(field(response, "Cache-Control")).isEqualTo("no-store");
            assertThat(field(response, "Retry-After")).isEqualTo("none");
        }
        var refused = get(urls.get(1) + lua);
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(field(refused, "RateLimit-Policy")).isEqualTo("\"lua\";q=3;w=10");
        assertThat(field(refused, "RateLimit")).isEqualTo("\"lua\";r=0;t=" + field(refused, "Retry-After"));
        assertThat(field(refused, "Retry-After")).matches("[1-9]|10");
        assertThat(field(refused, "Content-Type")).isEqualTo("application/problem+json");
        JsonNode problem = json(refused);
        assertThat(problem.path("type").asString())
                .isEqualTo("https://iana.org/assignments/http-problem-types#quota-exceeded");
        assertThat(problem.path("status").asInt()).isEqualTo(429);
        assertThat(problem.path("violated-policies").path(0).asString()).isEqualTo("lua");
        assertThat(get(urls.get(1) + "lua/" + newClient()).statusCode()).isEqualTo(200);
    }

    /** A full bucket serves ten at once, and hardly more. */
    @Test
    void aBucketServesABurst() throws IOException, InterruptedException {
        String bucket = "bucket/" + newClient();
        var first = get(urls.get(0) + bucket);
        assertThat(field(first, "RateLimit-Policy")).isEqualTo("\"bucket\";q=10;w=2");
        assertThat(field(first, "RateLimit")).isEqualTo("\"bucket\";r=9;t=1");
        long beganNanos = System.nanoTime();
        var requests = IntStream.range(0, 40)
                .mapToObj(i ->
                        client.sendAsync(request(urls.get(i % 2) + bucket).build(), BodyHandlers.ofString()))
                .toList();
        var statuses = requests.stream()
                .map(CompletableFuture::join)
                .map(HttpResponse::statusCode)
                .toList();
        double seconds = (System.nanoTime() - beganNanos) / 1e9;
        assertThat(statuses).containsOnly(200, 429);
        assertThat(statuses.stream().filter(status -> status == 200).count())
                .isBetween(9L, 10 + (long) Math.ceil(5 * seconds));
    }

    /** Whatever a stranger writes there is a client, or a bad request. */
    @ParameterizedTest
    @CsvSource({
        "%C3%A9%20%E2%98%83%F0%9F%98%80, 200",
        "%7Ba, 200",
        "a%7D%7Bb%7D%7B, 200",
        "%3Cb%3E%22'&, 200",
        "*, 200",
        "a:b:c, 200",
        "%20, 400",
        "%E3%80%80%20, 400",
        "%FF, 400",
        "a%2Fb, 400",
        "'', 404"
    })
    void anyIdIsAnswered(String id, int status) throws IOException, InterruptedException {
        for (String limit : List.of("lua/", "bucket/")) {
            assertThat(get(urls.get(0) + limit + id).statusCode()).isEqualTo(status);
        }
    }

    @Test
    void aLongIdIsRefused() throws IOException, InterruptedException {
        assertThat(get(urls.get(0) + "lua/" + "x".repeat(100)).statusCode()).isEqualTo(200);
        var refused = get(urls.get(0) + "lua/" + "x".repeat(101));
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(field(refused, "Content-Type")).isEqualTo("application/problem+json");
    }

    /** What isn't served isn't charged. */
    @Test
    void otherMethodsTakeNothing() throws IOException, InterruptedException {
        String url = urls.get(0) + "lua/" + newClient();
        for (String method : List.of("OPTIONS", "POST", "DELETE")) {
            var response = client.send(
                    request(url).method(method, BodyPublishers.noBody()).build(), BodyHandlers.ofString());
            assertThat(response.statusCode()).isEqualTo(method.equals("OPTIONS") ? 200 : 405);
        }
        assertThat(field(get(url), "RateLimit")).startsWith("\"lua\";r=2;");
    }

    /** An instance counts what went through it. */
    @Test
    void tellsItsTraffic() throws IOException, InterruptedException {
        String id = newClient();
        for (int i = 0; i < 4; i++) {
            get(urls.get(0) + "lua/" + id);
        }
        get(urls.get(1) + "lua/" + id);
        assertThat(seen(urls.get(0), id)).containsExactly(3, 1);
        assertThat(seen(urls.get(1), id)).containsExactly(0, 1);
    }

    private List<Integer> seen(String url, String id) throws IOException, InterruptedException {
        for (JsonNode series : json(get(url + "traffic")).path("keys")) {
            if (series.path("key").asString().equals(id)) {
                return List.of(sum(series.path("admitted")), sum(series.path("refused")));
            }
        }
        return List.of();
    }

    private static int sum(JsonNode counts) {
        assertThat(counts.size()).isEqualTo(Traffic.SECONDS);
        int sum = 0;
        for (JsonNode count : counts) {
            sum += count.asInt();
        }
        return sum;
    }

    /** Without Redis nobody can tell, and the client is told so. */
    @Test
    void answersWhileRedisIsAway() throws IOException, InterruptedException {
        String lua = url(third) + "lua/" + newClient();
        assertThat(get(lua).statusCode()).isEqualTo(200);
        mortal.kill();
        var unknown = get(lua);
        assertThat(unknown.statusCode()).isEqualTo(503);
        assertThat(field(unknown, "Content-Type")).isEqualTo("application/problem+json");
    }

    /** All that the page loads is there. */
    @Test
    void servesItsPage() throws IOException, InterruptedException {
        String page = get(urls.get(0)).body();
        for (String part : List.of("webjars/chart.js/dist/chart.umd.min.js", "traffic.js", "traffic.css")) {
            assertThat(page).contains("\"" + part + "\"");
            assertThat(get(urls.get(0) + part).statusCode()).isEqualTo(200);
        }
    }

    /** In a browser the page shows each key with its numbers and bars; what a key says is never markup. */
    @Test
    void thePageShowsTheTraffic(@TempDir Path folder) throws IOException, InterruptedException {
        var browser = HeadlessChromium.installed();
        assumeTrue(browser.isPresent(), "no Chromium on the path");
        String id = "<b>" + newClient();
        for (int i = 0; i < 6; i++) {
            get(urls.get(1) + "lua/" + URLEncoder.encode(id, StandardCharsets.UTF_8));
        }
        var sight = browser.orElseThrow().open(urls.get(1), folder);
        String shown = id.replace("<", "&lt;").replace(">", "&gt;");
        assertThat(sight.dom())
                .contains("port " + WebService.port(second))
                .containsPattern("/lua/\\Q" + shown + "\\E</h2>\\s*<p><b class=\"admitted\">3</b> admitted, "
                        + "<b class=\"refused\">3</b> refused</p>");
        assertThat(sight.tallest(ADMITTED_COLOUR)).isGreaterThan(LEGEND_PIXELS);
        assertThat(sight.tallest(REFUSED_COLOUR)).isGreaterThan(LEGEND_PIXELS);
    }
}
