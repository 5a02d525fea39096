package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.SyncListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** In which order a resource does what events ask for. */
class ResourceTest {
    private final VirtualEnvironment environment = new VirtualEnvironment();
    private final RedisSession session = environment.session(SyncListener.NONE);

    /** What was done, in that order. */
    private final List<String> done = new ArrayList<>();

    private final List<String> effects = new ArrayList<>();
    private final Resource<List<String>> resource = new Resource<>(session, "name", effects, new Resource.Owner<>() {
        @Override
        public void carryOut(List<String> state, long now) {
            state.forEach(effect -> done.add("effect " + effect));
            state.clear();
        }

        @Override
        public void due(List<String> state, long now) {
            done.add("due " + environment.elapsedMillis());
        }
    });

    @Test
    void whatIsToBeDoneLaterIsDoneWithoutTheMutexInOrder() {
        String answer = resource.call((state, now) -> {
            resource.later(() -> done.add("first, held " + resource.isHeld()));
            state.add("a");
            resource.later(() -> done.add("second"));
            return "answer";
        });
        assertThat(answer).isEqualTo("answer");
        assertThat(done).containsExactly("effect a", "first, held false", "second");
    }

    @Test
    void anEventWithinAnEventIsAPartOfThat() {
        resource.run((state, now) -> {
            resource.run((same, then) -> {
                resource.later(() -> done.add("inner"));
                same.add("b");
            });
            done.add("still in the outer one");
        });
        assertThat(done).containsExactly("still in the outer one", "effect b", "inner");
    }

    /** An answer that is there at once, say: what follows from it comes after what was asked for before. */
    @Test
    void anEventThatWorkBringsAboutIsWorkedOffAfterThat() {
        resource.run((state, now) -> {
            resource.later(() -> {
                resource.run((same, then) -> resource.later(() -> done.add("third")));
                done.add("first");
            });
            resource.later(() -> done.add("second"));
        });
        assertThat(done).containsExactly("first", "second", "third");
    }

    @Test
    void anEventThatThrowsHasItsEffectsAllTheSame() {
        assertThatThrownBy(() -> resource.run((state, now) -> {
                    state.add("c");
                    resource.later(() -> done.add("later"));
                    throw new IllegalStateException("refused");
                }))
                .hasMessage("refused");
        assertThat(done).containsExactly("effect c", "later");
    }

    @Test
    void workThatFailsKeepsNothingElseFromBeingDone() {
        resource.run((state, now) -> {
            resource.later(() -> {
                throw new IllegalStateException("a fault of the library");
            });
            resource.later(() -> done.add("next"));
        });
        resource.run((state, now) -> resource.later(() -> done.add("last")));
        assertThat(done).containsExactly("next", "last");
    }

    /** A thread whose write to a socket takes long keeps nobody from the state; what others ask for follows that. */
    @Test
    void aThreadThatWorksDoesSoOnBehalfOfOthers() throws InterruptedException {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        AtomicBoolean isInterrupted = new AtomicBoolean();
        Thread writer = new Thread(() -> resource.run((state, now) -> resource.later(() -> {
            writing.countDown();
            try {
                written.await();
            } catch (InterruptedException e) {
                isInterrupted.set(true);
            }
            done.add("first by " + Thread.currentThread().getName());
        })));
        writer.setName("writer");
        writer.start();
        writing.await();
        resource.run((state, now) -> resource.later(
                () -> done.add("second by " + Thread.currentThread().getName())));
        written.countDown();
        writer.join();
        assertThat(isInterrupted).isFalse();
        assertThat(done).containsExactly("first by writer", "second by writer");
    }

    /** A thread of the user's isn't kept for long by what others ask for. */
    @Test
    void aThreadLeavesWhatDoesNotEndToTheSession() {
        goOnAndOn(1_000);
        assertThat(done).hasSizeBetween(50, 200);
        environment.runDue();
        assertThat(done).hasSize(1_000);
    }

    private void goOnAndOn(int times) {
        if (times > 0) {
            resource.run((state, now) -> resource.later(() -> {
                done.add("once more");
                goOnAndOn(times - 1);
            }));
        }
    }

    @Test
    void itLooksOnceAtTheEarliestTimeThatWasAskedFor() {
        long begun = session.now();
        resource.run((state, now) -> {
            resource.lookAt(begun + 20_000_000);
            resource.lookAt(begun + 10_000_001);
            resource.lookAt(begun + 30_000_000);
        });
        environment.advance(10);
        assertThat(done).isEmpty();
        environment.advance(1);
        assertThat(done).as("not before that time").containsExactly("due 11");
        environment.advance(100);
        assertThat(done).hasSize(1);
    }

    @Test
    void aLookThatIsCancelledDoesNotCome() {
        resource.run((state, now) -> resource.lookAt(now + 5_000_000));
        resource.run((state, now) -> resource.cancelLook());
        environment.advance(100);
        assertThat(done).isEmpty();
    }
}
