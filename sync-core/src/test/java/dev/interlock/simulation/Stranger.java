package dev.interlock.simulation;

import java.util.SplittableRandom;

/** Somebody who publishes messages to the mailboxes of sessions that no script has sent. */
final class Stranger {
    private final Plan plan;
    private final SplittableRandom random;

    Stranger(Plan plan, SplittableRandom random) {
        this.plan = plan;
        this.random = random;
    }

    /**
     * Returns a message about one of the names, and a ticket that the session may have.
     *
     * @param overheard about what sequence the session has come to
     */
    String mail(long overheard) {
        int subject = random.nextInt(plan.subjects().size());
        String key = plan.subjects().get(subject).key(SimulatedSession.name(subject));
        long sequence = overheard - (1L << 20) * random.nextLong(40) + random.nextLong(2);
        // A smaller one would be believed: see docs/security.md.
        long token = random.nextLong(1L << 49, 1L << 62);
        return switch (random.nextInt(5)) {
            case 0 ->
                "g " + sequence + " " + token + " " + random.nextLong(1L << 52) + " " + random.nextInt(4) + " 0 0 "
                        + key;
            case 1 -> "d " + sequence + " " + key;
            case 2 -> "q " + sequence + " " + key;
            case 3 -> "s 2 " + sequence + " " + sequence + " " + key;
            default -> "p " + random.nextInt(1_000) + " " + key;
        };
    }
}
