package dev.interlock.testing;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** A Redis in a container, where a Docker daemon answers. Testcontainers removes it after this JVM. */
final class RedisContainer {

    private static final Logger LOG = LoggerFactory.getLogger(RedisContainer.class);
    private static final long MAX_PROBE_SECONDS = 5;
    private static final int REDIS_PORT = 6379;

    private RedisContainer() {}

    /** The URL of a new container, or nothing without a usable Docker. */
    static Optional<String> start() {
        if (!dockerAnswers()) {
            return Optional.empty();
        }
        try {
            // Closed by Testcontainers' own reaper.
            @SuppressWarnings("resource")
            var redis = new GenericContainer<>(DockerImageName.parse("redis:7")).withExposedPorts(REDIS_PORT);
            redis.start();
            return Optional.of("redis://" + redis.getHost() + ":" + redis.getMappedPort(REDIS_PORT));
        } catch (RuntimeException e) {
            LOG.info("Docker answers but runs no Redis: {}", e.toString());
            return Optional.empty();
        }
    }

    /** Asks on a thread of its own that may be left behind: a dead DOCKER_HOST can keep it for minutes. */
    private static boolean dockerAnswers() {
        var answer = new CompletableFuture<Boolean>();
        var probe = new Thread(() -> probe(answer), "docker-probe");
        probe.setDaemon(true);
        probe.start();
        try {
            return answer.get(MAX_PROBE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            LOG.info("No Docker: {}", e.toString());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static void probe(CompletableFuture<Boolean> answer) {
        try {
            answer.complete(DockerClientFactory.instance().isDockerAvailable());
        } catch (RuntimeException | LinkageError e) {
            answer.completeExceptionally(e);
        }
    }
}
