package dev.interlock.internal.session;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The wait of a thread that closes a session: until the threads of the session have given back what they have. */
final class HolderWait {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Of so many the log tells the names. */
    private static final int MOST_NAMES = 20;

    private HolderWait() {}

    /**
     * Waits until no thread has anything, for so long at most. An interrupt ends the wait, and is kept.
     *
     * @return what threads still have, for people; the empty string for nothing
     */
    static String await(Session session, long waitNanos) {
        long begun = session.nanoTime();
        while (true) {
            List<String> held = retire(session);
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

    private static List<String> retire(Session session) {
        List<String> held = new ArrayList<>();
        session.participants()
                .forEach(participant -> Session.guarded(() -> {
                            String what = participant.retire();
                            if (what != null) {
                                held.add(what);
                            }
                        })
                        .run());
        Collections.sort(held);
        return held;
    }
}
