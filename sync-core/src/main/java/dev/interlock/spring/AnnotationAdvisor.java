package dev.interlock.spring;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Surrounds the calls of methods with one annotation. It reads an annotation once, when the bean is created, so that a
 * wrong one is an error then.
 */
final class AnnotationAdvisor<A extends Annotation> extends StaticMethodMatcherPointcut
        implements PointcutAdvisor, MethodInterceptor, Ordered {

    /** What surrounds the calls of one method. */
    @FunctionalInterface
    interface Rule {
        @Nullable
        Object around(MethodInvocation call);
    }

    /** Makes the rule of a method of its annotation. */
    @FunctionalInterface
    interface Reader<A> {
        Rule read(A annotation, AnnotatedMethod method);
    }

    private final Class<A> type;
    private final int order;
    private final ConfigurableBeanFactory beans;
    private final Reader<A> reader;
    private final Map<MethodClassKey, Rule> rules = new ConcurrentHashMap<>();

    /** The classes whose methods have all been looked at. */
    private final Set<Class<?>> read = ConcurrentHashMap.newKeySet();

    AnnotationAdvisor(Class<A> type, int order, ConfigurableBeanFactory beans, Reader<A> reader) {
        this.type = type;
        this.order = order;
        this.beans = beans;
        this.reader = reader;
        setClassFilter(candidate -> AnnotationUtils.isCandidateClass(candidate, type));
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        Class<?> bean = ClassUtils.getUserClass(targetClass);
        // Spring doesn't ask for methods that no proxy intercepts, and of a bean that gets a proxy not for all others.
        if (read.add(bean)) {
            try {
                readAll(bean);
            } catch (RuntimeException e) {
                read.remove(bean);
                throw e;
            }
        }
        return rule(method, bean) != null;
    }

    private void readAll(Class<?> bean) {
        Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(bean));
        if (!Proxy.isProxyClass(bean)) {
            types.add(bean);
        }
        for (Class<?> each : types) {
            for (Method method : ReflectionUtils.getAllDeclaredMethods(each)) {
                if (!method.isSynthetic()) {
                    rule(method, bean);
                }
            }
        }
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) {
        Object target = call.getThis();
        Class<?> bean = target == null
                ? call.getMethod().getDeclaringClass()
                : ClassUtils.getUserClass(AopUtils.getTargetClass(target));
        Rule rule = rule(call.getMethod(), bean);
        return rule == null ? proceed(call) : rule.around(call);
    }

    private @Nullable Rule rule(Method called, Class<?> bean) {
        // All methods of a bean that is a proxy by itself are final.
        Method method = Proxy.isProxyClass(bean) ? called : AopUtils.getMostSpecificMethod(called, bean);
        var key = new MethodClassKey(method, bean);
        Rule known = rules.get(key);
        if (known != null) {
            return known;
        }
        A annotation = annotation(method);
        return annotation == null
                ? null
                : rules.computeIfAbsent(
                        key,
                        absent -> reader.read(
                                annotation, new AnnotatedMethod(type, method, bean, beans).checkInterceptable()));
    }

    /** Returns the annotation of the method, or else of the class that declares it, by the rules of transactions. */
    private @Nullable A annotation(Method method) {
        A own = AnnotatedElementUtils.findMergedAnnotation(method, type);
        int modifiers = method.getModifiers();
        boolean isOfAll = Modifier.isPublic(modifiers)
                && !Modifier.isStatic(modifiers)
                && method.getDeclaringClass() != Object.class
                && !ReflectionUtils.isObjectMethod(method);
        return own == null && isOfAll
                ? AnnotatedElementUtils.findMergedAnnotation(method.getDeclaringClass(), type)
                : own;
    }

    /** Runs the method itself, and throws what it throws. */
    static @Nullable Object proceed(MethodInvocation call) {
        try {
            return call.proceed();
        } catch (Throwable e) {
            throw AnnotationAdvisor.<RuntimeException>unchecked(e);
        }
    }

    // The caller of the method knows its checked exceptions; nobody between the two does.
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    static <E extends Throwable> E unchecked(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @Override
    public Pointcut getPointcut() {
        return this;
    }

    @Override
    public Advice getAdvice() {
        return this;
    }

    @Override
    public int getOrder() {
        return order;
    }
}
