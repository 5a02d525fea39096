package dev.interlock.internal.lock.script;

import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.RedisSession;

/** What becomes of messages about locks in which their session has no interest any more. */
public final class UnclaimedMail {
    private UnclaimedMail() {}

    /** Gives back a grant, or the tickets of waiters; answers a question. */
    public static void receive(RedisSession session, Mail mail) {
        if (mail instanceof Mail.Grant grant) {
            giveBack(session, mail.key(), grant.sequence(), grant.waiter());
        } else if (mail instanceof Mail.Admission admission) {
            admission.waiters().forEach(one -> giveBack(session, mail.key(), one.ticket(), one.waiter()));
        } else if (mail instanceof Mail.IdleQuestion question) {
            answerOnceReleased(session, new LockScripts(session, mail.key()), question);
        }
    }

    private static void giveBack(RedisSession session, String key, long sequence, long waiter) {
        ReliableRelease.giveBack(session, new LockScripts(session, key), sequence, waiter, waiter > 0, 0);
    }

    /** Tells who asks that nobody is inside, as soon as all that the session gives up of the name is released. */
    static void answerOnceReleased(RedisSession session, LockScripts scripts, Mail.IdleQuestion question) {
        ReliableRelease.allConfirmed(session, scripts.key())
                .whenComplete((released, failure) -> scripts.answer(question, false));
    }
}
