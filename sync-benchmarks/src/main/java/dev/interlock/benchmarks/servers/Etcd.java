package dev.interlock.benchmarks.servers;

import com.google.common.base.Splitter;
import io.etcd.jetcd.Client;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * That of {@code ETCD_ENDPOINTS}, URLs with commas between them, or else a private one of the installed version with
 * its defaults.
 */
final class Etcd {

    private static final long PATIENCE_SECONDS = 5;

    private Etcd() {}

    static Server start(Map<String, String> environment) {
        String given = environment.getOrDefault("ETCD_ENDPOINTS", "").strip();
        if (!given.isEmpty()) {
            try {
                return new Server.Running(given, version(given), () -> {});
            } catch (IllegalStateException e) {
                throw new AbsentException("the etcd of ETCD_ENDPOINTS doesn't answer", e);
            }
        }
        return launch(Daemon.find("etcd", Stream.empty(), environment)
                .orElseThrow(() -> new AbsentException(
                        "no etcd is installed (apt-get install etcd-server) and ETCD_ENDPOINTS isn't set")));
    }

    private static Server launch(Path etcd) {
        Path folder = Daemon.newFolder();
        String clients = "http://127.0.0.1:" + Daemon.freePort();
        String peers = "http://127.0.0.1:" + Daemon.freePort();
        var command = List.of(
                etcd.toString(),
                "--data-dir=" + folder.resolve("data"),
                "--listen-client-urls=" + clients,
                "--advertise-client-urls=" + clients,
                "--listen-peer-urls=" + peers,
                "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=default=" + peers);
        Daemon daemon = Daemon.start("etcd", folder, "KILL", command);
        return new Server.Running(clients, daemon.await(() -> version(clients)), daemon::close);
    }

    private static Map.Entry<String, String> version(String endpoints) {
        String first = Splitter.on(',').splitToList(endpoints).get(0);
        try (Client client = Client.builder().endpoints(first).build()) {
            return Map.entry(
                    "etcd",
                    client.getMaintenanceClient()
                            .statusMember(first)
                            .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                            .getVersion());
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("etcd doesn't answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for etcd", e);
        }
    }
}
