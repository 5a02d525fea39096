package dev.interlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.SessionId;
import dev.interlock.micrometer.InterlockMetrics;
import dev.interlock.spring.InterlockLockProvider;
import dev.interlock.spring.InterlockLockRegistry;
import dev.interlock.spring.Locked;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import io.micrometer.core.instrument.binder.MeterBinder;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.core.LockProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.integration.support.locks.LockRegistry;

/** What an application gets, by what it has. */
class InterlockAutoConfigurationTest {
    private static final String NOWHERE = "interlock.uri=redis://127.0.0.1:1";
    private static final RedisServer REDIS = RedisServer.launch();

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    InterlockAutoConfiguration.class, InterlockIntegrationsAutoConfiguration.class));
    private final ApplicationContextRunner connected = bare.withPropertyValues("interlock.uri=" + REDIS.url());

    @AfterAll
    static void close() {
        REDIS.close();
    }

    @Test
    void withoutRedisThereIsNothing() {
        bare.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(Interlock.class)
                .doesNotHaveBean(InterlockLifecycle.class)
                .doesNotHaveBean(HealthIndicator.class));
    }

    @Test
    void propertiesAreThoseOfTheSession() {
        connected
                .withPropertyValues(
                        "interlock.session-name=orders",
                        "interlock.namespace=shop",
                        "interlock.lease=20s",
                        "interlock.handoff-slice=0s",
                        "interlock.redis-timeout=7s",
                        "interlock.command-timeout=2s",
                        "interlock.replica-acknowledgements=0",
                        "interlock.transport=direct",
                        "interlock.shutdown.await=0s")
                .run(context -> {
                    Interlock interlock = context.getBean(Interlock.class);
                    assertThat(interlock.sessionName()).isEqualTo("orders");
                    assertThat(Thread.getAllStackTraces().keySet())
                            .extracting(Thread::getName)
                            .contains("interlock-redis-" + SessionId.brief(interlock.id()));
                    interlock.lock("a").lock();
                    assertThat(REDIS.keys("*shop:a*")).isNotEmpty();
                    assertThat((Long) REDIS.command("PTTL", "shop:a")).isBetween(1L, 20_000L);
                    interlock.lock("a").unlock();
                });
    }

    @Test
    void aWrongSettingIsAnErrorOfItsProperty() {
        refused("interlock.lease", "1ms", "must be from 100 ms to 365 days");
        refused("interlock.session-name", "a b", "1 to 100 printable ASCII");
        refused("interlock.replica-acknowledgements", "101", "must be from 0 to 100");
        refused("interlock.shutdown.await", "-1s", "from 0 to 365 days");
        refused("interlock.ssl.bundle", "shop", "begins with rediss");
    }

    @Test
    void ofAWrongSettingThatMayBeSecretTheValueIsntShown() {
        refusedInSecret("interlock.username", "ann", "needs a password");
        refusedInSecret("interlock.uri", "http://localhost", "it must begin with redis://");
    }

    private void refusedInSecret(String property, String value, String why) {
        connected
                .withPropertyValues(property + "=" + value)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("Property " + property + " is wrong")
                        .hasStackTraceContaining(why)
                        .rootCause()
                        .hasMessageNotContaining(value));
    }

    private void refused(String property, String value, String why) {
        connected
                .withPropertyValues(property + "=" + value)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining(InvalidConfigurationPropertyValueException.class.getName())
                        .hasStackTraceContaining("Property " + property + " with value")
                        .hasStackTraceContaining(why));
    }

    @Test
    void anUnreachableRedisIsExplained() {
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
                        .load(FailureAnalyzer.class, (type, name, cause) -> {}))
                .hasAtLeastOneElementOfType(InterlockFailureAnalyzer.class);
        bare.withPropertyValues(NOWHERE).run(context -> {
            Throwable failure = context.getStartupFailure();
            assertThat(failure).isNotNull();
            FailureAnalysis analysis = new InterlockFailureAnalyzer().analyze(failure);
            assertThat(analysis).isNotNull();
            assertThat(analysis.getCause()).isInstanceOf(RedisUnavailableException.class);
            assertThat(analysis.getDescription()).contains("Interlock can't reach Redis", "redis://127.0.0.1:1");
            assertThat(analysis.getAction()).contains("interlock.uri", "interlock.lazy");
        });
    }

    @Test
    void aLazySessionStartsWithoutRedisAndIsDown() {
        bare.withPropertyValues(NOWHERE, "interlock.lazy=true", "interlock.command-timeout=100ms")
                .run(context -> {
                    var health = context.getBean(HealthIndicator.class).health();
                    assertThat(health).isNotNull();
                    assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                });
    }

    @Test
    void theRedissonClientOfTheApplicationComesFirst() {
        bare.withPropertyValues(NOWHERE)
                .withBean("redisson", RedissonClient.class, InterlockAutoConfigurationTest::client)
                .run(context -> {
                    assertThat(context.getBean(Interlock.class).ping()).isPositive();
                    context.getBean(Interlock.class).close();
                    assertThat(context.getBean(RedissonClient.class).isShutdown())
                            .isFalse();
                });
    }

    private static RedissonClient client() {
        var config = new Config();
        config.useSingleServer()
                .setAddress(REDIS.url())
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(10);
        return Redisson.create(config);
    }

    @Test
    void aServiceConnectionComesBeforeTheUri() {
        bare.withPropertyValues(NOWHERE)
                .withBean(DataRedisConnectionDetails.class, InterlockAutoConfigurationTest::details)
                .run(context ->
                        assertThat(context.getBean(Interlock.class).ping()).isPositive());
    }

    @Test
    void aServiceConnectionSuffices() {
        bare.withBean(DataRedisConnectionDetails.class, InterlockAutoConfigurationTest::details)
                .run(context ->
                        assertThat(context.getBean(Interlock.class).ping()).isPositive());
    }

    private static DataRedisConnectionDetails details() {
        return new DataRedisConnectionDetails() {
            @Override
            public Standalone getStandalone() {
                return Standalone.of(REDIS.host(), REDIS.port(), 3);
            }
        };
    }

    @Test
    void aSessionOfTheApplicationsOwnIsKept() {
        try (Interlock own = Interlock.connect(REDIS.url())) {
            bare.withPropertyValues(NOWHERE)
                    .withBean("own", Interlock.class, () -> own)
                    .run(context -> {
                        assertThat(context).hasSingleBean(Interlock.class).hasSingleBean(InterlockLifecycle.class);
                        assertThat(context.getBean(Interlock.class)).isSameAs(own);
                    });
        }
    }

    @Test
    void aCustomizerSetsWhatHasNoProperty() {
        connected
                .withBean(InterlockBuilderCustomizer.class, () -> builder -> builder.sessionName("customized"))
                .run(context -> assertThat(context.getBean(Interlock.class).sessionName())
                        .isEqualTo("customized"));
    }

    @Test
    void theEndpointIsThereIfItIsExposed() {
        connected.run(context -> assertThat(context).doesNotHaveBean(InterlockEndpoint.class));
        connected
                .withPropertyValues("management.endpoints.web.exposure.include=interlock")
                .run(context -> assertThat(context).hasSingleBean(InterlockEndpoint.class));
    }

    @Test
    void whatIsNotOnTheClassPathIsNotNeeded() {
        connected
                .withClassLoader(new FilteredClassLoader(
                        HealthIndicator.class,
                        Endpoint.class,
                        MeterBinder.class,
                        DataRedisConnectionDetails.class,
                        LockRegistry.class,
                        LockProvider.class))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(Interlock.class)
                        .doesNotHaveBean("interlockHealthIndicator")
                        .doesNotHaveBean("interlockMetrics")
                        .doesNotHaveBean("interlockLockRegistry")
                        .doesNotHaveBean("interlockLockProvider"));
    }

    @Test
    void adaptersAreThereIfTheirProjectsAre() {
        connected.run(context -> assertThat(context)
                .hasSingleBean(InterlockMetrics.class)
                .hasSingleBean(InterlockLockRegistry.class)
                .hasSingleBean(InterlockLockProvider.class));
    }

    /** The holder unlocks when the application is waiting already; one that did not wait would have taken the lock. */
    @Test
    void theSessionIsClosedWhenItsThreadsAreDone() {
        try (var holder = new Actor("holder")) {
            CompletableFuture<?>[] done = new CompletableFuture<?>[1];
            Thread stopping = Thread.currentThread();
            connected.withPropertyValues("interlock.shutdown.await=1h").run(context -> {
                DistributedReentrantLock lock = context.getBean(Interlock.class).lock("shutdown");
                holder.run(lock::lock);
                done[0] = holder.begin(() -> {
                    await().atMost(Duration.ofMinutes(1))
                            .until(() -> Stream.of(stopping.getStackTrace())
                                    .anyMatch(frame -> frame.getMethodName().equals("awaitHolders")));
                    lock.assertHeld();
                    lock.unlock();
                });
            });
            assertThat(done[0]).isNotNull();
            done[0].join();
        }
    }

    static class Stock {
        private final Interlock interlock;

        Stock(Interlock interlock) {
            this.interlock = interlock;
        }

        @Locked(name = "stock")
        public boolean save() {
            return interlock.lock("stock").isHeldByCurrentThread();
        }
    }

    /** One that is destroyed late, since it was made early, and knows the other only when it needs it. */
    static class Saving {
        private final ApplicationContext context;
        private final List<Boolean> saved;

        Saving(ApplicationContext context, List<Boolean> saved) {
            this.context = context;
            this.saved = saved;
        }

        @PreDestroy
        public void save() {
            saved.add(context.getBean(Stock.class).save());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void beansMayLockWhileTheyAreDestroyed(boolean isOwn) {
        List<Boolean> saved = new ArrayList<>();
        Interlock[] session = new Interlock[1];
        ApplicationContextRunner runner =
                isOwn ? bare.withBean("own", Interlock.class, () -> Interlock.connect(REDIS.url())) : connected;
        runner.withInitializer(context -> {
                    AnnotationConfigUtils.registerAnnotationConfigProcessors(
                            (BeanDefinitionRegistry) context.getBeanFactory());
                    ((GenericApplicationContext) context)
                            .registerBean("saving", Saving.class, () -> new Saving(context, saved));
                })
                .withBean(Stock.class)
                .run(context -> session[0] = context.getBean(Interlock.class));
        assertThat(saved).containsExactly(true);
        assertThatThrownBy(() -> session[0].lock("stock"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    /**
     * A client that is shut down first couldn't give names back, which others would wait for until their lease ends.
     */
    @Test
    void theSessionIsClosedBeforeTheClientOfTheApplication() {
        bare.withBean(
                        "redisson",
                        RedissonClient.class,
                        InterlockAutoConfigurationTest::client,
                        definition -> definition.setDestroyMethodName("shutdown"))
                .run(context -> {
                    Interlock session = context.getBean(Interlock.class);
                    DistributedReentrantLock lock = session.lock("kept", LockOptions.retain(Duration.ofHours(1)));
                    lock.lock();
                    lock.unlock();
                    assertThat(REDIS.command("EXISTS", "kept")).isEqualTo(1L);
                });
        assertThat(REDIS.command("EXISTS", "kept")).isEqualTo(0L);
    }

    /** As by an application that is paused, or restarts its beans. */
    @Test
    void aContextThatIsStoppedCanBeStartedAgain() {
        connected.run(context -> {
            context.getSourceApplicationContext().stop();
            context.getSourceApplicationContext().start();
            assertThat(context.getBean(Interlock.class).ping()).isPositive();
        });
    }
}
