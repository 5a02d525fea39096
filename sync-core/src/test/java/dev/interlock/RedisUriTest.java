package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.google.common.base.Throwables;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;

/** What a URI makes of a client's configuration, and what is said of a URI that isn't understood. */
class RedisUriTest {
    private static Config config(String uri) {
        return RedisUri.parse(uri).config(new Config(), 1234, "session", false);
    }

    @ParameterizedTest
    @CsvSource({
        "redis://host, redis://host:6379, 0",
        "redis://host/, redis://host:6379, 0",
        "redis://host/3, redis://host:6379, 3",
        "redis://host:7000/15, redis://host:7000, 15",
        "redis://:secret@host, redis://host:6379, 0",
        "rediss://10.0.0.1, rediss://10.0.0.1:6379, 0",
        "valkey://host, valkey://host:6379, 0",
        "valkeys://host:1/2, valkeys://host:1, 2",
        "redis://[::1], redis://[::1]:6379, 0",
        "redis://[fe80::2]:65535/1, redis://[fe80::2]:65535, 1"
    })
    void aServerHasAPortAndADatabase(String uri, String address, int database) {
        Config config = config(uri);
        assertThat(config.isSingleConfig()).isTrue();
        SingleServerConfig server = config.useSingleServer();
        assertThat(server.getAddress()).isEqualTo(address);
        assertThat(server.getDatabase()).isEqualTo(database);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "redis-sentinel://a,b:1/main redis://a:26379,redis://b:1 main 0",
                "redis-sentinel://a/main/ redis://a:26379 main 0",
                "redis-sentinel://:secret@a,b,c/main/7 redis://a:26379,redis://b:26379,redis://c:26379 main 7",
                "rediss-sentinel://a:2,[::1]/the%2Fmaster%40home rediss://a:2,rediss://[::1]:26379 the/master@home 0",
                "valkey-sentinel://a/main valkey://a:26379 main 0"
            })
    void sentinelsHaveAMaster(String uri, String addresses, String master, int database) {
        SentinelServersConfig sentinels = config(uri).useSentinelServers();
        assertThat(sentinels.getSentinelAddresses()).containsExactly(addresses.split(","));
        assertThat(sentinels.getMasterName()).isEqualTo(master);
        assertThat(sentinels.getDatabase()).isEqualTo(database);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "redis-cluster://a redis://a:6379",
                "redis-cluster://user:secret@a:7000,b,c/ redis://a:7000,redis://b:6379,redis://c:6379",
                "rediss-cluster://a,b:1 rediss://a:6379,rediss://b:1",
                "valkeys-cluster://a valkeys://a:6379"
            })
    void aClusterHasNodes(String uri, String addresses) {
        Config config = config(uri);
        assertThat(config.isClusterConfig()).isTrue();
        assertThat(config.useClusterServers().getNodeAddresses()).containsExactly(addresses.split(","));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"redis://%s@host", "redis-sentinel://%s@host,other/main", "rediss-cluster://%s@host,other:1"})
    void credentialsAreDecoded(String uri) {
        Config config = config(String.format(uri, "the%3Auser:p%40ss%3Aw%2Frd%20+%25%C3%A9"));
        assertThat(config.getUsername()).isEqualTo("the:user");
        assertThat(config.getPassword()).isEqualTo("p@ss:w/rd +%é");
        assertThat(config(String.format(uri, ":pass")).getUsername()).isNull();
        assertThat(config(String.format(uri, ":pass")).getPassword()).isEqualTo("pass");
        assertThat(RedisUri.parse(String.format(uri, "pass")).hasCredentials()).isTrue();
        assertThat(RedisUri.parse(uri.replace("%s@", "")).hasCredentials()).isFalse();
    }

    @Test
    void onlyTlsIsEncrypted() {
        assertThat(List.of("redis://a", "valkey://a", "redis-sentinel://a/b", "redis-cluster://a"))
                .noneMatch(uri -> RedisUri.parse(uri).isEncrypted());
        assertThat(List.of("rediss://a", "valkeys://a", "rediss-sentinel://a/b", "valkeys-cluster://a"))
                .allMatch(uri -> RedisUri.parse(uri).isEncrypted());
    }

    /** Credentials that were stated apart, and sentinels that ask for them as well. */
    @Test
    void credentialsOfTheBuilderAreKept() {
        Config access = new Config().setUsername("user").setPassword("secret");
        Config config = RedisUri.parse("redis-sentinel://host/main").config(access, 1000, "session", false);
        assertThat(config.getUsername()).isEqualTo("user");
        assertThat(config.getPassword()).isEqualTo("secret");
        assertThat(config.useSentinelServers().getSentinelUsername()).isEqualTo("user");
    }

    @Test
    void allFormsHaveTheSameSettings() {
        assertSettings(config("redis://host").useSingleServer());
        assertSettings(config("redis-sentinel://host/main").useSentinelServers());
        assertSettings(config("redis-cluster://host").useClusterServers());
        assertThat(config("redis-cluster://host").getNettyThreads())
                .isEqualTo(config("redis://host").getNettyThreads());
    }

    private static void assertSettings(BaseConfig<?> servers) {
        assertThat(servers.getConnectTimeout()).isEqualTo(1234);
        assertThat(servers.getPingConnectionInterval()).isEqualTo(10_000);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "host:6379 | must begin with redis://",
                "http://host | must begin with redis://",
                "redis-replica://host | must begin with redis://",
                "redis:// | Expected authority",
                "redis:///0 | host is missing",
                "redis://:6379 | hostname",
                "redis://host: | a port is missing after its colon",
                "redis://host:0 | a port must be from 1 to 65535",
                "redis://host:65536 | a port must be from 1 to 65535",
                "redis://host:port | port",
                "redis://my_host | hostname",
                "redis://host/x | the database must be a number",
                "redis://host//1 | the database must be a number",
                "redis://host/1/2 | nothing may follow the database",
                "redis://host?database=1 | neither a query nor a fragment",
                "redis://host#1 | neither a query nor a fragment",
                "redis://a,b | only the schemes of sentinels and clusters take more than one host",
                "redis-sentinel://a,b | the master's name is missing",
                "redis-sentinel://a,b/ | the master's name is missing",
                "redis-sentinel://a,b//1 | the master's name is missing",
                "redis-sentinel://a,b/main/x | the database must be a number",
                "redis-sentinel://a,b/main/1/2 | nothing may follow the database",
                "redis-sentinel://a,,b/main | host",
                "redis-cluster://a,b:0 | a port must be from 1 to 65535",
                "redis-cluster://a,b/1 | a cluster has no databases",
                "redis-cluster://a,b?x | neither a query nor a fragment",
                "redis-socket:///run/redis.sock | unix socket only with Netty's native epoll or kqueue transport"
            })
    void whatIsWrongIsSaid(String uri, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisUri.parse(uri))
                .satisfies(refusal -> assertThat(
                                String.valueOf(refusal.getMessage()).lines().findFirst())
                        .hasValueSatisfying(
                                line -> assertThat(line).startsWith("uri '").contains("isn't understood: ", reason)));
    }

    /** Nobody can tell which part of a URI that isn't understood is a password. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://app:s3cret",
                "redis://:s3cret%40host:6379",
                "redis://app:s3cret@host:port",
                "redis://app:p@s3cret:x",
                "redis://app:s3cret@host/db",
                "redis://host/s3cret",
                "redis://host?password=s3cret",
                "redis://host#s3cret",
                "redis://app:s3cret host:6379",
                "redis://app:s3cret/host:6379",
                "redis://app:987654",
                "redis-sentinel://app:s3cret@a,b",
                "redis-cluster://app:s3cret,a",
                "app:s3cret@host:6379",
                "http://app:s3cret@host",
                "s3cret",
                "redis:s3cret@host",
                "redis-socket://s3cret",
                "redis://[s3cret"
            })
    void nothingIsShownOfOneThatIsntUnderstood(String uri) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisUri.parse(uri))
                .satisfies(refusal -> assertThat(Throwables.getStackTraceAsString(refusal))
                        .doesNotContain("s3cret", "987654")
                        .contains("isn't understood: "));
    }
}
