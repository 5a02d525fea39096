package dev.interlock.benchmarks.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.Version;

/** A ZooKeeper in this JVM. */
final class ZooKeeper {

    private ZooKeeper() {}

    static Server start() {
        try {
            var server = new TestingServer();
            return new Server.Running(
                    server.getConnectString(), Map.entry("ZooKeeper", Version.getVersion()), () -> close(server));
        } catch (Exception e) { // Curator declares nothing narrower
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new AbsentException("ZooKeeper didn't start", e);
        }
    }

    private static void close(TestingServer server) {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
