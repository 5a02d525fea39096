package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import io.reactivex.rxjava3.core.Single;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Methods with {@link Locked} run while their thread holds the lock, until their transaction is committed. */
class LockedTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 20;

    private static final RedisServer REDIS = RedisServer.launch();

    /** Two applications of one fleet. */
    private static final List<ConfigurableApplicationContext> APPLICATIONS = new ArrayList<>();

    /** Somebody else. */
    private static final Interlock OTHER = Interlock.connect(REDIS.url());

    @BeforeAll
    static void start() {
        APPLICATIONS.add(Application.start(REDIS.url(), Beans.class));
        APPLICATIONS.add(Application.start(REDIS.url(), Beans.class));
        jdbc().execute("create table stock (id bigint primary key, units int)");
        jdbc().execute("insert into stock values (1, 0), (2, 0)");
    }

    @AfterAll
    static void stop() {
        APPLICATIONS.forEach(ConfigurableApplicationContext::close);
        OTHER.close();
        REDIS.close();
    }

    private static JdbcTemplate jdbc() {
        return APPLICATIONS.get(0).getBean(JdbcTemplate.class);
    }

    private static Stock stock() {
        return APPLICATIONS.get(0).getBean(Stock.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Beans {
        @Bean
        DataSource dataSource() {
            var source = new JdbcDataSource();
            source.setURL("jdbc:h2:mem:stock;DB_CLOSE_DELAY=-1");
            return source;
        }

        @Bean
        DataSourceTransactionManager transactions(DataSource source) {
            return new DataSourceTransactionManager(source);
        }

        @Bean
        JdbcTemplate jdbc(DataSource source) {
            return new JdbcTemplate(source);
        }

        @Bean
        Stock stock(JdbcTemplate jdbc, Interlock interlock) {
            return new Stock(jdbc, interlock);
        }
    }

    static class Stock {
        private final JdbcTemplate jdbc;
        private final Interlock interlock;

        Stock(JdbcTemplate jdbc, Interlock interlock) {
            this.jdbc = jdbc;
            this.interlock = interlock;
        }

        public String prefix() {
            return "stock";
        }

        /** Two that read the same number lose one of their updates. */
        @Locked(name = "stock:#{#id}", waitAtMost = "1m")
        @Transactional
        public void add(long id) {
            int units = units(id);
            jdbc.update("update stock set units = ? where id = ?", units + 1, id);
        }

        private int units(long id) {
            Integer units = jdbc.queryForObject("select units from stock where id = ?", Integer.class, id);
            return units == null ? 0 : units;
        }

        @Locked(name = "stock:#{#id}")
        @Transactional
        public void addAndTell(long id, List<Boolean> heldAfterCommit) {
            jdbc.update("update stock set units = units + 1 where id = ?", id);
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    heldAfterCommit.add(interlock.lock("stock:" + id).isHeldByCurrentThread());
                }
            });
        }

        @Locked(name = "stock:#{#id}")
        public void fail(long id) throws IOException {
            throw new IOException("out of stock " + id);
        }

        @Locked(name = "#{prefix()}:#{#p0}", waitAtMost = "10ms")
        public boolean takeNow(long id) {
            return interlock.lock("stock:" + id).isHeldByCurrentThread();
        }

        @Locked(name = "'stock:' + #id", waitAtMost = "0s", onBusy = Locked.OnBusy.SKIP)
        public @Nullable String orSkip(long id) {
            return "done " + id;
        }

        @Locked(name = "${stock.prefix:stock}:#{#id}", waitAtMost = "${stock.wait:0s}", onBusy = Locked.OnBusy.SKIP)
        public Optional<String> orEmpty(long id) {
            return Optional.of("done " + id);
        }

        @Locked(name = "stock:#{#id}")
        public void of(@Nullable Long id) {}

        @Locked(name = "stock:#{#missing.length()}")
        public void ofNothing(long id) {}
    }

    @Test
    void theLockIsReleasedAfterTheCommit() {
        List<Boolean> heldAfterCommit = new ArrayList<>();
        stock().addAndTell(2, heldAfterCommit);
        assertThat(heldAfterCommit).containsExactly(true);
        assertThat(OTHER.lock("stock:2").tryLock()).isTrue();
        OTHER.lock("stock:2").unlock();
    }

    @Test
    void noUpdateOfTwoApplicationsIsLost() {
        List<CompletableFuture<Void>> workers = new ArrayList<>();
        for (ConfigurableApplicationContext application : APPLICATIONS) {
            Stock stock = application.getBean(Stock.class);
            for (int i = 0; i < THREADS; i++) {
                workers.add(CompletableFuture.runAsync(
                        () -> {
                            for (int round = 0; round < ROUNDS; round++) {
                                stock.add(1);
                            }
                        },
                        task -> new Thread(task).start()));
            }
        }
        workers.forEach(CompletableFuture::join);
        assertThat(jdbc().queryForObject("select units from stock where id = 1", Integer.class))
                .isEqualTo(APPLICATIONS.size() * THREADS * ROUNDS);
    }

    @Test
    void aBusyLockIsToldOrSkipped() {
        assertThat(stock().takeNow(3)).isTrue();
        assertThat(stock().orSkip(3)).isEqualTo("done 3");
        assertThat(stock().orEmpty(3)).contains("done 3");
        OTHER.lock("stock:3").lock();
        try {
            assertThatThrownBy(() -> stock().takeNow(3))
                    .isInstanceOfSatisfying(
                            LockBusyException.class,
                            e -> assertThat(e.lockName()).isEqualTo("stock:3"))
                    .hasMessageContaining("lock 'stock:3' wasn't available within PT0.01S");
            assertThat(stock().orSkip(3)).isNull();
            assertThat(stock().orEmpty(3)).isEmpty();
        } finally {
            OTHER.lock("stock:3").unlock();
        }
    }

    @Test
    void whatTheMethodThrowsIsThrown() {
        assertThatThrownBy(() -> stock().fail(4))
                .isInstanceOf(IOException.class)
                .hasMessage("out of stock 4");
        assertThat(stock().orSkip(4)).isNotNull();
    }

    @Test
    void errorsNameTheMethodAndTheExpression() {
        assertThatThrownBy(() -> stock().of(null))
                .hasMessageContaining("LockedTest$Stock.of(Long)")
                .hasMessageContaining("the expression '#id' must be neither null nor empty");
        assertThatThrownBy(() -> stock().ofNothing(1))
                .hasMessageContaining("LockedTest$Stock.ofNothing(long)")
                .hasMessageContaining("'#missing.length()' can't be evaluated");
    }

    @Test
    void wrongAnnotationsAreErrorsOfTheStart() {
        assertThat(refusal(BadWait.class)).contains("@Locked", "BadWait.run()", "waitAtMost must be a duration");
        assertThat(refusal(BadName.class)).contains("BadName.run()", "'a:#{#id'", "isn't understood");
        assertThat(refusal(BadSkip.class)).contains("BadSkip.run()", "no result of type int");
        assertThat(refusal(BadSkippedSingle.class))
                .contains("BadSkippedSingle.run()", "has no element for a", "Single");
        assertThat(refusal(BadFuture.class)).contains("BadFuture.run()", "before the work is done");
        assertThat(refusal(BadProperty.class)).contains("BadProperty.run()", "'${no.such}'");
        assertThat(refusal(BadPeriod.class)).contains("@Once", "BadPeriod.run()", "atLeast", "1 ms to 366 days");
        assertThat(refusal(BadRate.class)).contains("@RateLimited", "BadRate.run()", "permits must be from 1");
    }

    private static String refusal(Class<?> bean) {
        try (var context = new AnnotationConfigApplicationContext()) {
            context.register(InterlockAnnotationsConfiguration.class, bean);
            Throwable thrown = catchThrowable(context::refresh);
            assertThat(thrown).isInstanceOf(BeanCreationException.class);
            return String.valueOf(thrown.getCause());
        }
    }

    static class BadWait {
        @Locked(name = "a", waitAtMost = "soon")
        public void run() {}
    }

    static class BadName {
        @Locked(name = "a:#{#id")
        public void run() {}
    }

    static class BadSkip {
        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public int run() {
            return 1;
        }
    }

    static class BadSkippedSingle {
        @Locked(name = "a", onBusy = Locked.OnBusy.SKIP)
        public Single<String> run() {
            return Single.just("done");
        }
    }

    static class BadFuture {
        @Locked(name = "a")
        public Future<String> run() {
            return CompletableFuture.completedFuture("");
        }

        /** Runs in a thread that holds the lock. */
        @Async
        @Locked(name = "a")
        public CompletableFuture<String> runLater() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class BadProperty {
        @Locked(name = "${no.such}")
        public void run() {}
    }

    static class BadPeriod {
        @Once(name = "a", atLeast = "0s")
        public void run() {}
    }

    static class BadRate {
        @RateLimited(name = "a", permits = 0, per = "1s")
        public void run() {}
    }
}
