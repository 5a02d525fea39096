package dev.interlock.internal.redis;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message that a script publishes to a session's mailbox: {@code <kind> <number>… <key>}. The key comes last since it
 * may contain anything. This is the only place that knows the kinds and the positions of their numbers.
 */
public sealed interface Mail {
    /** Returns the key of the synchronizer that the message is about; the empty string, no key, if it is about none. */
    default String key() {
        return "";
    }

    /**
     * A ticket was granted.
     *
     * @param token remote part of the fencing token
     * @param redisMicros when, by Redis' clock
     * @param waiters whether other sessions stand in the queue
     * @param conditions whether threads wait for conditions
     * @param run the last ticket that is served on the same tenure, or 0
     * @param waiter the waiter of a condition that owns the ticket, negative if it was not signalled, or 0
     */
    record Grant(
            String key,
            long sequence,
            long token,
            long redisMicros,
            boolean waiters,
            boolean conditions,
            long run,
            long waiter)
            implements Mail {}

    /** Waiters of conditions have left their conditions, and stand in the queue of the lock. */
    record Admission(String key, List<Admitted> waiters) implements Mail {}

    /**
     * One of them.
     *
     * @param waiter its sequence, negative if it was not signalled
     * @param ticket the sequence of its ticket, or 0
     */
    record Admitted(long waiter, long ticket) {}

    /** Others wait for what the session owns by this sequence. */
    record Demand(String key, long sequence) implements Mail {}

    /** The others wait no more. */
    record DemandOver(String key, long sequence) implements Mail {}

    /**
     * Another session was refused what this one owns by this sequence, and asks whether a thread is inside.
     *
     * @param request the sequence of the request that was refused
     * @param asker the id of the other session
     */
    record IdleQuestion(String key, long sequence, long request, String asker) implements Mail {}

    /**
     * The answer to that.
     *
     * @param request the sequence of the request that was refused
     * @param isInside whether a thread is inside, or about to be; else the name was given up
     */
    record IdleAnswer(String key, long request, boolean isInside) implements Mail {}

    /** The session has to ask again after so long. */
    record AskAgain(String key, long millis) implements Mail {}

    /** The permits granted in this epoch of the session's account are so many in all by now. */
    record Booking(String key, long epoch, long granted) implements Mail {}

    /** The latch that was made at this time is open. */
    record Opening(String key, long born) implements Mail {}

    /** This generation of a barrier is over; the outcome is a code of the barrier's. */
    record GenerationEnd(String key, long generation, long outcome) implements Mail {}

    /** The node of a quorum that sends this has been freed. */
    record NodeFreed(String key) implements Mail {}

    /**
     * An operator takes what the session owns from the thread that has entered with this token.
     *
     * @param number the question
     * @param asker the id of the operator's session
     */
    record Eviction(String key, long number, long token, String asker) implements Mail {
        /** Returns the message. */
        public String text() {
            return "f " + number + ' ' + token + ' ' + asker + ' ' + key;
        }
    }

    /**
     * Another session asks what this one has.
     *
     * @param number the question
     * @param asker the id of the other session
     * @param wanted which names: {@code =} and the name, or {@code ~} and a pattern; the empty string for none
     */
    record Question(long number, String asker, String wanted) implements Mail {
        /** Returns the message. */
        public String text() {
            return "w " + number + ' ' + asker + ' ' + wanted;
        }
    }

    /**
     * The answer to that.
     *
     * @param number the question
     * @param from the id of the session that answers
     * @param report what it has to say
     */
    record Report(long number, String from, String report) implements Mail {
        /** Returns the message. */
        public String text() {
            return "v " + number + ' ' + from + ' ' + report;
        }
    }

    /**
     * Reads a message.
     *
     * @throws IllegalArgumentException if that is none
     */
    static Mail parse(String text) {
        Reader reader = new Reader(text);
        return switch (reader.kind()) {
            case 'g' -> grant(reader);
            case 's' -> admission(reader);
            case 'd' -> reader.mail(Demand::new);
            case 'n' -> reader.mail(DemandOver::new);
            case 'i' -> question(reader);
            case 'a' -> reader.mail((key, request, inside) -> new IdleAnswer(key, request, inside != 0));
            case 'p' -> reader.mail(AskAgain::new);
            case 'o' -> reader.mail(Opening::new);
            case 'q' -> reader.mail((key, sequence) -> new NodeFreed(key));
            case 'b' -> reader.mail(Booking::new);
            case 't' -> reader.mail(GenerationEnd::new);
            case 'f' -> eviction(reader);
            case 'w' -> new Question(reader.number(), reader.word(), reader.key());
            case 'v' -> new Report(reader.number(), reader.word(), reader.key());
            default -> throw new IllegalArgumentException("unknown kind");
        };
    }

    private static Mail grant(Reader reader) {
        long sequence = reader.number();
        long token = reader.number();
        long redisMicros = reader.number();
        long flags = reader.number();
        long run = reader.number();
        long waiter = reader.number();
        return new Grant(reader.key(), sequence, token, redisMicros, (flags & 1) != 0, (flags & 2) != 0, run, waiter);
    }

    private static Mail question(Reader reader) {
        long sequence = reader.number();
        long request = reader.number();
        String asker = reader.word();
        return new IdleQuestion(reader.key(), sequence, request, asker);
    }

    private static Mail eviction(Reader reader) {
        long number = reader.number();
        long token = reader.number();
        String asker = reader.word();
        return new Eviction(reader.key(), number, token, asker);
    }

    private static Mail admission(Reader reader) {
        long numbers = reader.number();
        if (numbers < 0 || numbers % 2 != 0) {
            throw new IllegalArgumentException("not a count of pairs");
        }
        List<Admitted> waiters = new ArrayList<>();
        for (long i = 0; i < numbers; i += 2) {
            long waiter = reader.number();
            waiters.add(new Admitted(waiter, reader.number()));
        }
        return new Admission(reader.key(), waiters);
    }

    /** Makes a message of the key and one number. */
    interface OneNumber {
        Mail of(String key, long number);
    }

    /** Makes a message of the key and two numbers. */
    interface TwoNumbers {
        Mail of(String key, long first, long second);
    }

    /** Goes through the fields of a message from left to right. */
    final class Reader {
        private final String text;
        private int next = 2;

        private Reader(String text) {
            this.text = text;
        }

        private char kind() {
            if (text.length() < 2 || text.charAt(1) != ' ') {
                throw new IllegalArgumentException("no kind");
            }
            return text.charAt(0);
        }

        private long number() {
            return Long.parseLong(word());
        }

        private String word() {
            int end = text.indexOf(' ', next);
            if (end < 0) {
                throw new IllegalArgumentException("too short");
            }
            String word = text.substring(next, end);
            next = end + 1;
            return word;
        }

        private String key() {
            return text.substring(next);
        }

        private Mail mail(OneNumber constructor) {
            long number = number();
            return constructor.of(key(), number);
        }

        private Mail mail(TwoNumbers constructor) {
            long first = number();
            long second = number();
            return constructor.of(key(), first, second);
        }
    }

    /** Returns the greatest sequence of a ticket that the message tells of, or null if it tells of none. */
    default @Nullable Long greatestTicket() {
        if (this instanceof Grant grant) {
            return grant.sequence();
        } else if (this instanceof Demand demand) {
            return demand.sequence();
        } else if (this instanceof IdleQuestion question) {
            return question.sequence();
        }
        return this instanceof Admission admission
                ? admission.waiters().stream()
                        .map(Admitted::ticket)
                        .max(Long::compare)
                        .orElse(null)
                : null;
    }
}
