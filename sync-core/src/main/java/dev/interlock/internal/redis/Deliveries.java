package dev.interlock.internal.redis;

import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Delivers messages of a mailbox. One that can't be read or dealt with is told to the log, and touches no other. */
public final class Deliveries {
    private static final Logger log = LoggerFactory.getLogger(Deliveries.class);
    private static final RareLog UNREADABLE = new RareLog();
    private static final RareLog FAILED = new RareLog();

    private Deliveries() {}

    /** Delivers a message to a session. */
    public static void deliver(String text, String session, Consumer<Mail> receiver) {
        Mail mail;
        try {
            mail = Mail.parse(text);
        } catch (IllegalArgumentException e) {
            // The exception would hold the whole text once more.
            UNREADABLE.say(
                    session,
                    often -> log.warn(
                            "Unreadable message in the mailbox; its sender may be of another version: {}{}",
                            Names.excerpt(text),
                            often));
            return;
        }
        try {
            receiver.accept(mail);
        } catch (RuntimeException e) {
            FAILED.say(
                    session,
                    often -> log.error(
                            "A message in the mailbox could not be dealt with: {}{}", Names.excerpt(text), often, e));
        }
    }
}
