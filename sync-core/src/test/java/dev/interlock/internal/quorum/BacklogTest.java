package dev.interlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.LeaseRenewer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a node is told when it is away, and when it is back, by a timer that a test turns. */
class BacklogTest {
    private final List<Long> pauses = new ArrayList<>();
    private final List<Task> sent = new ArrayList<>();
    private @Nullable Runnable next;
    private boolean isAway = true;

    private final Backlog backlog = new Backlog(
            new Settings(
                    30_000,
                    0,
                    false,
                    false,
                    false,
                    1_000_000_000,
                    1_000,
                    1,
                    "",
                    "test",
                    new Listeners(),
                    System::nanoTime),
            this::schedule);

    private LeaseRenewer.Scheduled schedule(Runnable task, long millis) {
        next = task;
        pauses.add(millis);
        return () -> {};
    }

    /** Has the timer run what is to come. Returns how much was sent. */
    private int beat() {
        Runnable task = next;
        assertThat(task).isNotNull();
        next = null;
        sent.clear();
        if (task != null) {
            task.run();
        }
        return sent.size();
    }

    private final class Task implements Backlog.Entry {
        private boolean over;

        @Override
        public boolean isOver() {
            return over;
        }

        @Override
        public boolean isDue(long now) {
            return true;
        }

        @Override
        public CompletableFuture<?> send() {
            sent.add(this);
            if (isAway) {
                return CompletableFuture.failedFuture(new IllegalStateException("away"));
            }
            over = true;
            return CompletableFuture.completedFuture(null);
        }
    }

    private List<Task> add(int count) {
        List<Task> tasks = IntStream.range(0, count).mapToObj(i -> new Task()).toList();
        tasks.forEach(backlog::add);
        return tasks;
    }

    @Test
    void anAbsentNodeIsAskedByOneCommandAtATimeLessAndLessOften() {
        add(200);
        assertThat(pauses).containsExactly(200L);
        assertThat(beat()).isEqualTo(64);
        for (int i = 0; i < 5; i++) {
            assertThat(beat()).isEqualTo(1);
        }
        add(100);
        assertThat(pauses).containsExactly(200L, 200L, 400L, 800L, 1_600L, 1_600L, 1_600L);
    }

    /** One that is always refused doesn't keep the others waiting. */
    @Test
    void eachIsTriedInItsTurn() {
        List<Task> tasks = add(3);
        beat();
        List<Task> tried = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            beat();
            tried.addAll(sent);
        }
        assertThat(tried).containsExactlyInAnyOrderElementsOf(tasks);
    }

    @Test
    void aNodeThatIsBackHearsTheRestInBatches() {
        add(100);
        beat();
        beat();
        isAway = false;
        assertThat(beat()).isEqualTo(1);
        assertThat(beat()).isEqualTo(64);
        assertThat(beat()).isEqualTo(35);
        assertThat(beat()).isZero();
        assertThat(pauses.subList(3, 6)).containsExactly(0L, 0L, 0L);
        assertThat(next).as("a timer without a cause").isNull();
        add(1);
        assertThat(pauses).last().isEqualTo(200L);
    }

    /** What it answers elsewhere is a reason to try at once. */
    @Test
    void aNodeThatAnswersOthersIsToldAtOnce() {
        add(10);
        beat();
        beat();
        isAway = false;
        backlog.heard();
        assertThat(pauses).last().isEqualTo(0L);
        assertThat(beat()).isEqualTo(10);
    }

    @Test
    void whatIsOverIsForgotten() {
        List<Task> tasks = add(3);
        beat();
        tasks.forEach(task -> task.over = true);
        assertThat(beat()).isZero();
        assertThat(next).isNull();
    }

    /** {@code close()} waits until all of it is confirmed, but only for a bounded time. */
    @Test
    void aSessionThatClosesTellsEverythingAtOnce() {
        add(100);
        beat();
        backlog.flush();
        assertThat(beat()).isEqualTo(100);
    }
}
