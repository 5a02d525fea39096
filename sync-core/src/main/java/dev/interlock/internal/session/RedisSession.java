package dev.interlock.internal.session;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.RedissonChannels;
import dev.interlock.internal.redis.RedissonMailbox;
import dev.interlock.internal.redis.RedissonScriptRunner;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.redis.UnlockChannels;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.redisson.api.RedissonClient;

/** A session over one Redis: a server, or what Sentinel or Cluster make of many. */
public final class RedisSession extends Session {
    private static final Script TELL = Script.load("session/tell");

    private final Node node;
    private final UnlockChannels channels;
    private final Runnable released;
    private volatile Consumer<Mail> unclaimed = mail -> {};
    private volatile Consumer<Mail> inquiries = mail -> {};

    /**
     * Creates a session.
     *
     * @param channels those of Redisson's clients
     * @param released runs when the session doesn't need its Redis any more
     */
    public RedisSession(
            Settings settings, Environment environment, Node node, UnlockChannels channels, Runnable released) {
        super(settings, environment, node.outage(), node.runner()::runAll);
        this.node = node;
        this.channels = channels;
        this.released = released;
    }

    /**
     * Opens a session.
     *
     * @throws IllegalArgumentException if the client maps names
     * @throws RedisUnavailableException if Redis can't be reached
     */
    public static RedisSession open(RedissonClient client, boolean ownsClient, Settings settings) {
        Runnable released = ownsClient ? () -> client.shutdown(0, 2, TimeUnit.SECONDS) : () -> {};
        RedisSession session = null;
        boolean opened = false;
        try {
            check(client);
            session = over(client, settings, released);
            session.open();
            opened = true;
            return session;
        } finally {
            if (!opened) {
                if (session != null) {
                    session.stop();
                } else {
                    released.run();
                }
            }
        }
    }

    private static RedisSession over(RedissonClient client, Settings settings, Runnable released) {
        Environment environment = new ThreadEnvironment();
        Outage outage = new Outage(environment.id(), settings, environment.listeners());
        Node node = new Node(
                new RedissonScriptRunner(client, settings, outage, environment.spinner()),
                new RedissonMailbox(client, environment.id()),
                outage);
        return new RedisSession(settings, environment, node, new RedissonChannels(client), released);
    }

    /** Opens the mailbox, and begins to beat. */
    public void open() {
        CompletableFuture<?> opening = mailbox().open(this::receive, () -> execute(this::pulse));
        RemoteWait.forAnswer(this, opening, TimeUnit.MILLISECONDS.toNanos(openMillis()));
        if (!opening.isDone()) {
            // The subscription may come yet, on a client that others go on using.
            mailbox().abandon();
            throw unavailable(new TimeoutException("no answer"));
        }
        if (opening.isCompletedExceptionally()) {
            throw unavailable(Failures.of(opening));
        }
        start();
    }

    private static RedisUnavailableException unavailable(Throwable cause) {
        return new RedisUnavailableException(
                "Redis " + Failures.whyUnreachable(cause) + ": the session's mailbox doesn't open", cause);
    }

    private Mailbox mailbox() {
        return node.mailbox();
    }

    /** Says who takes messages for names in which no participant is interested any more. */
    public void onUnclaimed(Consumer<Mail> receiver) {
        unclaimed = receiver;
    }

    /** Says who takes what sessions ask each other on behalf of operators, and answer. */
    public void onInquiry(Consumer<Mail> receiver) {
        inquiries = receiver;
    }

    /** Puts a message in the mailbox of a session, maybe of this one. Whether it arrives isn't known. */
    public void send(String id, String message) {
        runner().run(TELL.on(List.of(ScriptRunner.ANY_KEY), id, message));
    }

    /** Returns what runs scripts for this session. */
    public ScriptRunner runner() {
        return node.runner();
    }

    /** Returns the channels of Redisson's own clients. */
    public UnlockChannels channels() {
        return channels;
    }

    @Override
    List<Mailbox> mailboxes() {
        return List.of(mailbox());
    }

    @Override
    void flush() {
        // What is repeated has a timer.
    }

    @Override
    void release() {
        released.run();
    }

    @Override
    void receiveUnclaimed(Mail mail) {
        (mail.key().isEmpty() ? inquiries : unclaimed).accept(mail);
    }
}
