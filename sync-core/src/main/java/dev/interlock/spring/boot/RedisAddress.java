package dev.interlock.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** Where Redis is, as something else than our own properties says. */
record RedisAddress(
        String uri,
        @Nullable String username,
        @Nullable String password,
        @Nullable SslBundle bundle) {
    /** Without the credentials, for logs. */
    @Override
    public String toString() {
        return uri;
    }
}
