package dev.interlock.internal.quorum;

import dev.interlock.RedisUnavailableException;
import dev.interlock.Transport;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Script.Call;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Environment;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Session;
import dev.interlock.internal.session.ThreadEnvironment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;

/** A session over several independent servers, of which a majority decides. */
public final class QuorumSession extends Session {
    /** One of the independent servers of a quorum session. */
    public static final class QuorumNode {
        /**
         * A server that has gone silent gets no more commands at a time: each takes a connection until it is given up.
         */
        private static final int MOST_UNANSWERED = 8;

        private final Node node;
        private final Backlog backlog;
        private final AtomicInteger unanswered = new AtomicInteger();

        QuorumNode(Node node, Backlog backlog) {
            this.node = node;
            this.backlog = backlog;
        }

        Node node() {
            return node;
        }

        /** Returns what the node has yet to confirm. */
        public Backlog backlog() {
            return backlog;
        }

        /** Runs a script there, once. Fails at once if the server has been silent and other commands wait for it. */
        public CompletableFuture<List<Object>> run(Call call) {
            if (node.outage().isActive() && unanswered.get() >= MOST_UNANSWERED) {
                return CompletableFuture.failedFuture(new RedisTimeoutException("the node is silent"));
            }
            unanswered.incrementAndGet();
            return node.runner().run(call).whenComplete((reply, failure) -> unanswered.decrementAndGet());
        }
    }

    /** After so long a mailbox is tried again that could not be opened. */
    private static final long REOPEN_MILLIS = 2_000;

    private final List<QuorumNode> nodes;

    /**
     * Creates a session.
     *
     * @param outage that of the majority
     */
    public QuorumSession(Settings settings, Environment environment, Outage outage, List<Node> nodes) {
        super(settings, environment, outage, calls -> {
            throw new IllegalStateException("quorum locks renew their leases at all nodes by themselves");
        });
        this.nodes = nodes.stream()
                .map(node -> new QuorumNode(node, new Backlog(settings, environment)))
                .toList();
    }

    /**
     * Opens a session. Returns when a mailbox is open at a majority of the servers; the others follow when they can.
     *
     * @param clients one of each server; the session doesn't shut them down
     * @throws IllegalArgumentException if a client maps names
     * @throws RedisUnavailableException if no majority can be reached
     */
    public static QuorumSession open(List<RedissonClient> clients, Transport transport, Settings settings) {
        clients.forEach(RedisSession::check);
        QuorumSession session = over(clients, transport, settings);
        boolean opened = false;
        try {
            session.open();
            opened = true;
            RedisSession.sayOpen(
                    session,
                    clients.stream()
                            .map(client -> RedisSession.addresses(client.getConfig()))
                            .collect(Collectors.joining(", ")));
            return session;
        } finally {
            if (!opened) {
                session.stop();
            }
        }
    }

    private static QuorumSession over(List<RedissonClient> clients, Transport transport, Settings settings) {
        Environment environment = new ThreadEnvironment("");
        List<Node> nodes = IntStream.range(0, clients.size())
                .mapToObj(i -> {
                    Outage outage = new Outage(
                            "Node " + (i + 1), environment.id(), settings.unheard(), environment.listeners());
                    return RedisSession.node(clients.get(i), transport, settings, environment, outage);
                })
                .toList();
        Outage outage = new Outage("A majority of the nodes", environment.id(), settings, environment.listeners());
        return new QuorumSession(settings, environment, outage, nodes);
    }

    /** Opens the mailboxes, and begins to beat. */
    public void open() {
        AtomicInteger missing = new AtomicInteger(majority());
        CompletableFuture<Boolean> majority = new CompletableFuture<>();
        nodes.forEach(node -> openMailbox(node.node().mailbox(), missing, majority));
        if (RemoteWait.forAnswer(this, majority, TimeUnit.MILLISECONDS.toNanos(openMillis())) == null) {
            // Subscriptions that are there, or come yet, would stay on clients that others go on using.
            mailboxes().forEach(Mailbox::abandon);
            throw new RedisUnavailableException("a majority of the nodes can't be reached", null);
        }
        start();
    }

    private void openMailbox(Mailbox mailbox, AtomicInteger missing, CompletableFuture<Boolean> majority) {
        mailbox.open(this::receive, () -> execute(this::pulse)).whenComplete((done, failure) -> {
            if (failure != null) {
                schedule(() -> openMailbox(mailbox, missing, majority), REOPEN_MILLIS);
            } else if (missing.decrementAndGet() == 0) {
                majority.complete(true);
            }
        });
    }

    /** Returns the servers that it uses. */
    public List<QuorumNode> nodes() {
        return nodes;
    }

    /** Returns how many of the servers are a majority. */
    public int majority() {
        return nodes.size() / 2 + 1;
    }

    @Override
    protected List<Mailbox> mailboxes() {
        return nodes.stream().map(node -> node.node().mailbox()).toList();
    }

    @Override
    protected void flush() {
        nodes.forEach(node -> node.backlog().flush());
    }

    @Override
    protected void release() {
        // The clients are the users' own.
        nodes.forEach(node -> node.node().runner().disconnect());
    }

    @Override
    protected void receiveUnclaimed(Mail mail) {
        // A node that was freed concerns only sessions that wait for it.
    }
}
