package dev.interlock.spring.boot;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** Keeps the value of a property that can't be bound, as for a placeholder without a value, out of the exception. */
final class SecretProperties implements ConfigurationPropertiesBindHandlerAdvisor {
    static final String URI = "interlock.uri";
    static final String USERNAME = "interlock.username";

    private static final Set<String> NAMES = Set.of(URI, USERNAME, "interlock.password");

    @Override
    public BindHandler apply(BindHandler others) {
        return new Handler(others);
    }

    private static final class Handler extends AbstractBindHandler {
        Handler(BindHandler others) {
            super(others);
        }

        @Override
        public @Nullable Object onFailure(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) {
            if (NAMES.contains(name.toString())) {
                throw new SecretPropertyException(
                        name.toString(),
                        "it can't be read (" + error.getClass().getSimpleName()
                                + "); does it have a placeholder whose property isn't set?");
            }
            return this.<RuntimeException>leftToOthers(name, target, context, error);
        }

        // What it throws is thrown on, checked or not.
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        private <E extends Exception> @Nullable Object leftToOthers(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) throws E {
            try {
                return super.onFailure(name, target, context, error);
            } catch (Exception e) {
                throw (E) e;
            }
        }
    }
}
