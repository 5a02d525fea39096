package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/**
 * Closes the session when all other beans are destroyed, since what they do then may need a lock. Spring destroys beans
 * in the order opposite to that in which they were made, and a method that needs the session by its annotation doesn't
 * make its bean depend on it. So the session's own bean isn't destroyed; this one is, which is made before the others.
 * It depends on the application's Redisson clients, so that none is shut down before the session has given all back.
 */
final class SessionEnd implements BeanFactoryPostProcessor, BeanNameAware, DisposableBean {
    private @Nullable ConfigurableListableBeanFactory beans;
    private String session = "";
    private String name = "";

    @Override
    public void setBeanName(String beanName) {
        name = beanName;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
        String[] names = factory.getBeanNamesForType(Interlock.class, true, false);
        if (names.length == 1
                && factory.containsBeanDefinition(names[0])
                && factory.getBeanDefinition(names[0]) instanceof AbstractBeanDefinition definition
                && isClosed(definition.getDestroyMethodName())) {
            definition.setDestroyMethodName("");
            session = names[0];
            beans = factory;
            for (String client : factory.getBeanNamesForType(RedissonClient.class, true, false)) {
                factory.registerDependentBean(client, name);
            }
        }
    }

    private static boolean isClosed(@Nullable String destroyMethod) {
        return destroyMethod == null
                || destroyMethod.equals(AbstractBeanDefinition.INFER_METHOD)
                || destroyMethod.equals("close");
    }

    @Override
    public void destroy() {
        if (beans != null && beans.getSingleton(session) instanceof Interlock interlock) {
            interlock.close();
        }
    }
}
