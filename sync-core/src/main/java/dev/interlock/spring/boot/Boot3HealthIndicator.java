package dev.interlock.spring.boot;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * {@link InterlockHealthIndicator} for Boot 3.5, whose types for health are in other packages than those of Boot 4,
 * with which this is compiled.
 */
record Boot3HealthIndicator(Supplier<Interlock> interlock) implements InvocationHandler {
    private static final String HEALTH = "org.springframework.boot.actuate.health.Health";
    static final String TYPE = HEALTH + "Indicator";

    private static final String BEAN = "interlockHealthIndicator";

    /** As Boot's annotation for that. */
    static final class IsEnabled implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            boolean defaults = environment.getProperty("management.health.defaults.enabled", Boolean.class, true);
            return environment.getProperty("management.health.interlock.enabled", Boolean.class, defaults);
        }
    }

    /** Registers it, unless the application has one of its own. */
    static final class Registrar implements ImportBeanDefinitionRegistrar {
        private final BeanFactory beans;

        Registrar(BeanFactory beans) {
            this.beans = beans;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            if (!registry.containsBeanDefinition(BEAN)) {
                register(type(TYPE), registry);
            }
        }

        private <T> void register(Class<T> type, BeanDefinitionRegistry registry) {
            Supplier<Interlock> session = () -> beans.getBean(Interlock.class);
            registry.registerBeanDefinition(
                    BEAN,
                    new RootBeanDefinition(
                            type,
                            () -> type.cast(Proxy.newProxyInstance(
                                    type.getClassLoader(), new Class<?>[] {type}, new Boot3HealthIndicator(session)))));
        }
    }

    private static Class<?> type(String name) {
        return ClassUtils.resolveClassName(name, ClassUtils.getDefaultClassLoader());
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) {
        Object argument = arguments == null ? null : arguments[0];
        return switch (method.getName()) {
            case "health" -> health(true);
            case "getHealth" -> health(Boolean.TRUE.equals(argument));
            case "equals" -> proxy == argument;
            case "hashCode" -> System.identityHashCode(proxy);
            default -> BEAN;
        };
    }

    private Object health(boolean detailed) {
        Class<?> health = type(HEALTH);
        Interlock session = interlock.get();
        try {
            String roundTrip = session.ping().toString();
            Object up = call(health, "up", null);
            return built(up, detailed, Map.of("session", session.sessionName(), "roundTrip", roundTrip));
        } catch (RuntimeException e) {
            Object down = detailed ? call(health, "down", null, e) : call(health, "down", null);
            return built(down, detailed, Map.of("session", session.sessionName()));
        }
    }

    private static Object built(Object builder, boolean detailed, Map<String, String> details) {
        Class<?> type = builder.getClass();
        return call(type, "build", detailed ? call(type, "withDetails", builder, details) : builder);
    }

    private static Object call(Class<?> type, String name, @Nullable Object target, Object... arguments) {
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                return requireNonNull(ReflectionUtils.invokeMethod(method, target, arguments));
            }
        }
        throw new IllegalStateException(type.getName() + " has no method " + name);
    }
}
