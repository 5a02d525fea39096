package dev.interlock.internal.session;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.RedisUnavailableException;
import dev.interlock.Transport;
import dev.interlock.internal.Presence;
import dev.interlock.internal.SessionId;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.RedissonChannels;
import dev.interlock.internal.redis.RedissonMailbox;
import dev.interlock.internal.redis.RedissonScriptRunner;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.redis.UnlockChannels;
import dev.interlock.internal.redis.direct.DirectMailbox;
import dev.interlock.internal.redis.direct.DirectScriptRunner;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A session over one Redis: a server, or what Sentinel or Cluster make of many. */
public final class RedisSession extends Session {
    private static final Logger log = LoggerFactory.getLogger(RedisSession.class);

    /** How long a session that is opened lazily waits before it tries again to open its mailbox. */
    private static final long REOPEN_MILLIS = 500;

    private static final Script PING = Script.load("session/ping");
    private static final Script TELL = Script.load("session/tell");

    private final Node node;
    private final UnlockChannels channels;
    private final Runnable released;
    private final Heartbeats heartbeats = new Heartbeats(this);
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
     * @param transport the connections that it uses, if the client allows for them
     * @param lazy whether to return at once, and to open the mailbox as soon as Redis is there
     * @throws IllegalArgumentException if the client maps names
     * @throws RedisUnavailableException if Redis can't be reached, unless it is to be opened lazily
     */
    public static RedisSession open(
            RedissonClient client, boolean ownsClient, Transport transport, boolean lazy, Settings settings) {
        Runnable released = ownsClient ? () -> client.shutdown(0, 2, TimeUnit.SECONDS) : () -> {};
        RedisSession session = null;
        boolean opened = false;
        try {
            check(client);
            Environment environment = new ThreadEnvironment(RedissonMailbox.suffix(client));
            Outage outage = new Outage(environment.id(), settings, environment.listeners());
            Node open = node(client, transport, settings, environment, outage);
            var gate = lazy ? new Gate(open.runner(), outage, settings) : null;
            Node node = gate == null ? open : new Node(gate, open.mailbox(), outage);
            var channels = new RedissonChannels(client, environment.continuations());
            session = new RedisSession(settings, environment, node, channels, released);
            String servers = addresses(client.getConfig());
            if (gate == null) {
                session.open();
                EvictionWarning.look(session.runner(), servers);
            } else {
                session.openLazily(gate, servers);
            }
            opened = true;
            sayOpen(session, servers + (lazy ? ", as soon as it answers" : ""));
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

    /** Returns a client's Redis as a session uses it. */
    public static Node node(
            RedissonClient client, Transport transport, Settings settings, Environment environment, Outage outage) {
        Presence presence = Presence.ofThisProcess(settings.sessionName());
        if (transport == Transport.DIRECT) {
            String obstacle = DirectScriptRunner.obstacle(client);
            if (obstacle == null) {
                String id = environment.id();
                String threads = "interlock-redis-" + SessionId.brief(id);
                return new Node(
                        new DirectScriptRunner(
                                client, settings, outage, environment.spinner(), environment::schedule, threads),
                        new DirectMailbox(client, id, presence, environment::schedule, threads),
                        outage);
            }
            log.info("Session {} uses the connections of its Redisson client: {}", environment.id(), obstacle);
        }
        return new Node(
                new RedissonScriptRunner(client, settings, outage, environment.spinner()),
                new RedissonMailbox(client, environment.id(), presence),
                outage);
    }

    /**
     * Makes sure that a session can use the client.
     *
     * @throws IllegalArgumentException if it is shut down, or maps names
     */
    public static void check(RedissonClient client) {
        if (client.isShutdown()) {
            throw new IllegalArgumentException("client is shut down; give one that is open");
        }
        String probe = "interlock";
        if (!client.getConfig().getNameMapper().map(probe).equals(probe)) {
            throw new IllegalArgumentException(
                    "client must not have a NameMapper; use InterlockBuilder.namespace instead");
        }
    }

    /** Logs that a session is open. */
    public static void sayOpen(Session session, String servers) {
        log.info(
                "Session {} is open; lease {} ms; Redis at {}",
                session,
                session.settings().leaseMillis(),
                servers);
    }

    /** Returns the servers that a client is configured with, without credentials. */
    public static String addresses(Config config) {
        Collection<String> addresses = List.of("one of its own");
        if (config.isSingleConfig()) {
            addresses = List.of(config.useSingleServer().getAddress());
        } else if (config.isClusterConfig()) {
            addresses = config.useClusterServers().getNodeAddresses();
        } else if (config.isSentinelConfig()) {
            addresses = config.useSentinelServers().getSentinelAddresses();
        }
        return addresses.stream().map(Failures::withoutCredentials).collect(Collectors.joining(", "));
    }

    /** Opens the mailbox, and begins to beat. */
    public void open() {
        CompletableFuture<?> opening = mailbox().open(this::receive, this::reopened);
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
        return new RedisUnavailableException("Redis " + Failures.whyUnreachable(cause), cause);
    }

    // ---- a session that is opened lazily

    private void openLazily(Gate gate, String servers) {
        start();
        tryToOpen(gate, servers);
    }

    private void tryToOpen(Gate gate, String servers) {
        long begun = now();
        mailbox().open(this::receive, this::reopened).whenComplete((done, failure) -> {
            if (failure == null) {
                gate.open();
                outage().heard();
                execute(this::pulse);
                EvictionWarning.look(runner(), servers);
            } else {
                gate.failed(begun, Failures.cause(failure));
                schedule(() -> tryToOpen(gate, servers), REOPEN_MILLIS);
            }
        });
    }

    /**
     * Lets no command through before the mailbox is open: nobody could ask the session whether it uses what it has, and
     * a client that has yet to connect would have the calling thread do that.
     */
    private static final class Gate implements ScriptRunner {
        private final ScriptRunner runner;
        private final Outage outage;
        private final Settings settings;
        private volatile boolean isOpen;
        private volatile @Nullable Throwable reason;

        Gate(ScriptRunner runner, Outage outage, Settings settings) {
            this.runner = runner;
            this.outage = outage;
            this.settings = settings;
        }

        void open() {
            isOpen = true;
        }

        void failed(long begunNanos, Throwable cause) {
            reason = cause;
            outage.failed(begunNanos, cause);
        }

        private CompletableFuture<List<Object>> refuse() {
            Throwable cause = reason;
            if (cause == null) {
                // Before the first attempt to open it has failed, that says nothing of Redis.
                return CompletableFuture.failedFuture(new RedisConnectionException("the mailbox isn't open yet"));
            }
            var failure = new RedisConnectionException("Redis " + Failures.whyUnreachable(cause), cause);
            outage.failed(settings.ticker().getAsLong(), failure);
            return CompletableFuture.failedFuture(failure);
        }

        @Override
        public CompletableFuture<List<Object>> run(Call call) {
            return isOpen ? runner.run(call) : refuse();
        }

        @Override
        public CompletableFuture<List<Object>> runDurably(Call call) {
            return isOpen ? runner.runDurably(call) : refuse();
        }

        @Override
        public List<CompletableFuture<List<Object>>> runAll(List<Call> calls) {
            return isOpen
                    ? runner.runAll(calls)
                    : Stream.generate(this::refuse).limit(calls.size()).toList();
        }

        @Override
        public void load(List<Script> scripts) {
            if (isOpen) {
                runner.load(scripts);
            }
        }

        @Override
        public List<String> routes() {
            return runner.routes();
        }

        @Override
        public void disconnect() {
            runner.disconnect();
        }

        @Override
        public boolean isReplicated() {
            return runner.isReplicated();
        }

        @Override
        public boolean isShutDown() {
            return runner.isShutDown();
        }
    }

    // Messages were lost meanwhile.
    private void reopened() {
        messagesLost();
    }

    private Mailbox mailbox() {
        return node.mailbox();
    }

    /**
     * Returns how long a command takes there and back.
     *
     * @throws RedisUnavailableException if there is no answer within one command time-out
     */
    public Duration ping() {
        ensureOpen();
        long begun = nanoTime();
        answer(runner().run(PING.on(List.of(ScriptRunner.ANY_KEY))), "a ping");
        return Duration.ofNanos(nanoTime() - begun);
    }

    /** Says who takes messages for names in which no participant is interested any more. */
    public void onUnclaimed(Consumer<Mail> receiver) {
        unclaimed = receiver;
    }

    /** Says who takes what sessions ask each other on behalf of operators, and answer. */
    public void onInquiry(Consumer<Mail> receiver) {
        inquiries = receiver;
    }

    /**
     * Puts a message in the mailbox of a session, maybe of this one. Whether it arrives isn't known; only that Redis
     * has refused it.
     */
    @CanIgnoreReturnValue
    public CompletableFuture<?> send(String id, String message) {
        return runner().run(TELL.on(List.of(ScriptRunner.ANY_KEY), id, message));
    }

    /** Returns what runs scripts for this session. */
    public ScriptRunner runner() {
        return node.runner();
    }

    /** Returns what says for which names this session goes on waiting. */
    public Heartbeats heartbeats() {
        return heartbeats;
    }

    /** Returns the channels of Redisson's own clients. */
    public UnlockChannels channels() {
        return channels;
    }

    @Override
    protected List<Mailbox> mailboxes() {
        return List.of(mailbox());
    }

    @Override
    protected void flush() {
        // What is repeated has a timer.
    }

    @Override
    protected void release() {
        runner().disconnect();
        released.run();
    }

    @Override
    protected void receiveUnclaimed(Mail mail) {
        (mail.key().isEmpty() ? inquiries : unclaimed).accept(mail);
    }
}
