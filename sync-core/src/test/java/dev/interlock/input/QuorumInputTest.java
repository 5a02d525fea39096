package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.quorum.Nodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

/** Bad arguments to a quorum get an error that names the argument and its range before anything reaches Redis. */
class QuorumInputTest {
    private static Nodes nodes;
    private static List<RedissonClient> clients;
    private static QuorumInterlock quorum;
    private static QuorumInterlock other;

    @BeforeAll
    static void open() {
        nodes = Nodes.launch(4);
        clients = Nodes.clients(nodes.urls());
        quorum = Interlock.quorum(clients.subList(0, 3));
        other = Interlock.quorum(clients.subList(0, 3));
        for (QuorumInterlock session : List.of(quorum, other)) {
            session.lock("warm").lock();
            session.lock("warm").unlock();
        }
    }

    @AfterAll
    static void close() {
        quorum.close();
        other.close();
        clients.forEach(RedissonClient::shutdown);
        nodes.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 4})
    void clientsAreOddInNumberAndThreeOrMore(int count) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interlock.quorum(clients.subList(0, count)))
                .withMessageContaining("clients")
                .withMessageContaining("odd number, 3 or more")
                .withMessageContaining("are " + count);
    }

    @Test
    void clientsAreOfDifferentServers() {
        RedissonClient twin = Nodes.clients(nodes.urls().subList(0, 1)).get(0);
        try {
            for (RedissonClient same : List.of(clients.get(0), twin)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> Interlock.quorum(List.of(clients.get(0), clients.get(1), same)))
                        .withMessageContaining("clients")
                        .withMessageContaining("different servers")
                        .withMessageContaining("only 2");
            }
        } finally {
            twin.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    @Test
    @SuppressWarnings("NullAway") // What null does is the question.
    void clientsAreGiven() {
        assertThatNullPointerException()
                .isThrownBy(() -> Interlock.quorum(null))
                .withMessageContaining("clients");
        assertThatNullPointerException()
                .isThrownBy(() -> Interlock.quorum(Arrays.asList(clients.get(0), null, clients.get(1))))
                .withMessageContaining("clients");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interlock.builder().client(clients.get(0)).openQuorum(clients.subList(0, 3)))
                .withMessageContaining("client");
    }

    @Test
    void clientsAreOpen() {
        List<RedissonClient> some = new ArrayList<>(Nodes.clients(nodes.urls().subList(0, 3)));
        some.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interlock.quorum(some))
                .withMessageContaining("client is shut down");
    }

    @Test
    @SuppressWarnings("NullAway") // What null does is the question.
    void nameMustBeGiven() {
        assertThatNullPointerException().isThrownBy(() -> quorum.lock(null)).withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> quorum.lock(""))
                .withMessageContaining("name")
                .withMessageContaining("empty");
    }

    @Test
    void leasesHaveARange() {
        DistributedReentrantLock lock = quorum.lock("range");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> lock.lock(99, TimeUnit.MILLISECONDS))
                .withMessageContaining("100 ms to 365 days");
        assertThat(lock.isLocked()).isFalse();
        assertThat(nodes.leftovers(0)).noneMatch(key -> key.contains("range"));
    }

    /** A key of another type under the lock's own key is nobody's outage. */
    @Test
    void foreignKeysAreAnErrorAtOnce() {
        for (int i = 0; i < 3; i++) {
            nodes.node(i).command("SET", "interlock:{typed}:quorum", "x", "EX", "60");
        }
        DistributedReentrantLock lock = quorum.lock("typed");
        assertThatThrownBy(lock::lock)
                .isInstanceOf(IllegalStateException.class)
                .isNotInstanceOf(RedisUnavailableException.class)
                .hasMessageContaining("typed");
        assertThat(lock.isLocked()).isFalse();
        for (int i = 0; i < 3; i++) {
            nodes.node(i).command("DEL", "interlock:{typed}:quorum");
        }
    }

    @Test
    void conditionsAreRefusedWithTheReason() {
        assertThatThrownBy(() -> quorum.lock("condition").newCondition())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("quorum");
    }

    @ParameterizedTest
    @MethodSource("dev.interlock.input.InputTest#oddNames")
    void oddNamesAreNames(String odd) throws InterruptedException {
        DistributedReentrantLock lock = quorum.lock(odd);
        DistributedReentrantLock rival = other.lock(odd);
        lock.lock();
        try {
            assertThat(rival.tryLock()).isFalse();
            assertThat(rival.tryLock(10, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(rival.isRemotelyLocked()).isTrue();
            assertThat(other.lock(odd + "x").tryLock()).isTrue();
            other.lock(odd + "x").unlock();
        } finally {
            lock.unlock();
        }
        assertThat(rival.tryLock()).isTrue();
        rival.unlock();
        assertThat(rival.isRemotelyLocked()).isFalse();
    }
}
