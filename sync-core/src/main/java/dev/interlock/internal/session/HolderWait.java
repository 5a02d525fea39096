package dev.interlock.internal.session;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The wait of a thread until the threads of a session have given back what they have. */
final class HolderWait {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Of so many the log tells the names. */
    private static final int MOST_NAMES = 20;

    private HolderWait() {}

    /**
     * Waits until no thread has anything, for so long at most. An interrupt ends the wait, and is kept.
     *
     * @param look what a participant's threads have, for people, or null; called again and again
     * @return what threads still have, for people; the empty string for nothing
     */
    static String await(Session session, long waitNanos, Function<Participant, @Nullable String> look) {
        long begun = session.nanoTime();
        while (true) {
            List<String> held = held(session, look);
            long left = waitNanos - (session.nanoTime() - begun);
            if (held.isEmpty()
                    || left <= 0
                    || session.isClosed()
                    || Thread.currentThread().isInterrupted()) {
                return text(held);
            }
            RemoteWait.pause(session, session, Math.min(left, LOOK_NANOS));
        }
    }

    private static String text(List<String> held) {
        String some = held.stream().limit(MOST_NAMES).collect(Collectors.joining(", "));
        return held.size() <= MOST_NAMES ? some : some + " and " + (held.size() - MOST_NAMES) + " more";
    }

    private static List<String> held(Session session, Function<Participant, @Nullable String> look) {
        List<String> held = new ArrayList<>();
        session.participants()
                .forEach(participant -> Session.guarded(() -> {
                            String what = look.apply(participant);
                            if (what != null) {
                                held.add(what);
                            }
                        })
                        .run());
        Collections.sort(held);
        return held;
    }
}
