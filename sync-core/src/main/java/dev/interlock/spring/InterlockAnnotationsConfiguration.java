package dev.interlock.spring;

import dev.interlock.Interlock;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Enables {@link Locked}, {@link RateLimited}, {@link Permitted} and {@link Once}. Spring Boot does that by itself; an
 * application without it imports this class, and has a bean of type {@link Interlock}.
 */
@Configuration(proxyBeanMethods = false)
@Import(InterlockAnnotationsConfiguration.Proxies.class)
public class InterlockAnnotationsConfiguration {

    /** Makes the proxies of beans, also where nothing else needs any. */
    static final class Proxies implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }

    // Advisors are made before all other beans, so they are static, and ask for the session when they need it.

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Rules interlockRules(ObjectProvider<Interlock> interlock) {
        return new Rules(interlock::getObject);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotationAdvisor<Locked> interlockLockedAdvisor(ConfigurableListableBeanFactory beans, Rules rules) {
        return new AnnotationAdvisor<>(Locked.class, Locked.ORDER, beans, rules::locked);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotationAdvisor<Once> interlockOnceAdvisor(ConfigurableListableBeanFactory beans, Rules rules) {
        return new AnnotationAdvisor<>(Once.class, Once.ORDER, beans, rules::once);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotationAdvisor<Permitted> interlockPermittedAdvisor(ConfigurableListableBeanFactory beans, Rules rules) {
        return new AnnotationAdvisor<>(Permitted.class, Permitted.ORDER, beans, rules::permitted);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static AnnotationAdvisor<RateLimited> interlockRateLimitedAdvisor(
            ConfigurableListableBeanFactory beans, Rules rules) {
        return new AnnotationAdvisor<>(RateLimited.class, RateLimited.ORDER, beans, rules::rateLimited);
    }
}
