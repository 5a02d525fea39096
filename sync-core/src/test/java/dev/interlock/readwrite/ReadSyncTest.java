package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.lock.LocalReadWriteLock;
import dev.interlock.internal.lock.ReadSync;
import dev.interlock.internal.lock.RemoteReadWriteLock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a reader does when what it has seen of the remote half changes at once. */
class ReadSyncTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ReentrantReadWriteLock half = new ReentrantReadWriteLock();
    private final AtomicInteger looks = new AtomicInteger();

    /** The writer that others had to wait for has gone between two looks; so nobody tells of it any more. */
    @Test
    void joinsAReaderThatStaysInsideOnceItMay() {
        RemoteReadWriteLock remote = fake(RemoteReadWriteLock.class, this::ofRemote);
        ReadSync sync = new ReadSync(fake(LocalReadWriteLock.class, this::ofLocal), remote);
        half.readLock().lock();
        assertThat(CompletableFuture.runAsync(sync::lock)).succeedsWithin(PATIENCE);
        assertThat(half.getReadLockCount()).isEqualTo(2);
    }

    private Object ofRemote(String method) {
        return switch (method) {
            case "mayEnterShared" -> looks.getAndIncrement() > 0;
            case "isBarred" -> false;
            case "enterSharedAtOnce" -> true;
            case "listeners" -> new Listeners();
            case "now" -> System.nanoTime();
            case "drainNanos" -> Long.MAX_VALUE;
            default -> method;
        };
    }

    private Object ofLocal(String method) {
        return switch (method) {
            case "readLock" -> half.readLock();
            case "writeLock" -> half.writeLock();
            case "sharedHolds", "holds" -> 0;
            default -> false;
        };
    }

    /** Answers by the names of methods; what returns nothing needs no answer. */
    private static <T> T fake(Class<T> type, Function<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            Object answer = answers.apply(method.getName());
            return method.getReturnType() == void.class ? null : answer;
        }));
    }
}
