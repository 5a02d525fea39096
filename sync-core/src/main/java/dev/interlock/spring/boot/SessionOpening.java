package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Collections;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/** Opens the session as the properties say. */
final class SessionOpening {
    private static final Logger log = LoggerFactory.getLogger(SessionOpening.class);

    private final InterlockProperties properties;
    private final InterlockBuilder builder = Interlock.builder();

    SessionOpening(InterlockProperties properties) {
        this.properties = properties;
    }

    /** Returns the builder of a session with the one of these that comes first. */
    InterlockBuilder builder(@Nullable RedissonClient client, @Nullable BootRedis boot, @Nullable SslBundles bundles) {
        boolean named = properties.uri() != null;
        if (client != null) {
            tellUnused(named, "the bean of type RedissonClient");
            builder.client(client);
        } else if (boot != null && (boot.isService() || !named)) {
            tellUnused(named, "the service connection");
            RedisAddress address = boot.address();
            connect("spring.data.redis", address.uri(), address.username(), address.password(), address.bundle());
        } else {
            connect(
                    SecretProperties.URI,
                    properties.uri(),
                    properties.username(),
                    properties.password(),
                    bundle(bundles));
        }
        set("namespace", properties.namespace(), builder::namespace);
        set("session-name", properties.sessionName(), builder::sessionName);
        set("lease", properties.lease(), builder::lease);
        set("handoff-slice", properties.handoffSlice(), builder::handoffSlice);
        set("redis-timeout", properties.redisTimeout(), builder::redisTimeout);
        set("command-timeout", properties.commandTimeout(), builder::commandTimeout);
        set("open-timeout", properties.openTimeout(), builder::openTimeout);
        set("replica-acknowledgements", properties.replicaAcknowledgements(), builder::replicaAcknowledgements);
        set("transport", properties.transport(), builder::transport);
        if (properties.lazy()) {
            builder.lazy();
        }
        return builder;
    }

    private static void tellUnused(boolean named, String instead) {
        if (named) {
            log.warn("The session uses {}; interlock.uri and its credentials are not used", instead);
        }
    }

    private void connect(
            String source,
            @Nullable String uri,
            @Nullable String username,
            @Nullable String password,
            @Nullable SslBundle bundle) {
        try {
            if (uri != null) {
                builder.uri(uri);
            }
        } catch (IllegalArgumentException e) {
            throw new SecretPropertyException(source, String.valueOf(e.getMessage()));
        }
        if (username != null && (password == null || password.isEmpty())) {
            throw new SecretPropertyException(SecretProperties.USERNAME, "a user needs a password, interlock.password");
        }
        if (password != null && !password.isEmpty()) {
            builder.credentials(username == null ? "" : username, password);
        }
        if (bundle != null) {
            trust(bundle);
        }
    }

    private @Nullable SslBundle bundle(@Nullable SslBundles bundles) {
        String name = properties.ssl().bundle();
        if (name == null) {
            return null;
        }
        String uri = properties.uri();
        if (uri == null || !uri.matches("(redis|valkey)s.*")) {
            throw new InvalidConfigurationPropertyValueException(
                    "interlock.ssl.bundle", name, "certificates are for an interlock.uri that begins with rediss");
        }
        try {
            if (bundles != null) {
                return bundles.getBundle(name);
            }
        } catch (NoSuchSslBundleException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "interlock.ssl.bundle", name, "there is no SSL bundle of that name", e);
        }
        throw new InvalidConfigurationPropertyValueException(
                "interlock.ssl.bundle", name, "there are no SSL bundles in this application");
    }

    /** The builder reads certificates from a file, which is there only for that moment. */
    private void trust(SslBundle bundle) {
        if (bundle.getStores().getKeyStore() != null
                || bundle.getOptions().getCiphers() != null
                || bundle.getOptions().getEnabledProtocols() != null) {
            throw new IllegalStateException("The session takes nothing of an SSL bundle but its trust store; for a key"
                    + " store, ciphers and protocols define a bean of type RedissonClient, which is used instead");
        }
        KeyStore trusted = bundle.getStores().getTrustStore();
        if (trusted == null) {
            return; // what the JVM trusts
        }
        String password = UUID.randomUUID().toString();
        try {
            Path file = Files.createTempFile("interlock-trust", ".p12");
            try {
                store(trusted, file, password);
                builder.trustStore(file, password);
            } finally {
                Files.delete(file);
            }
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("The trust store of the SSL bundle can't be read: " + e.getMessage(), e);
        }
    }

    // Certificates only: the type of the store may be one that can't be written.
    private static void store(KeyStore trusted, Path file, String password)
            throws IOException, GeneralSecurityException {
        KeyStore copy = KeyStore.getInstance("PKCS12");
        copy.load(null, null);
        for (String alias : Collections.list(trusted.aliases())) {
            copy.setCertificateEntry(alias, trusted.getCertificate(alias));
        }
        try (OutputStream out = Files.newOutputStream(file)) {
            copy.store(out, password.toCharArray());
        }
    }

    /** A value that the builder refuses is an error of the property, which Boot shows with the place it comes from. */
    private static <T> void set(String property, @Nullable T value, Consumer<T> setter) {
        if (value == null) {
            return;
        }
        try {
            setter.accept(value);
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "interlock." + property, value, String.valueOf(e.getMessage()), e);
        }
    }
}
