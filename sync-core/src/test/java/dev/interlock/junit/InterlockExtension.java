package dev.interlock.junit;

import dev.interlock.Interlock;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/** Resolves the parameters of an {@link InterlockTest}. What it has opened is closed with the test's context. */
final class InterlockExtension implements ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(InterlockExtension.class);

    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Interlock.class || type == InterlockFaults.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        InterlockFaults test = test(context);
        if (parameter.getParameter().getType() == InterlockFaults.class) {
            return test;
        }
        int number = parameter
                .findAnnotation(OtherSession.class)
                .map(OtherSession::value)
                .orElse(InterlockFaults.FIRST);
        return test.session(number);
    }

    // By what JUnit 5 has as well, which Spring Boot 3.5 brings.
    private static InterlockFaults test(ExtensionContext context) {
        ExtensionContext.Store store = context.getStore(NAMESPACE);
        Opened opened = store.get(Opened.class, Opened.class);
        if (opened == null) {
            opened = new Opened(open(context));
            store.put(Opened.class, opened);
        }
        return opened.test();
    }

    private static InterlockFaults open(ExtensionContext context) {
        InterlockTest settings = AnnotationSupport.findAnnotation(context.getElement(), InterlockTest.class)
                .or(() -> AnnotationSupport.findAnnotation(context.getRequiredTestClass(), InterlockTest.class))
                .orElseThrow(() -> new ParameterResolutionException("Neither test nor class is an @InterlockTest"));
        return new InterlockFaults(ReflectionSupport.newInstance(settings.settings()));
    }

    /** Closed with the store: before JUnit 5.13 as a {@code CloseableResource}, later because it can be closed. */
    @SuppressWarnings("deprecation")
    private record Opened(InterlockFaults test) implements ExtensionContext.Store.CloseableResource, AutoCloseable {
        @Override
        public void close() {
            test.close();
        }
    }
}
