package dev.interlock.spring.boot;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Tells which property is wrong, why, and where it is set; before Boot's own analyzers, which print the value. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class SecretPropertyFailureAnalyzer extends AbstractFailureAnalyzer<SecretPropertyException> {
    private final Environment environment;

    SecretPropertyFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable root, SecretPropertyException cause) {
        return new FailureAnalysis(
                "The value of the property '" + cause.property() + "'" + origin(cause.property()) + " is wrong: "
                        + cause.reason() + ". It isn't shown, since it may hold a password.",
                "Correct the value of that property.",
                cause);
    }

    private String origin(String property) {
        ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            ConfigurationProperty found = source.getConfigurationProperty(name);
            if (found != null && found.getOrigin() != null) {
                return " (from " + found.getOrigin() + ")";
            }
        }
        return "";
    }
}
