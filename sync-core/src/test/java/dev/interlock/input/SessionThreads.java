package dev.interlock.input;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** The threads of sessions and of Redisson's clients that have been started since this was made. */
final class SessionThreads {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Set<Thread> before = running();

    private static Set<Thread> running() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("interlock-")
                        || thread.getName().startsWith("redisson-"))
                .collect(toCollection(() -> Collections.newSetFromMap(new IdentityHashMap<>())));
    }

    /** Asserts that all of them end within a few seconds. */
    void assertGone() {
        assertGone("");
    }

    /** Asserts that all those of them end within a few seconds whose name starts so. */
    void assertGone(String prefix) {
        await("the end of the threads " + prefix)
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(running())
                        .filteredOn(thread -> !before.contains(thread))
                        .extracting(Thread::getName)
                        .filteredOn(name -> name.startsWith(prefix))
                        .isEmpty());
    }
}
