package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.SharedWords;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.rig.Rig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Several JVMs that want many of the same names at a time. */
@DisplayName("holds of several names, of several JVMs,")
class ManyNamesFleetTest {
    private static final int JVMS = 2;
    private static final int NAMES = 40;
    private static final int NAMES_AT_A_TIME = 20;
    private static final long LEAST = 1;
    private static final Duration PLAYED = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    /**
     * Each thread takes half of the names, drawn at random, in random order, by one of the ways that there are, and
     * increments a plain counter of each. No deadlock: every thread goes on until the time is over. No lost update. No
     * token of a name that isn't greater than all before.
     */
    @Test
    @Tag("proof")
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    @DisplayName("exclude each other, in whatever order the names are given, and cause no deadlock")
    void excludeEachOther() throws IOException {
        long seed = new Random().nextLong();
        String name = rig.name("many");
        String file = folder.resolve("counters").toString();
        try (Fleet fleet = Fleet.start(
                JVMS, jvm -> ChildJvm.of(Member.class).arguments(rig.url(), name, file, String.valueOf(seed + jvm)))) {
            fleet.awaitAll("READY", PATIENCE);
            long begun = System.nanoTime();
            fleet.send("go");
            List<Long> sections = fleet.awaitAll("SECTIONS ", PLAYED.plus(PATIENCE)).stream()
                    .flatMap(line -> Arrays.stream(line.split(" ")).skip(1).map(Long::valueOf))
                    .toList();
            long all = sections.stream().mapToLong(Long::longValue).sum();
            rig.report(all + " sections, seed " + seed, begun, System.nanoTime());
            for (int i = 0; i < sections.size(); i++) {
                Form form = Form.values()[i % Form.values().length];
                assertThat(sections.get(i))
                        .as("sections of a thread that uses %s, seed %d", form, seed)
                        .isGreaterThanOrEqualTo(form.isPatient ? LEAST : 0);
            }
            SharedWords counters = SharedWords.open(Path.of(file), 2 * NAMES);
            assertThat(IntStream.range(0, NAMES).mapToLong(counters::get).sum())
                    .as("counted, seed %d", seed)
                    .isEqualTo(all * NAMES_AT_A_TIME);
        }
    }

    /** A way to have several names for the time of a task. */
    private enum Form {
        HOLD(true) {
            @Override
            boolean runs(Interlock session, List<String> names, Section section) throws InterruptedException {
                try (Hold hold = session.holds().holdAll(names)) {
                    section.run(hold);
                }
                return true;
            }
        },
        TRY(false) {
            @Override
            boolean runs(Interlock session, List<String> names, Section section) throws InterruptedException {
                Optional<Hold> held = session.holds().tryHoldAll(names, Duration.ofMillis(20));
                held.ifPresent(hold -> {
                    section.run(hold);
                    hold.close();
                });
                return held.isPresent();
            }
        },
        FUTURE(true) {
            @Override
            boolean runs(Interlock session, List<String> names, Section section) {
                session.holds()
                        .acquireAll(names)
                        .thenCompose(hold -> {
                            section.run(hold);
                            return hold.release();
                        })
                        .join();
                return true;
            }
        },
        CANCELLED(false) {
            @Override
            boolean runs(Interlock session, List<String> names, Section section) {
                CompletableFuture<Hold> asked = session.holds().acquireAll(names);
                LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(10_000_000));
                if (asked.cancel(false)) {
                    return false;
                }
                Hold hold = asked.join();
                section.run(hold);
                hold.close();
                return true;
            }
        },
        LOCK(true) {
            @Override
            boolean runs(Interlock session, List<String> names, Section section) {
                Lock lock = session.lockAll(names);
                lock.lock();
                try {
                    section.run();
                } finally {
                    lock.unlock();
                }
                return true;
            }
        };

        /** Whether it waits until it has the names. */
        final boolean isPatient;

        Form(boolean isPatient) {
            this.isPatient = isPatient;
        }

        /** Returns whether the section was run. */
        abstract boolean runs(Interlock session, List<String> names, Section section) throws InterruptedException;
    }

    /** What is done with some of the names, which nothing but the hold guards. */
    private static final class Section {
        private final SharedWords words;
        private final List<Integer> indexes;
        private final List<String> names;

        Section(SharedWords words, List<Integer> indexes, List<String> names) {
            this.words = words;
            this.indexes = indexes;
            this.names = names;
        }

        /** Checks the tokens, too. */
        void run(Hold hold) {
            for (int i = 0; i < names.size(); i++) {
                long token = hold.fencingToken(names.get(i));
                assertThat(words.raise(NAMES + indexes.get(i), token))
                        .as("token before that of %s", names.get(i))
                        .isLessThan(token);
            }
            run();
        }

        void run() {
            long[] read = indexes.stream().mapToLong(words::get).toArray();
            // Time for others to interfere.
            LockSupport.parkNanos(1_000);
            for (int i = 0; i < read.length; i++) {
                words.set(indexes.get(i), read[i] + 1);
            }
        }
    }

    /** One of the JVMs. It has a thread for each form. */
    static final class Member {
        private final Interlock session;
        private final String prefix;
        private final SharedWords words;
        private final long seed;

        private Member(String[] args) throws IOException {
            session = RedisServer.connect(() -> Interlock.connect(args[0]));
            prefix = args[1] + ":";
            words = SharedWords.open(Path.of(args[2]), 2 * NAMES);
            seed = Long.parseLong(args[3]);
        }

        public static void main(String[] args) throws IOException, InterruptedException {
            Member member = new Member(args);
            ChildConsole.say("READY");
            ChildConsole.readCommand();
            try (TestThreads threads = new TestThreads(PLAYED.plus(PATIENCE))) {
                List<Running<Long>> running = Arrays.stream(Form.values())
                        .map(form -> threads.start(form.name(), () -> member.play(form)))
                        .toList();
                ChildConsole.say(running.stream()
                        .map(each -> String.valueOf(each.result()))
                        .collect(Collectors.joining(" ", "SECTIONS ", "")));
            }
            member.session.close();
        }

        /** Returns how many sections were run. */
        private long play(Form form) throws InterruptedException {
            Random random = new Random(seed + form.name().hashCode());
            List<Integer> indexes =
                    new ArrayList<>(IntStream.range(0, NAMES).boxed().toList());
            long sections = 0;
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < PLAYED.toNanos()) {
                Collections.shuffle(indexes, random);
                List<Integer> chosen = List.copyOf(indexes.subList(0, NAMES_AT_A_TIME));
                List<String> names =
                        chosen.stream().map(index -> prefix + index).toList();
                if (form.runs(session, names, new Section(words, chosen, names))) {
                    sections++;
                }
            }
            return sections;
        }
    }
}
