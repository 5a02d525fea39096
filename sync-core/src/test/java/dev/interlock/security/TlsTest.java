package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import com.google.common.base.Throwables;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.spring.boot.InterlockAutoConfiguration;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Sessions over TLS, as a user of the server's ACL; and to servers that aren't who they should be, none. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TlsTest {
    private static final String USER = "the_user:_a/b";
    private static final String PASSWORD = "p@ss:w/rd +%";
    private static final String ENCODED = "the_user%3A_a%2Fb:p%40ss%3Aw%2Frd%20+%25@";

    private static final String PASSWORD_OF_DEFAULT = "another";

    /** The bus has the port 10,000 above it. */
    private static final int HIGHEST_CLUSTER_PORT = 55_535;

    @TempDir
    static Path folder;

    private Certificate certificate;
    private Certificate another;
    private RedisServer server;
    private int port;

    @BeforeAll
    void launch() throws IOException, GeneralSecurityException, InterruptedException {
        certificate = Certificate.of("ip:127.0.0.1", Files.createDirectory(folder.resolve("server")));
        another = Certificate.of("ip:127.0.0.1", Files.createDirectory(folder.resolve("another")));
        port = freePort();
        server = launch(certificate, port);
        server.command("ACL", "SETUSER", USER, "on", ">" + PASSWORD, "~*", "&*", "+@all");
        server.command("CONFIG", "SET", "requirepass", PASSWORD_OF_DEFAULT);
    }

    static RedisServer launch(Certificate certificate, int port, String... more) {
        try {
            return RedisServer.launch(arguments(certificate, port, more));
        } catch (IllegalStateException e) {
            if (String.valueOf(e.getMessage()).contains("Bad directive")) {
                abort("This Redis was built without TLS");
            }
            throw e;
        }
    }

    private static String[] arguments(Certificate certificate, int port, String... more) {
        String[] arguments = {
            "--tls-port", Integer.toString(port),
            "--tls-cert-file", certificate.certificate().toString(),
            "--tls-key-file", certificate.key().toString(),
            "--tls-ca-cert-file", certificate.certificate().toString(),
            "--tls-auth-clients", "no"
        };
        return Stream.concat(Stream.of(arguments), Stream.of(more)).toArray(String[]::new);
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @AfterAll
    void shutDown() {
        server.close();
    }

    private String url(String credentials) {
        return "rediss://" + credentials + "127.0.0.1:" + port;
    }

    private void assertLocks(UnaryOperator<InterlockBuilder> settings) {
        InterlockBuilder builder = Interlock.builder().trustStore(certificate.trustStore(), Certificate.PASSWORD);
        try (Interlock one = settings.apply(builder).open();
                Interlock other = settings.apply(builder).open()) {
            DistributedReentrantLock lock = one.lock("encrypted");
            lock.lock();
            assertThat(other.lock("encrypted").tryLock()).isFalse();
            lock.unlock();
            other.lock("encrypted").lock();
            other.lock("encrypted").unlock();
        }
    }

    @Test
    void aSessionIsEncryptedAndSignedInByTheUri() {
        assertLocks(builder -> builder.uri(url(ENCODED)));
    }

    @Test
    void aSessionIsEncryptedAndSignedInByTheBuilder() {
        assertLocks(builder -> builder.uri(url("")).credentials(USER, PASSWORD));
        assertLocks(builder -> builder.uri(url("")).credentials("", PASSWORD_OF_DEFAULT));
    }

    @Test
    void aSessionOfSpringBootTrustsAnSslBundle() {
        String bundle = "spring.ssl.bundle.jks.redis.truststore.";
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, InterlockAutoConfiguration.class))
                .withPropertyValues(
                        bundle + "location=" + certificate.trustStore().toUri(),
                        bundle + "password=" + Certificate.PASSWORD,
                        bundle + "type=PKCS12",
                        "interlock.uri=" + url(""),
                        "interlock.username=" + USER,
                        "interlock.password=" + PASSWORD,
                        "interlock.ssl.bundle=redis")
                .run(context ->
                        assertThat(context.getBean(Interlock.class).ping()).isPositive());
    }

    @Test
    @Tag("proof")
    void sentinelsAndTheirMasterAreEncrypted() throws IOException {
        int first = freePort();
        String configuration = """
                sentinel monitor main 127.0.0.1 %d 1
                sentinel auth-pass main %s
                """.formatted(port, PASSWORD_OF_DEFAULT);
        try (RedisServer sentinel = RedisServer.launchConfigured(
                configuration, arguments(certificate, first, "--tls-replication", "yes", "--sentinel"))) {
            assertThat(sentinel.url()).startsWith("redis:");
            assertLocks(builder -> builder.uri("rediss-sentinel://" + ENCODED + "127.0.0.1:" + first + "/main"));
        }
    }

    @Test
    @Tag("proof")
    void aClusterIsEncrypted() throws IOException {
        int first = freePort();
        while (first > HIGHEST_CLUSTER_PORT) {
            first = freePort();
        }
        String address = "127.0.0.1:" + first;
        String[] settings = {"--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1", "--tls-cluster", "yes"};
        try (RedisServer node = launch(certificate, first, settings)) {
            Stream<String> slots = IntStream.range(0, 16_384).mapToObj(Integer::toString);
            node.command(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots).toArray(String[]::new));
            await("cluster")
                    .until(() -> String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:ok"));
            assertLocks(builder -> builder.uri("rediss-cluster://" + address));
        }
    }

    @Test
    @Tag("proof")
    void aCertificateThatNobodyTrustsIsRefused() {
        assertRefused(Interlock.builder());
        assertRefused(Interlock.builder().trustStore(another.trustStore(), Certificate.PASSWORD));
    }

    private void assertRefused(InterlockBuilder builder) {
        assertUntrusted(builder.uri(url("")).credentials("", PASSWORD_OF_DEFAULT), "127.0.0.1:" + port);
    }

    private static void assertUntrusted(InterlockBuilder builder, String address) {
        Throwable failure = catchThrowable(builder::open);
        assertThat(failure).isInstanceOf(RedisUnavailableException.class).hasMessageContaining(address);
        assertThat(Throwables.getCausalChain(failure)).hasAtLeastOneElementOfType(SSLHandshakeException.class);
    }

    /** One that is trusted, but made out to somebody else. */
    @Test
    @Tag("proof")
    void theCertificateOfAnotherHostIsRefused() throws IOException, GeneralSecurityException, InterruptedException {
        Certificate elsewhere =
                Certificate.of("dns:elsewhere.example.com", Files.createDirectory(folder.resolve("elsewhere")));
        int other = freePort();
        RedisServer impostor = launch(elsewhere, other);
        try (impostor) {
            assertUntrusted(
                    Interlock.builder()
                            .uri("rediss://127.0.0.1:" + other)
                            .trustStore(elsewhere.trustStore(), Certificate.PASSWORD),
                    "127.0.0.1:" + other);
        }
    }

    /** A Redis without TLS waits in silence for what would follow the handshake. */
    @Test
    void aPortWithoutTlsIsTold() {
        List<String> uris = List.of(
                "rediss://:" + PASSWORD_OF_DEFAULT + "@127.0.0.1:" + server.port(),
                "rediss-sentinel://127.0.0.1:" + server.port() + "/main",
                "rediss-cluster://127.0.0.1:" + server.port());
        assertThat(uris).allSatisfy(uri -> {
            InterlockBuilder builder = Interlock.builder().commandTimeout(Duration.ofSeconds(1));
            long start = System.nanoTime();
            Throwable failure = catchThrowable(() -> builder.uri(uri).open());
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            assertThat(failure)
                    .isInstanceOf(RedisUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + server.port())
                    .hasMessageContaining("doesn't answer a TLS handshake")
                    .hasMessageContaining("redis://");
            assertThat(Throwables.getStackTraceAsString(failure)).doesNotContain(PASSWORD_OF_DEFAULT);
            assertThat(took).isLessThan(Duration.ofSeconds(20)); // Redisson would try for a minute
        });
    }

    @Test
    void badTrustStoresAreRefused() throws IOException {
        Path empty = Files.createFile(folder.resolve("empty"));
        for (Path bad : new Path[] {empty, folder.resolve("missing"), folder, certificate.certificate()}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Interlock.builder().trustStore(bad, "x"))
                    .withMessageContaining("file")
                    .withMessageContaining(bad.toString());
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interlock.builder().trustStore(certificate.trustStore(), "wr0ng"))
                .withMessageContaining("password")
                .satisfies(refusal ->
                        assertThat(Throwables.getStackTraceAsString(refusal)).doesNotContain("wr0ng"));
    }

    /** It would have no effect: users could take a connection for what it isn't. */
    @Test
    void trustStoreWithoutTlsIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interlock.builder()
                        .uri("redis://127.0.0.1:1")
                        .trustStore(certificate.trustStore(), Certificate.PASSWORD)
                        .open())
                .withMessageContaining("rediss://");
    }
}
