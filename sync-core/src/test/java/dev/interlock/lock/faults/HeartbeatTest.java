package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.internal.redis.RedisMonitor.Command;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.Actor;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A session that waits for many names says so of many by one command. */
class HeartbeatTest extends FaultFixture {
    private static final int NAMES = 130;

    /** So many go together. */
    private static final int MOST = 100;

    private static final int KEYS = 4;
    private static final Duration LONG = Duration.ofSeconds(20);

    private Interlock patient() {
        return session(builder -> builder.commandTimeout(LONG));
    }

    private static List<String> names() {
        return IntStream.range(0, NAMES).mapToObj(i -> "name " + i).toList();
    }

    private List<CompletableFuture<Boolean>> waitForAll(Interlock session) {
        List<CompletableFuture<Boolean>> passed = new ArrayList<>();
        for (String name : names()) {
            DistributedReentrantLock lock = lock(session, name);
            passed.add(actor(name).begin(() -> {
                lock.lock();
                lock.unlock();
            }));
        }
        names().forEach(name -> awaitTickets(name, 1));
        return passed;
    }

    /** Of how many names the heartbeats spoke, one after the other. */
    private static List<Integer> heartbeats(RedisMonitor monitor) throws IOException {
        String heartbeat = Script.load("lock/heartbeat").digest();
        return monitor.commands().stream()
                .filter(Command::isScript)
                .filter(command -> command.words().get(1).equals(heartbeat))
                .map(command -> command.keys().size() / KEYS)
                .toList();
    }

    @Test
    void manyNamesGoByOneCommand() throws IOException {
        Interlock holder = patient();
        Actor owner = actor("owner");
        names().forEach(name -> owner.run(() -> lock(holder, name).lock()));
        List<CompletableFuture<Boolean>> passed = waitForAll(patient());
        List<Integer> sizes = new ArrayList<>();
        try (var monitor = new RedisMonitor(server())) {
            await("a heartbeat of many names").until(() -> sizes.addAll(heartbeats(monitor)) && sizes.contains(MOST));
        }
        assertThat(sizes).allSatisfy(size -> assertThat(size).isLessThanOrEqualTo(MOST));
        names().forEach(name -> owner.run(() -> lock(holder, name).unlock()));
        passed.forEach(CompletableFuture::join);
    }

    /** What Redis refuses for one name, it doesn't refuse for those of which the same command speaks. */
    @Test
    void aKeyOfAnotherTypeTouchesNoOtherName() {
        Interlock holder = patient();
        Actor owner = actor("owner");
        names().forEach(name -> owner.run(() -> lock(holder, name).lock()));
        List<CompletableFuture<Boolean>> passed = waitForAll(patient());
        CompletableFuture<Boolean> unlucky = passed.remove(0);
        String name = "interlock:{" + names().get(0) + "}:";
        server().command("SET", name + "waiters", "no set");
        await("a refusal").until(unlucky::isCompletedExceptionally);
        server().command("DEL", name + "waiters", name + "queue");
        assertThat(passed).noneMatch(CompletableFuture::isDone);
        names().forEach(one -> owner.run(() -> lock(holder, one).unlock()));
        assertThat(passed).allSatisfy(CompletableFuture::join);
    }
}
