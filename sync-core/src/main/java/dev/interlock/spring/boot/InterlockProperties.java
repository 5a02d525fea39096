package dev.interlock.spring.boot;

import dev.interlock.InterlockBuilder;
import dev.interlock.Transport;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code interlock.*}. One that is missing leaves the setting at the default of
 * {@link InterlockBuilder}.
 *
 * @param uri where Redis is, as in {@link InterlockBuilder#uri}
 * @param username the user of Redis' ACL, as in {@link InterlockBuilder#credentials}
 * @param password that user's password
 * @param ssl how to connect by TLS
 * @param namespace as in {@link InterlockBuilder#namespace}
 * @param sessionName as in {@link InterlockBuilder#sessionName}
 * @param lease as in {@link InterlockBuilder#lease}
 * @param handoffSlice as in {@link InterlockBuilder#handoffSlice}
 * @param redisTimeout as in {@link InterlockBuilder#redisTimeout}
 * @param commandTimeout as in {@link InterlockBuilder#commandTimeout}
 * @param openTimeout as in {@link InterlockBuilder#openTimeout}
 * @param replicaAcknowledgements as in {@link InterlockBuilder#replicaAcknowledgements}
 * @param transport as in {@link InterlockBuilder#transport}
 * @param lazy whether the application starts without Redis, as in {@link InterlockBuilder#lazy}
 * @param shutdown how the session is closed
 */
@ConfigurationProperties("interlock")
public record InterlockProperties(
        @Nullable String uri,
        @Nullable String username,
        @Nullable String password,
        @DefaultValue Ssl ssl,
        @Nullable String namespace,
        @Nullable String sessionName,
        @Nullable Duration lease,
        @Nullable Duration handoffSlice,
        @Nullable Duration redisTimeout,
        @Nullable Duration commandTimeout,
        @Nullable Duration openTimeout,
        @Nullable Integer replicaAcknowledgements,
        @Nullable Transport transport,
        @DefaultValue("false") boolean lazy,
        @DefaultValue Shutdown shutdown) {

    /**
     * The properties {@code interlock.ssl.*}.
     *
     * @param bundle the name of the SSL bundle with the certificates to trust
     */
    public record Ssl(@Nullable String bundle) {}

    /**
     * The properties {@code interlock.shutdown.*}.
     *
     * @param await for how long threads may finish what they do under locks, as in
     *     {@link dev.interlock.Interlock#close(Duration)}
     */
    public record Shutdown(@DefaultValue("10s") Duration await) {}

    /** Without the credentials, for logs. */
    @Override
    public String toString() {
        return "interlock.*";
    }
}
