package dev.interlock.spring.boot;

import dev.interlock.Interlock;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/**
 * Closes the session when all other beans are destroyed, since what they do then may need a lock. Spring destroys beans
 * in the order opposite to that in which they were made, and a method that needs the session by its annotation doesn't
 * make its bean depend on it. So the session's own bean isn't destroyed; this one is, which is made before the others.
 */
final class SessionEnd implements BeanFactoryPostProcessor, DisposableBean {
    private @Nullable ConfigurableListableBeanFactory beans;
    private String name = "";

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
        String[] names = factory.getBeanNamesForType(Interlock.class, true, false);
        if (names.length == 1
                && factory.containsBeanDefinition(names[0])
                && factory.getBeanDefinition(names[0]) instanceof AbstractBeanDefinition definition
                && isClosed(definition.getDestroyMethodName())) {
            definition.setDestroyMethodName("");
            name = names[0];
            beans = factory;
        }
    }

    private static boolean isClosed(@Nullable String destroyMethod) {
        return destroyMethod == null
                || destroyMethod.equals(AbstractBeanDefinition.INFER_METHOD)
                || destroyMethod.equals("close");
    }

    @Override
    public void destroy() {
        if (beans != null && beans.getSingleton(name) instanceof Interlock session) {
            session.close();
        }
    }
}
