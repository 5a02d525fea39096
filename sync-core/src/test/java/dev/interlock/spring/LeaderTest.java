package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.ops.NameView;
import dev.interlock.ops.Operator;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** Leaders of Spring Integration, elected by locks of two sessions: one at a time, also when its lock is taken away. */
@Tag("proof")
class LeaderTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(3);
    private static final ApplicationEventPublisher NOWHERE = event -> {};

    private final RedisServer redis = RedisServer.launch();
    private final List<Interlock> sessions = List.of(Interlock.connect(redis.url()), Interlock.connect(redis.url()));
    private final List<LockRegistryLeaderInitiator> candidates = sessions.stream()
            .map(session -> {
                var initiator = new LockRegistryLeaderInitiator(
                        new InterlockLockRegistry(session, ""), new DefaultCandidate(session.id(), "leader"));
                initiator.setHeartBeatMillis(100);
                initiator.setBusyWaitMillis(50);
                initiator.setApplicationEventPublisher(NOWHERE);
                return initiator;
            })
            .toList();

    @AfterEach
    void stop() {
        candidates.forEach(LockRegistryLeaderInitiator::stop);
        sessions.forEach(Interlock::close);
        redis.close();
    }

    private Stream<LockRegistryLeaderInitiator> leaders() {
        return candidates.stream().filter(candidate -> candidate.getContext().isLeader());
    }

    private void awaitOneLeader() {
        await("one leader").atMost(PATIENCE).until(() -> leaders().count() == 1);
        await("for good")
                .atMost(PATIENCE)
                .during(LONG_ENOUGH)
                .until(() -> leaders().count() == 1);
    }

    private LockRegistryLeaderInitiator elected() {
        candidates.forEach(LockRegistryLeaderInitiator::start);
        awaitOneLeader();
        return leaders().findFirst().orElseThrow();
    }

    @Test
    void oneIsElectedAndAnotherFollows() {
        LockRegistryLeaderInitiator first = elected();
        first.stop();
        awaitOneLeader();
        assertThat(leaders()).doesNotContain(first);
    }

    private static long tokenOf(Operator operator) {
        return operator.inspect("leader").stream()
                .flatMap(view -> view.holders().stream())
                .mapToLong(NameView.Holder::token)
                .findFirst()
                .orElse(0);
    }

    @Test
    void aLeaderWhoseLockIsReleasedByForceStepsDown() {
        LockRegistryLeaderInitiator first = elected();
        Operator operator = sessions.get(0).operator();
        // On a busy machine answers may come later than the operator waits for them.
        long token = await("the leader's token").atMost(PATIENCE).until(() -> tokenOf(operator), seen -> seen > 0);
        await("the end of its tenure")
                .atMost(PATIENCE)
                .until(() -> operator.forceRelease("leader", token) || tokenOf(operator) > token);
        assertThat(first).isNotNull();
        awaitOneLeader();
    }

    @Test
    void aLeaderWhoseKeyIsDeletedStepsDown() {
        elected();
        redis.command("DEL", "leader");
        awaitOneLeader();
    }
}
