package dev.interlock.spring;

import static java.util.Objects.requireNonNull;

import dev.interlock.spring.Guard.Grant;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Follows publishers, by Spring's adapters for them. Each subscription asks for a grant, runs the method when it is
 * there, and ends it when the method's publisher is done or the subscription is cancelled. Functions of Kotlin's that
 * suspend are such publishers to Spring's proxies. Needs Reactor.
 */
final class PublisherFollowing implements Following {
    private static final ReactiveAdapterRegistry ADAPTERS = ReactiveAdapterRegistry.getSharedInstance();

    private final AnnotatedMethod method;
    private final boolean checked;
    private final ReactiveAdapter adapter;

    private PublisherFollowing(AnnotatedMethod method, boolean checked, ReactiveAdapter adapter) {
        this.method = method;
        this.checked = checked;
        this.adapter = adapter;
    }

    /** Returns null if the declared type is no publisher, or can't be followed. */
    static @Nullable PublisherFollowing of(AnnotatedMethod method, boolean checked) {
        Class<?> type = method.result().toClass();
        ReactiveAdapter adapter = ADAPTERS.getAdapter(type);
        // Only exact matches, and only lazy types.
        return adapter != null
                        && adapter.getReactiveType() == type
                        && adapter.getDescriptor().isDeferred()
                ? new PublisherFollowing(method, checked, adapter)
                : null;
    }

    static PublisherFollowing ofSuspended(AnnotatedMethod method, boolean checked) {
        Class<?> publisher = method.isFlow() ? Flux.class : Mono.class;
        return new PublisherFollowing(method, checked, requireNonNull(ADAPTERS.getAdapter(publisher)));
    }

    @Override
    public Object run(MethodInvocation call, Guard guard) {
        Publisher<Object> guarded = subscriber -> subscribe(subscriber, call, guard);
        // Without Mono.from(), which cancels at the first element, as if the work were not done.
        return adapter.fromPublisher(adapter.isMultiValue() ? Flux.from(guarded) : Mono.fromDirect(guarded));
    }

    private void subscribe(Subscriber<? super Object> subscriber, MethodInvocation call, Guard guard) {
        CoreSubscriber<? super Object> core = Operators.toCoreSubscriber(subscriber);
        var run = new Run(core, call);
        core.onSubscribe(run);
        run.askedBy(guard.ask(run));
    }

    /**
     * One subscription. The grant ends when two things are over: the beginning, which calls the method and subscribes
     * to its publisher, and the work, which that publisher ends or a cancellation. So a cancellation doesn't end it
     * while the method is running.
     */
    private final class Run extends Operators.DeferredSubscription implements CoreSubscriber<Object>, Guard.Receiver {
        private final CoreSubscriber<? super Object> actual;
        private final MethodInvocation call;

        private final AtomicInteger parts = new AtomicInteger(2);
        private final AtomicBoolean isWorkOver = new AtomicBoolean();
        private volatile @Nullable Future<?> asked;

        private volatile @Nullable Grant grant;

        /** The element of a publisher of one, which is only passed on when nothing has been lost. */
        private volatile @Nullable Object value;

        private volatile @Nullable Throwable failure;

        Run(CoreSubscriber<? super Object> actual, MethodInvocation call) {
            this.actual = actual;
            this.call = call;
        }

        void askedBy(Future<?> request) {
            asked = request;
            if (isCancelled()) {
                request.cancel(false);
            }
        }

        @Override
        public void cancel() {
            super.cancel();
            Future<?> request = asked;
            if (request != null) {
                request.cancel(false);
            }
            endWork(null);
        }

        // ---- the grant

        @Override
        public void granted(Grant granted) {
            grant = granted;
            if (!isCancelled()) {
                try {
                    subscribeTo(method.present(Following.proceedAnywhere(call)));
                } catch (Throwable e) {
                    endWork(e);
                }
            }
            endPart();
        }

        private void subscribeTo(Object result) {
            Publisher<Object> work = adapter.toPublisher(result);
            work.subscribe(this);
        }

        @Override
        public void skipped() {
            value = adapter.isMultiValue() ? null : method.nothingInside();
            deliver(null);
        }

        @Override
        public void failed(Throwable refused) {
            deliver(refused);
        }

        // ---- the work

        @Override
        public void onSubscribe(Subscription work) {
            set(work);
        }

        @Override
        public void onNext(Object element) {
            if (adapter.isMultiValue()) {
                actual.onNext(element);
            } else {
                value = element;
            }
        }

        @Override
        public void onError(Throwable thrown) {
            endWork(thrown);
        }

        @Override
        public void onComplete() {
            endWork(checked ? method.refusalOf(value) : null);
        }

        private void endWork(@Nullable Throwable thrown) {
            if (!isWorkOver.getAndSet(true)) {
                failure = thrown;
                endPart();
            }
        }

        private void endPart() {
            if (parts.decrementAndGet() > 0) {
                return;
            }
            // Not before: the other part may have been the one that sets it.
            Grant granted = grant;
            if (granted != null) {
                granted.endLater()
                        .whenComplete((ended, loss) -> deliver(Guard.failureOf(failure, Guard.unwrapped(loss))));
            }
        }

        private void deliver(@Nullable Throwable thrown) {
            if (isCancelled()) {
                return;
            }
            Object element = value;
            if (thrown != null) {
                actual.onError(thrown);
                return;
            }
            if (element != null) {
                actual.onNext(element);
            }
            actual.onComplete();
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }
    }
}
