package dev.interlock.benchmarks.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.instance.BuildInfoProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.util.DriverInfo;

class ServersTest {

    @TempDir
    Path folder;

    private final List<String> events = new ArrayList<>();

    private Servers servers(Supplier<Server> etcd) {
        return new Servers("redis://127.0.0.1:1", Map.of(Service.ETCD, etcd));
    }

    private Server running() {
        events.add("start");
        return new Server.Running("http://here", Map.entry("etcd", "3.0"), () -> events.add("end"));
    }

    @Test
    void serverIsStartedWhenItIsAskedForAndEndedWithTheOthers() {
        try (var servers = servers(this::running)) {
            assertThat(servers.absence(Service.REDIS)).isEmpty();
            assertThat(servers.absence(Service.NONE)).isEmpty();
            assertThat(events).isEmpty();
            assertThat(servers.versions()).doesNotContainKey("etcd");
            assertThat(servers.absence(Service.ETCD)).isEmpty();
            assertThat(servers.absence(Service.ETCD)).isEmpty();
            assertThat(events).containsExactly("start");
            assertThat(servers.versions()).containsEntry("etcd", "3.0");
            assertThat(servers.addresses().of(Service.ETCD)).isEqualTo("http://here");
        }
        assertThat(events).containsExactly("start", "end");
    }

    @Test
    void absentServerSaysWhyAndIsNotTriedAgain() {
        try (var servers = servers(() -> {
            events.add("try");
            throw new AbsentException("none is installed");
        })) {
            assertThat(servers.absence(Service.ETCD)).contains("none is installed");
            assertThat(servers.absence(Service.ETCD)).contains("none is installed");
            assertThat(events).containsExactly("try");
            assertThatThrownBy(() -> servers.addresses().of(Service.ETCD)).hasMessage("No ETCD in [REDIS]");
        }
    }

    @Test
    void serversThatAreNamedButDoNotAnswerAreAbsent() {
        assertThatThrownBy(() -> PostgreSql.start(Map.of("POSTGRES_URL", "jdbc:postgresql://127.0.0.1:1/none"), folder))
                .isInstanceOf(AbsentException.class)
                .hasMessageContaining("the PostgreSQL of POSTGRES_URL doesn't answer");
        assertThatThrownBy(() -> Etcd.start(Map.of("ETCD_ENDPOINTS", "http://127.0.0.1:1")))
                .isInstanceOf(AbsentException.class)
                .hasMessageContaining("the etcd of ETCD_ENDPOINTS doesn't answer");
    }

    @Test
    void serversThatAreNotInstalledAreAbsent() {
        assertThatThrownBy(() -> PostgreSql.start(Map.of(), folder))
                .isInstanceOf(AbsentException.class)
                .hasMessage(
                        "no PostgreSQL server is installed (apt-get install postgresql) and POSTGRES_URL isn't set");
        assertThatThrownBy(() -> Etcd.start(Map.of("PATH", folder.toString())))
                .isInstanceOf(AbsentException.class)
                .hasMessage("no etcd is installed (apt-get install etcd-server) and ETCD_ENDPOINTS isn't set");
    }

    /** It is found where each version has its folder, and that it can't be started is a reason, too. */
    @Test
    void serverThatFailsAtItsStartIsAbsent() throws IOException {
        Path programs = Files.createDirectories(folder.resolve("15").resolve("bin"));
        Path initdb = Files.writeString(programs.resolve("initdb"), "#!/bin/sh\necho no room left; exit 1\n");
        assertThat(initdb.toFile().setExecutable(true, false)).isTrue();
        assertThat(folder.toFile().setExecutable(true, false)).isTrue();
        assertThatThrownBy(() -> PostgreSql.start(Map.of(), folder))
                .isInstanceOf(AbsentException.class)
                .hasMessageStartingWith("PostgreSQL's initdb ");
    }

    @Test
    void addressesPassFromJvmToJvm() {
        var sent = Addresses.ofRedis("redis://:a=b@127.0.0.1:7000")
                .with(Service.POSTGRES, "jdbc:postgresql://127.0.0.1:5432/postgres?user=postgres");
        assertThat(Addresses.parse(sent.line())).isEqualTo(sent);
        assertThat(sent.of(Service.NONE)).isEmpty();
    }

    /** The build's versions are those of the classes that run. */
    @Test
    void versionsAreThoseOfTheLibraries() {
        try (var servers = servers(this::running)) {
            assertThat(servers.versions())
                    .allSatisfy((name, version) -> assertThat(version).matches("\\d+\\.\\d+.*"))
                    .containsEntry("Hazelcast", BuildInfoProvider.getBuildInfo().getVersion())
                    .containsEntry("PostgreSQL JDBC", DriverInfo.DRIVER_VERSION)
                    .containsKeys("Redisson", "Bucket4j", "Spring Integration", "Lettuce", "Curator", "jetcd");
        }
    }
}
