package dev.interlock.examples.ratelimit;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A page that stays open in Chromium, which is asked by the DevTools protocol what it shows. */
public final class LivePage implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final JsonMapper JSON = new JsonMapper();

    private final Runnable end;
    private final WebSocket socket;
    private final BlockingQueue<String> messages;
    private int lastId;

    private LivePage(Runnable end, WebSocket socket, BlockingQueue<String> messages) {
        this.end = end;
        this.socket = socket;
        this.messages = messages;
    }

    /**
     * Connects to the only page of a browser.
     *
     * @param profile the folder into which the browser writes where it listens
     * @param end waits for the end of the browser, and for nothing else for long
     */
    static LivePage of(Path profile, Runnable end) throws IOException, InterruptedException {
        Path portFile = profile.resolve("DevToolsActivePort");
        Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(portFile) && Files.size(portFile) > 0);
        var messages = new LinkedBlockingQueue<String>();
        HttpClient client = HttpClient.newHttpClient();
        URI list = URI.create("http://127.0.0.1:" + Files.readAllLines(portFile).get(0) + "/json/list");
        String pages = client.send(
                        HttpRequest.newBuilder(list).timeout(PATIENCE).build(), BodyHandlers.ofString())
                .body();
        for (JsonNode page : JSON.readTree(pages)) {
            if (page.path("type").asString().equals("page")) {
                URI uri = URI.create(page.path("webSocketDebuggerUrl").asString());
                WebSocket socket = client.newWebSocketBuilder()
                        .buildAsync(uri, new Receiver(messages))
                        .join();
                return new LivePage(end, socket, messages);
            }
        }
        throw new AssertionError("no page: " + pages);
    }

    /** Returns the value of an expression in JavaScript, as a string. */
    public String value(String expression) throws InterruptedException {
        JsonNode answer = call("Runtime.evaluate", Map.of("expression", "String(" + expression + ")"));
        if (answer.has("exceptionDetails")) {
            throw new AssertionError(expression + ": " + answer);
        }
        return answer.path("result").path("value").asString();
    }

    /** Returns what the elements that match a selector show, each with its white space as single blanks. */
    public List<String> texts(String selector) throws InterruptedException {
        String list = value("JSON.stringify([...document.querySelectorAll('" + selector + "')]"
                + ".filter(e => e.checkVisibility()).map(e => e.textContent.replace(/\\s+/g, ' ').trim()))");
        var texts = new ArrayList<String>();
        JSON.readTree(list).forEach(text -> texts.add(text.asString()));
        return texts;
    }

    /** Makes the window so wide, and its colours dark or light. */
    public void look(int width, int height, boolean isDark) throws InterruptedException {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        call("Emulation.setScrollbarsHidden", Map.of("hidden", true));
        var scheme = Map.of("name", "prefers-color-scheme", "value", isDark ? "dark" : "light");
        call("Emulation.setEmulatedMedia", Map.of("features", List.of(scheme)));
    }

    /** Writes a PNG of what the window shows. */
    public void picture(Path file) throws IOException, InterruptedException {
        String data = call("Page.captureScreenshot", Map.of()).path("data").asString();
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode(data));
    }

    private JsonNode call(String method, Map<String, ?> parameters) throws InterruptedException {
        int id = ++lastId;
        socket.sendText(JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters)), true)
                .join();
        while (true) {
            String message = messages.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (message == null) {
                throw new AssertionError("no answer to " + method);
            }
            JsonNode answer = JSON.readTree(message);
            if (answer.path("id").asInt() == id) {
                if (answer.has("error")) {
                    throw new AssertionError(method + ": " + answer);
                }
                return answer.path("result");
            }
        }
    }

    @Override
    public void close() {
        // So that the browser clears up what it has outside its profile.
        socket.sendText("{\"id\": 0, \"method\": \"Browser.close\"}", true).join();
        end.run();
        socket.abort();
    }

    /** Puts messages together, which come in parts. */
    private static final class Receiver implements WebSocket.Listener {

        private final BlockingQueue<String> messages;
        private final StringBuilder parts = new StringBuilder();

        Receiver(BlockingQueue<String> messages) {
            this.messages = messages;
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean isLast) {
            parts.append(part);
            if (isLast) {
                messages.add(parts.toString());
                parts.setLength(0);
            }
            socket.request(1);
            return null;
        }
    }
}
