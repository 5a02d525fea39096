package dev.interlock.internal.session;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The wait of a thread that closes a session: until the threads of the session have given back what they have. */
final class HolderWait {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private HolderWait() {}

    /**
     * Waits until no thread has anything, for so long at most. An interrupt ends the wait, and is kept.
     *
     * @return what threads still have, for people
     */
    static List<String> await(Session session, long waitNanos) {
        long begun = session.nanoTime();
        while (true) {
            List<String> held = session.participants().stream()
                    .map(Participant::retire)
                    .filter(Objects::nonNull)
                    .sorted()
                    .toList();
            long left = waitNanos - (session.nanoTime() - begun);
            if (held.isEmpty()
                    || left <= 0
                    || session.isClosed()
                    || Thread.currentThread().isInterrupted()) {
                return held;
            }
            RemoteWait.pause(session, session, Math.min(left, LOOK_NANOS));
        }
    }
}
