package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import java.time.Duration;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

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
            "org.redisson.spring.starter.RedissonAutoConfiguration",
            "org.redisson.spring.starter.RedissonAutoConfigurationV2",
            "org.redisson.spring.starter.RedissonAutoConfigurationV4"
        })
@EnableConfigurationProperties(InterlockProperties.class)
public final class InterlockAutoConfiguration {
    private static final Duration MOST_AWAIT = Duration.ofDays(365);

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DataRedisConnectionDetails.class)
    static class BootRedis {
        @Bean
        @ConditionalOnSingleCandidate(DataRedisConnectionDetails.class)
        RedisAddress interlockRedisAddress(DataRedisConnectionDetails details) {
            return RedisAddress.of(details);
        }
    }

    /** Nothing of this is there where an application only happens to have the library on its class path. */
    static final class RedisIsNamed extends AnyNestedCondition {
        RedisIsNamed() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty("interlock.uri")
        static class ByProperty {}

        @ConditionalOnSingleCandidate(RedissonClient.class)
        static class ByClient {}

        @ConditionalOnBean(RedisAddress.class)
        static class ByBoot {}
    }

    @Bean
    @ConditionalOnMissingBean
    @Conditional(RedisIsNamed.class)
    Interlock interlock(
            InterlockProperties properties,
            ObjectProvider<RedissonClient> client,
            ObjectProvider<RedisAddress> address,
            ObjectProvider<SslBundles> bundles,
            ObjectProvider<InterlockBuilderCustomizer> customizers) {
        InterlockBuilder builder = new SessionOpening(properties)
                .builder(client.getIfUnique(), address.getIfAvailable(), bundles.getIfAvailable());
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
