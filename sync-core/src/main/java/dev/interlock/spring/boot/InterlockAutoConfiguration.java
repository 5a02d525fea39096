package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import java.time.Duration;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Opens the session of an application with Spring Boot, and closes it. The session uses the application's bean of type
 * {@link RedissonClient} if there is one; else a service connection of Boot's module for Redis, then
 * {@code interlock.uri}, then {@code spring.data.redis.*}. An application that has an {@link Interlock} bean keeps it.
 *
 * @see InterlockProperties
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.redisson.spring.starter.RedissonAutoConfiguration",
            "org.redisson.spring.starter.RedissonAutoConfigurationV2",
            "org.redisson.spring.starter.RedissonAutoConfigurationV4"
        })
@EnableConfigurationProperties(InterlockProperties.class)
public final class InterlockAutoConfiguration {
    private static final Duration MOST_AWAIT = Duration.ofDays(365);

    @Bean
    static SecretProperties interlockSecretProperties() {
        return new SecretProperties();
    }

    @Bean
    static SessionEnd interlockSessionEnd() {
        return new SessionEnd();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSingleCandidate(type = BootRedis.DETAILS)
    static class RedisOfBoot {
        @Bean
        BootRedis interlockBootRedis(BeanFactory beans) {
            return new BootRedis(beans.getBean(type(BootRedis.DETAILS)));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSingleCandidate(type = BootRedis.DETAILS_OF_BOOT_3)
    static class RedisOfBoot3 {
        @Bean
        BootRedis interlockBootRedis(BeanFactory beans) {
            return new BootRedis(beans.getBean(type(BootRedis.DETAILS_OF_BOOT_3)));
        }
    }

    private static Class<?> type(String name) {
        return ClassUtils.resolveClassName(name, ClassUtils.getDefaultClassLoader());
    }

    /** Whether the property is there. In contrast to Boot's condition, an error that it doesn't have shows no value. */
    static final class UriIsSet implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return context.getEnvironment().containsProperty(SecretProperties.URI);
        }
    }

    /** Nothing of this is there where an application only happens to have the library on its class path. */
    static final class RedisIsNamed extends AnyNestedCondition {
        RedisIsNamed() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @Conditional(UriIsSet.class)
        static class ByProperty {}

        @ConditionalOnSingleCandidate(RedissonClient.class)
        static class ByClient {}

        @ConditionalOnBean(BootRedis.class)
        static class ByBoot {}
    }

    @Bean
    @ConditionalOnMissingBean
    @Conditional(RedisIsNamed.class)
    Interlock interlock(
            InterlockProperties properties,
            ObjectProvider<RedissonClient> client,
            ObjectProvider<BootRedis> boot,
            ObjectProvider<SslBundles> bundles,
            ObjectProvider<InterlockBuilderCustomizer> customizers) {
        InterlockBuilder builder = new SessionOpening(properties)
                .builder(client.getIfUnique(), boot.getIfAvailable(), bundles.getIfAvailable());
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return builder.open();
    }

    @Bean
    @ConditionalOnSingleCandidate(Interlock.class)
    InterlockLifecycle interlockLifecycle(Interlock interlock, InterlockProperties properties) {
        Duration await = properties.shutdown().await();
        if (await.isNegative() || await.compareTo(MOST_AWAIT) > 0) {
            throw new InvalidConfigurationPropertyValueException(
                    "interlock.shutdown.await", await, "it must be from 0 to 365 days");
        }
        return new InterlockLifecycle(interlock, await);
    }
}
