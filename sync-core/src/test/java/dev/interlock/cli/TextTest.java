package dev.interlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.NameView.Waiter;
import dev.interlock.ops.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The command line tells people of names, sessions and threads in lines and tables. */
class TextTest {
    private static final SessionView ORDERS =
            new SessionView("s1", "orders", "web-1", 17, "0.1.0", 1, Duration.ofHours(30));
    private static final SessionView STILL = new SessionView("s2", null, null, 0, null, 0, null);

    private static Snapshot seen(NameView... names) {
        Map<String, SessionView> sessions = new TreeMap<>(Map.of("s1", ORDERS, "s2", STILL));
        return new Snapshot(List.of(names), sessions, Instant.parse("2026-01-02T03:04:05.678Z"));
    }

    private static Holder inside(@Nullable String thread, long seconds) {
        return new Holder("s1", "orders", State.INSIDE, thread, false, 0, 0, 7, Duration.ofSeconds(seconds));
    }

    private static NameView lock(String name, List<Holder> holders, int waiters) {
        return new NameView(
                name, "lock", holders, Collections.nCopies(waiters, new Waiter("s1", "orders", "waiter", null, null)));
    }

    @Test
    void aHolderAndItsWaitersAreTold() {
        NameView view = new NameView(
                "order:42",
                "lock",
                List.of(inside("worker-3", 75)),
                List.of(
                        new Waiter("s1", "orders", "worker-4", null, Duration.ofSeconds(3)),
                        new Waiter("s2", null, null, null, null),
                        new Waiter("s1", "orders", "worker-5", "is filled", null)));
        assertThat(Text.who("order:42", seen(view)).lines())
                .containsExactly(
                        "order:42: lock, inside",
                        "  held by thread 'worker-3' of pid 17 on web-1 (session orders, s1)",
                        "    for 1 min 15 s, token 7",
                        "  waiting:",
                        "    1. thread 'worker-4' of pid 17 on web-1 (session orders, s1), for 3 s",
                        "    2. session s2, which is silent",
                        "    3. thread 'worker-5' of pid 17 on web-1 (session orders, s1), for condition 'is filled'");
    }

    @Test
    void otherStatesAreTold() {
        NameView view = new NameView(
                "a",
                "read-write lock",
                List.of(
                        new Holder("s1", "orders", State.INSIDE, null, true, 2, 0, 0, null),
                        new Holder("s1", "orders", State.KEPT, null, false, 0, 0, 0, null),
                        new Holder("s1", "orders", State.LEAVING, null, false, 0, 0, 0, null),
                        new Holder("s2", null, State.SILENT, null, false, 0, 0, 0, null),
                        new Holder("s3", null, State.SILENT, null, false, 0, 0, 0, null)),
                List.of());
        assertThat(Text.who("a", seen(view)).lines())
                .containsExactly(
                        "a: read-write lock, inside",
                        "  read by pid 17 on web-1 (session orders, s1)",
                        "    2 read locks",
                        "  kept by pid 17 on web-1 (session orders, s1)",
                        "  being released by pid 17 on web-1 (session orders, s1)",
                        "  owned by session s2, which is silent",
                        "  owned by session s3, which isn't connected: a plain RLock client, or one that is gone");
    }

    @Test
    void whatIsNoLockIsTold() {
        NameView permits = new NameView(
                "pool",
                "semaphore",
                List.of(new Holder("s1", "orders", State.INSIDE, null, false, 0, 3, 0, Duration.ofSeconds(2))),
                List.of());
        NameView latch =
                new NameView("done", "latch", List.of(), List.of(new Waiter("s1", "orders", "main", null, null)));
        assertThat(Text.who("", seen(permits, latch)).lines())
                .containsExactly(
                        "pool: semaphore, inside",
                        "  held by pid 17 on web-1 (session orders, s1)",
                        "    3 permits, for 2 s",
                        "done: latch, awaited",
                        "  waiting:",
                        "    1. thread 'main' of pid 17 on web-1 (session orders, s1)");
    }

    @Test
    void namesAreInATable() {
        Snapshot seen = seen(lock("a", List.of(inside("t", 1), inside("u", 2)), 3), lock("order:42", List.of(), 1));
        assertThat(Text.names(seen).lines())
                .containsExactly(
                        "NAME      KIND  STATE   HOLDER                  WAITERS",
                        "a         lock  inside  t on orders and 1 more  3",
                        "order:42  lock  free    -                       1");
    }

    @Test
    void theMostWantedNameIsFirst() {
        Snapshot seen = seen(
                lock("short", List.of(inside("t", 1)), 1),
                lock("long", List.of(inside("t", 4_000)), 1),
                lock("wanted", List.of(inside("t", 0)), 2),
                lock("idle", List.of(), 0));
        assertThat(Text.top(seen, 3).lines())
                .containsExactly(
                        "2026-01-02T03:04:05Z  2 sessions (1 silent), 4 names, 4 waiting",
                        "",
                        "WAITERS  HELD FOR   NAME    KIND  STATE   HOLDER",
                        "2        0 s        wanted  lock  inside  t on orders",
                        "1        1 h 6 min  long    lock  inside  t on orders",
                        "1        1 s        short   lock  inside  t on orders");
    }

    @Test
    void sessionsAreInATable() {
        assertThat(Text.sessions(seen()).lines())
                .containsExactly(
                        "SESSION  NAME    HOST   PID  VERSION  PROTOCOL  OPEN FOR",
                        "s1       orders  web-1  17   0.1.0    1         1 d 6 h",
                        "s2       -       -      -    -        -         silent");
        assertThat(Text.silent(seen())).isEqualTo("Silent, so that not all may be shown that they have: s2");
        Snapshot known = seen("s2", new SessionView("s2", "orders-2", "web-2", 18, null, 0, null));
        assertThat(Text.sessions(known).lines().toList().get(1)).matches("s2 +orders-2 +web-2 +18 +- +- +silent");
        assertThat(Text.silent(known)).endsWith("s2 (pid 18 on web-2)");
    }

    private static Snapshot seen(String id, SessionView session) {
        return new Snapshot(List.of(), Map.of(id, session), Instant.EPOCH);
    }

    @Test
    void nothingIsNotSaidOfThoseThatHaveNotAnswered() {
        Snapshot silent = seen("s2", STILL);
        assertThat(Text.names(silent)).isEqualTo("No names of those sessions that have answered.");
        assertThat(Text.deadlocks(List.of(), silent)).isEqualTo("No deadlocks of those sessions that have answered.");
        assertThat(Text.names(seen("s1", ORDERS))).isEqualTo("No names.");
    }

    /** Versions before sessions told their names are shown without. */
    @Test
    void aSessionMayTellNoName() {
        Snapshot seen = new Snapshot(
                List.of(lock("a", List.of(inside("t", 1)), 0)),
                Map.of("s1", new SessionView("s1", null, "web-1", 17, null, 0, Duration.ofSeconds(1))),
                Instant.EPOCH);
        assertThat(Text.who("a", seen)).contains("thread 't' of pid 17 on web-1 (session s1)");
        assertThat(Text.names(seen)).contains("t on web-1:17");
        assertThat(Text.sessions(seen).lines().toList().get(1)).startsWith("s1       -     web-1");
    }

    @Test
    void whyALockIsNotReleasedIsTold() {
        Holder silent = new Holder("s2", null, State.SILENT, null, false, 0, 0, 0, null);
        Holder plain = new Holder("s3", null, State.SILENT, null, false, 0, 0, 0, null);
        String refused = "a: not released, since no thread is known to be inside with token 8";
        assertThat(Text.notReleased("a", 8, seen())).isEqualTo("a: free");
        assertThat(Text.notReleased("a", 8, seen(lock("a", List.of(inside("t", 1)), 1))))
                .isEqualTo(refused);
        assertThat(Text.notReleased("a", 8, seen(lock("a", List.of(silent), 0))).lines())
                .startsWith(refused, "  owned by session s2, which is silent")
                .last(InstanceOfAssertFactories.STRING)
                .contains("Its lease ends by itself", "doesn't renew it");
        assertThat(Text.notReleased("a", 8, seen(lock("a", List.of(plain), 0))))
                .contains("owned by session s3, which isn't connected", "stop that client");
    }

    /** A name can't clear the screen, or make up a line. */
    @Test
    void namesDoNothingToATerminal() {
        NameView view = lock("a\n\u001b[2J\u202e", List.of(inside("t\r", 0)), 0);
        assertThat(Text.names(seen(view)) + Text.who("", seen(view)) + Text.top(seen(view), 1))
                .contains("a\\u000a\\u001b[2J\\u202e", "t\\u000d")
                .doesNotContain("\u001b", "\u202e", "\r");
    }
}
