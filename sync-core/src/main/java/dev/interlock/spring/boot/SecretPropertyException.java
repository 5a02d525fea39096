package dev.interlock.spring.boot;

import java.io.Serial;

/**
 * A property that may hold a credential is wrong. Neither this nor a cause of it holds the value, in contrast to what
 * Spring throws.
 */
final class SecretPropertyException extends IllegalStateException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String property;
    private final String reason;

    SecretPropertyException(String property, String reason) {
        super("Property " + property + " is wrong: " + reason);
        this.property = property;
        this.reason = reason;
    }

    String property() {
        return property;
    }

    String reason() {
        return reason;
    }
}
