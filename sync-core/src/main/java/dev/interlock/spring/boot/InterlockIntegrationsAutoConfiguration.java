package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import dev.interlock.micrometer.InterlockMetrics;
import dev.interlock.spring.InterlockAnnotationsConfiguration;
import dev.interlock.spring.InterlockLockProvider;
import dev.interlock.spring.InterlockLockRegistry;
import dev.interlock.spring.RateLimitAdvice;
import io.micrometer.core.instrument.binder.MeterBinder;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.aop.Advisor;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Joins the session to what else an application has: a nested class for each, which is there only if that is on the
 * class path.
 */
@AutoConfiguration(after = InterlockAutoConfiguration.class)
public final class InterlockIntegrationsAutoConfiguration {

    /** Also without a session: a method mustn't run without the lock that its annotation wants. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Advisor.class)
    @Import(InterlockAnnotationsConfiguration.class)
    static class Annotations {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RestControllerAdvice.class)
    @ConditionalOnWebApplication
    static class Web {
        @Bean
        RateLimitAdvice interlockRateLimitAdvice() {
            return new RateLimitAdvice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    @ConditionalOnSingleCandidate(Interlock.class)
    @ConditionalOnEnabledHealthIndicator("interlock")
    static class HealthCheck {
        @Bean
        @ConditionalOnMissingBean(name = "interlockHealthIndicator")
        InterlockHealthIndicator interlockHealthIndicator(Interlock interlock) {
            return new InterlockHealthIndicator(interlock);
        }
    }

    /** The same for Boot 3.5. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                Boot3HealthIndicator.TYPE,
                "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
            })
    @ConditionalOnSingleCandidate(Interlock.class)
    @Conditional(Boot3HealthIndicator.IsEnabled.class)
    @Import(Boot3HealthIndicator.Registrar.class)
    static class Boot3HealthCheck {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
    @ConditionalOnSingleCandidate(Interlock.class)
    @ConditionalOnAvailableEndpoint(InterlockEndpoint.class)
    static class Actuator {
        @Bean
        InterlockEndpoint interlockEndpoint(Interlock interlock) {
            return new InterlockEndpoint(interlock);
        }
    }

    /** Boot binds each {@link MeterBinder} to its registries. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterBinder.class)
    @ConditionalOnSingleCandidate(Interlock.class)
    static class Meters {
        @Bean
        @ConditionalOnMissingBean
        InterlockMetrics interlockMetrics(Interlock interlock) {
            return new InterlockMetrics(interlock);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LockRegistry.class)
    @ConditionalOnSingleCandidate(Interlock.class)
    static class SpringIntegration {
        @Bean
        @ConditionalOnMissingBean(LockRegistry.class)
        InterlockLockRegistry interlockLockRegistry(Interlock interlock) {
            return new InterlockLockRegistry(interlock, "integration:");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LockProvider.class)
    @ConditionalOnSingleCandidate(Interlock.class)
    static class ShedLock {
        @Bean
        @ConditionalOnMissingBean(LockProvider.class)
        InterlockLockProvider interlockLockProvider(Interlock interlock) {
            return new InterlockLockProvider(interlock);
        }
    }
}
