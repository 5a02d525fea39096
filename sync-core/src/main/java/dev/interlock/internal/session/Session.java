package dev.interlock.internal.session;

import com.google.common.primitives.ImmutableLongArray;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.redis.Backlog;
import dev.interlock.internal.redis.Mailbox.Message;
import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One owner of names, as Redis sees it. Has one mailbox, one pulse and one lease renewer, however many names it uses:
 *
 * <ul>
 *   <li>The <em>mailbox</em> is the channel on which grants and demands arrive.
 *   <li>The <em>pulse</em>, once a second, asks anew about every name that is waited for. So a lost message costs a
 *       second, and Redis knows that the waiters are alive.
 *   <li>The <em>lease renewer</em> renews what is owned, every third of the lease, and notices leases that are over.
 * </ul>
 *
 * <p>Sequences belong to the session and only grow, so that no two requests for a name share one even if the lock
 * object was dropped in between.
 */
public final class Session {
    /**
     * How far apart the sequences are that a session gives itself. Scripts count on no more waiters than that at a
     * time.
     */
    public static final long SEQUENCE_STEP = 1 << 20;

    private static final Logger log = LoggerFactory.getLogger(Session.class);
    private static final long PULSE_MILLIS = 1_000;

    /** A lease that begins with a short one leaves time for some attempts to renew it. */
    private static final long KEEP_MILLIS = 250;

    /** A first connection may take longer than a command: Redisson opens its pool, and retries. */
    private static final long OPEN_MILLIS = 10_000;

    /** After so long a mailbox is tried again that could not be opened at a node of a quorum. */
    private static final long REOPEN_MILLIS = 2_000;

    /**
     * A client has 250 on default settings, and whoever else uses it needs some, the next session's mailbox among them.
     */
    private static final int CHANNELS = 100;

    private final String id = "interlock-" + UUID.randomUUID();
    private final List<Node> nodes;
    private final boolean ownsClient;
    private final Settings settings;
    private final Outage outage;
    private final Semaphore channels = new Semaphore(CHANNELS);
    private final AtomicLong sequences = new AtomicLong();
    private final ConcurrentMap<Object, Participant> stakes = new ConcurrentHashMap<>();

    /** What is to be confirmed though no stake speaks of it any more. */
    private final ConcurrentMap<Object, CompletableFuture<?>> outstanding = new ConcurrentHashMap<>();

    private final ScheduledThreadPoolExecutor timer;
    private volatile @Nullable Thread timerThread;
    private final ThreadPoolExecutor listeners;
    private final LeaseRenewer renewer;

    /** By the real time, however slowly that passes for those who wait. */
    private final AnswerSpinner spinner = new AnswerSpinner(System::nanoTime);

    private volatile boolean closed;

    /** Takes messages for names in which this session has no stake any more. */
    private volatile Consumer<Message> unclaimed = message -> {};

    /**
     * Opens a session.
     *
     * @throws IllegalArgumentException if the client maps names
     * @throws dev.interlock.RedisUnavailableException if Redis can't be reached
     */
    public static Session open(RedissonClient client, boolean ownsClient, Settings settings) {
        Session session = null;
        try {
            session = new Session(List.of(client), ownsClient, settings);
            session.only().mailbox().open(Math.max(OPEN_MILLIS, settings.commandTimeoutMillis()));
            Session opened = session;
            session = null;
            opened.start();
            return opened;
        } finally {
            if (session != null) {
                session.stop();
            }
        }
    }

    /**
     * Opens a session over several independent servers, all of which are clients' own to shut down. Returns when a
     * mailbox is open at a majority of them; the others follow when they can.
     *
     * @throws IllegalArgumentException if a client maps names
     * @throws dev.interlock.RedisUnavailableException if no majority can be reached
     */
    public static Session open(List<RedissonClient> clients, Settings settings) {
        Session session = null;
        try {
            session = new Session(clients, false, settings);
            session.openMailboxes(Math.max(OPEN_MILLIS, settings.commandTimeoutMillis()));
            Session opened = session;
            session = null;
            opened.start();
            return opened;
        } finally {
            if (session != null) {
                session.stop();
            }
        }
    }

    private Session(List<RedissonClient> clients, boolean ownsClient, Settings settings) {
        clients.forEach(Session::check);
        this.ownsClient = ownsClient;
        this.settings = settings;
        ThreadFactory timers = threads("timer");
        this.timer = new ScheduledThreadPoolExecutor(1, task -> timerThread = timers.newThread(task));
        this.timer.setRemoveOnCancelPolicy(true);
        this.listeners =
                new ThreadPoolExecutor(1, 1, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads("listeners"));
        this.listeners.allowCoreThreadTimeOut(true);
        boolean isAlone = clients.size() == 1;
        this.outage = new Outage(isAlone ? "Redis" : "A majority of the nodes", settings, listeners());
        this.nodes = IntStream.range(0, clients.size())
                .mapToObj(i -> new Node(
                        clients.get(i),
                        id,
                        settings,
                        isAlone ? outage : new Outage("Node " + (i + 1), settings.unheard(), listeners()),
                        spinner,
                        this::receive,
                        () -> execute(this::pulse),
                        new Backlog(settings, this::schedule, this::isClosed)))
                .toList();
        this.renewer = new LeaseRenewer(settings, this::schedule, calls -> runner().runAll(calls), listeners());
    }

    private static void check(RedissonClient client) {
        if (client.isShutdown()) {
            throw new IllegalArgumentException("client is shut down");
        }
        String probe = "interlock";
        if (!client.getConfig().getNameMapper().map(probe).equals(probe)) {
            throw new IllegalArgumentException("client must not map names; use a namespace instead");
        }
    }

    private void openMailboxes(long timeoutMillis) {
        CountDownLatch majority = new CountDownLatch(nodes.size() / 2 + 1);
        nodes.forEach(node -> openMailbox(node, majority));
        if (!Uninterruptibles.awaitUninterruptibly(majority, timeoutMillis, TimeUnit.MILLISECONDS)) {
            throw new RedisUnavailableException("a majority of the nodes can't be reached", null);
        }
    }

    private void openMailbox(Node node, CountDownLatch majority) {
        node.mailbox().openSoon().whenComplete((done, failure) -> {
            if (failure == null) {
                majority.countDown();
            } else {
                schedule(() -> openMailbox(node, majority), REOPEN_MILLIS);
            }
        });
    }

    private ThreadFactory threads(String role) {
        return new ThreadFactoryBuilder()
                .setDaemon(true)
                .setNameFormat("interlock-" + role + "-" + id.substring(10, 18))
                .build();
    }

    private void start() {
        repeat(this::pulse, PULSE_MILLIS);
        repeat(() -> renewer.keep(stakes.values()), keepMillis());
    }

    private long keepMillis() {
        return Math.max(5, Math.min(KEEP_MILLIS, settings.leaseMillis() / 10));
    }

    private void repeat(Runnable task, long millis) {
        timer.scheduleWithFixedDelay(guarded(task), millis, millis, TimeUnit.MILLISECONDS);
    }

    // What one task meets must not end the beats of a session.
    static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log.error("A task of the session failed", e);
            }
        };
    }

    /** Returns the id: a fresh one, since two sessions may share one client. */
    public String id() {
        return id;
    }

    /** Says who takes messages for names in which this session has no stake any more. */
    public void onUnclaimed(Consumer<Message> receiver) {
        unclaimed = receiver;
    }

    /** Throws {@link IllegalStateException} if the session is closed. */
    public void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("the Interlock session is closed");
        }
    }

    /** Returns the key for a name: the name, within the session's namespace. */
    public String key(String name) {
        return settings.namespace().isEmpty() ? name : settings.namespace() + ":" + name;
    }

    /** Returns what this session was configured with. */
    public Settings settings() {
        return settings;
    }

    /** Returns what runs scripts for this session. */
    public ScriptRunner runner() {
        return only().runner();
    }

    private Node only() {
        if (nodes.size() != 1) {
            throw new IllegalStateException("a session over several nodes has to say which one it means");
        }
        return nodes.get(0);
    }

    /** Returns the servers that it uses: one, or those of a quorum. */
    public List<Node> nodes() {
        return nodes;
    }

    /** Returns what knows of outages. */
    public Outage outage() {
        return outage;
    }

    /** Returns what renews leases. */
    public LeaseRenewer renewer() {
        return renewer;
    }

    /** Returns what looks out for answers. */
    public AnswerSpinner spinner() {
        return spinner;
    }

    /** Returns the client. */
    public RedissonClient client() {
        return only().client();
    }

    /** Returns whether this session is closed, or about to be. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns what limits the channels that may be open at a time beside the mailbox. */
    public Semaphore channels() {
        return channels;
    }

    /**
     * Returns whether Redisson's clients listen to sharded channels here, which depends on the server and on settings
     * of the client's.
     */
    public boolean isSharded() {
        return client() instanceof Redisson redisson
                ? redisson.getCommandExecutor()
                        .getConnectionManager()
                        .getSubscribeService()
                        .isShardingSupported()
                : client().getConfig().isClusterConfig();
    }

    /** Returns the ticker's reading. */
    public long now() {
        return settings.ticker().getAsLong();
    }

    /**
     * Returns a sequence that this session has not used yet, greater than all before: a multiple of
     * {@link #SEQUENCE_STEP}. Those between are for scripts to give to waiters of conditions.
     */
    public long nextSequence() {
        return sequences.addAndGet(SEQUENCE_STEP);
    }

    /** Keeps an object alive, and in the beat of pulse and lease renewer, until {@link #unpin}. */
    public void pin(Object key, Participant stake) {
        stakes.put(key, stake);
    }

    /** Ends what {@link #pin} began. What is still to be confirmed has to be {@linkplain #expect expected} before. */
    public void unpin(Object key, Participant stake) {
        stakes.remove(key, stake);
    }

    /** Has {@link #close} wait for a command's confirmation, until that is there or was cancelled. */
    public void expect(Object command, CompletableFuture<?> confirmation) {
        outstanding.put(command, confirmation);
        confirmation.whenComplete((done, failure) -> outstanding.remove(command));
    }

    /** Returns whether such a command is still to be confirmed. */
    public boolean isExpected(Predicate<Object> command) {
        return outstanding.keySet().stream().anyMatch(command);
    }

    /** Runs a task that doesn't block, soon. */
    public void execute(Runnable task) {
        schedule(task, 0);
    }

    /** Runs a task that doesn't block, unless the session is closed before. */
    public void schedule(Runnable task, long millis) {
        try {
            timer.schedule(guarded(task), millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("A task was dropped since the session is closed", e);
        }
    }

    /** Runs users' listeners, which may take their time, one after the other. */
    public Executor listeners() {
        return task -> {
            try {
                listeners.execute(guarded(task));
            } catch (RejectedExecutionException e) {
                log.debug("A listener was not told since the session is closed", e);
            }
        };
    }

    /** Runs a listener on the current thread, which locks or unlocks, unless that is the one that serves all names. */
    public void tell(Runnable listener) {
        if (Thread.currentThread() == timerThread) {
            listeners().execute(listener);
            return;
        }
        // What a listener throws must not cost the thread its lock.
        try {
            listener.run();
        } catch (RuntimeException | Error e) {
            log.warn("A listener failed", e);
        }
    }

    /** Tells the session's listener and those of the lock. */
    public void reportLoss(LeaseLostException loss, List<Consumer<? super LeaseLostException>> local) {
        log.warn("{}", loss.getMessage());
        listeners().execute(() -> settings.listener().lost(loss));
        for (Consumer<? super LeaseLostException> listener : local) {
            listeners().execute(() -> listener.accept(loss));
        }
    }

    private void pulse() {
        stakes.values().forEach(stake -> guarded(stake::pulse).run());
    }

    /** Waits for an answer, one command time-out at most; null if there was none. Interrupts are kept for later. */
    public <T> @Nullable T await(CompletableFuture<T> reply) {
        try {
            return Uninterruptibles.getUninterruptibly(reply, settings.commandTimeoutMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return null;
        }
    }

    /** Gives everything back. */
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        long deadline = now() + TimeUnit.MILLISECONDS.toNanos(settings.commandTimeoutMillis());
        try {
            List<CompletableFuture<?>> confirmations = new ArrayList<>();
            stakes.values()
                    .forEach(stake ->
                            guarded(() -> confirmations.add(stake.close())).run());
            // Afterwards: a stake that was let go in this moment has left a command.
            confirmations.addAll(outstanding.values());
            nodes.forEach(node -> node.backlog().flush());
            await(CompletableFuture.allOf(confirmations.toArray(CompletableFuture<?>[]::new)));
            nodes.forEach(node -> guarded(
                            () -> node.mailbox().close(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - now()))))
                    .run());
        } finally {
            stop();
        }
    }

    private void stop() {
        closed = true;
        timer.shutdownNow();
        listeners.shutdown();
        if (ownsClient) {
            client().shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    // Whatever is granted in vain is given back, which rules out all sequences up to it. So a stranger's number that is
    // yet
    // to come would rule out those of the future.
    private boolean isOfTheFuture(Message message) {
        long end = sequences.get() + SEQUENCE_STEP;
        ImmutableLongArray numbers = message.numbers();
        if (message.kind() == 'g') {
            return numbers.get(0) >= end;
        }
        return message.kind() == 's'
                && IntStream.range(1, numbers.length()).anyMatch(i -> i % 2 == 0 && numbers.get(i) >= end);
    }

    private void receive(Message message) {
        if (isOfTheFuture(message)) {
            log.warn("A message tells of a ticket that this session has never had; it is ignored");
            return;
        }
        Participant stake = stakes.get(message.key());
        if (stake != null) {
            stake.receive(message);
        } else if (!closed) {
            unclaimed.accept(message);
        }
    }
}
