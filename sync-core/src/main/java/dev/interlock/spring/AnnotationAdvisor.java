package dev.interlock.spring;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Map;
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
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

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
    private final Map<Method, Rule> rules = new ConcurrentHashMap<>();

    AnnotationAdvisor(Class<A> type, int order, ConfigurableBeanFactory beans, Reader<A> reader) {
        this.type = type;
        this.order = order;
        this.beans = beans;
        this.reader = reader;
        setClassFilter(candidate -> AnnotationUtils.isCandidateClass(candidate, type));
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return rule(AopUtils.getMostSpecificMethod(method, targetClass)) != null;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) {
        Object bean = call.getThis();
        Method method = bean == null
                ? call.getMethod()
                : AopUtils.getMostSpecificMethod(call.getMethod(), AopUtils.getTargetClass(bean));
        Rule rule = rule(method);
        return rule == null ? proceed(call) : rule.around(call);
    }

    private @Nullable Rule rule(Method method) {
        Rule known = rules.get(method);
        if (known != null) {
            return known;
        }
        A annotation = AnnotatedElementUtils.findMergedAnnotation(method, type);
        return annotation == null
                ? null
                : rules.computeIfAbsent(
                        method, absent -> reader.read(annotation, new AnnotatedMethod(type, absent, beans)));
    }

    /** Runs the method itself, and throws what it throws. */
    static @Nullable Object proceed(MethodInvocation call) {
        return AnnotationAdvisor.<RuntimeException>unchecked(call);
    }

    // The caller of the method knows its checked exceptions; nobody between the two does.
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> @Nullable Object unchecked(MethodInvocation call) throws E {
        try {
            return call.proceed();
        } catch (Throwable e) {
            throw (E) e;
        }
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
