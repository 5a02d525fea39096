package dev.interlock;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.Names;
import dev.interlock.internal.SessionName;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.quorum.QuorumSession;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.RedisSession;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Configures and opens a session. Every setter throws {@link IllegalArgumentException} for a value out of its range.
 */
public final class InterlockBuilder {
    private static final Duration MAX = Duration.ofDays(365);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration NODE_TIMEOUT = Duration.ofMillis(500);
    private static final int LEAST_NODES = 3;
    private static final int MOST_REPLICAS = 100;
    private static final String TRANSPORT = "interlock.transport";

    private @Nullable RedissonClient client;
    private @Nullable RedisUri uri;

    /** The credentials and trusted certificates; the URI describes the connection itself. */
    private final Config access = new Config();

    private Duration lease = Duration.ofSeconds(30);
    private Duration handoffSlice = Duration.ofMillis(10);
    private boolean adaptiveRetention = true;
    private boolean confirmedUnlock;
    private boolean waitForLostHolders;
    private @Nullable Duration deadlockWatch;
    private Duration redisTimeout = Duration.ofSeconds(30);
    private @Nullable Duration commandTimeout;
    private Duration openTimeout = Duration.ofSeconds(10);
    private @Nullable Executor holdExecutor;
    private int replicaAcknowledgements = 1;
    private String namespace = "";
    private @Nullable String sessionName;
    private boolean lazy;
    private @Nullable Transport transport;
    private SyncListener listener = SyncListener.NONE;
    private LongSupplier ticker = System::nanoTime;
    private InstantSource wallClock = InstantSource.system();

    InterlockBuilder() {}

    /**
     * Uses an existing client; {@link Interlock#close()} leaves it open. Two sessions may share one client. A client
     * with a name mapper is refused, since the mapper would hide Redisson's own locks of the same name.
     *
     * @param client the client
     * @return this
     */
    public InterlockBuilder client(RedissonClient client) {
        requireNonNull(client, "client");
        this.client = client;
        return this;
    }

    /**
     * Opens a client of the session's own; {@link Interlock#close()} shuts it down.
     *
     * <ul>
     *   <li>{@code redis://[user:password@]host[:port][/database]}: a single server
     *   <li>{@code redis-sentinel://[user:password@]host[:port],…/master[/database]}: the master of this name, which
     *       the sentinels at these addresses know, and its replicas. It suffices that one sentinel answers. Sentinels
     *       get the same credentials as Redis if they ask for any
     *   <li>{@code redis-cluster://[user:password@]host[:port],…}: the cluster to which the nodes at these addresses
     *       belong. It suffices that one of them answers
     * </ul>
     *
     * <p>A missing port is 6379, that of a sentinel 26379. {@code rediss}, {@code rediss-sentinel} and
     * {@code rediss-cluster} connect by TLS, to all servers and sentinels; {@code valkey} is another word for
     * {@code redis}. In the user name, password and name of the master, percent-encode all characters but letters,
     * digits and {@code -._~}; see also {@link #credentials}. For unix sockets and everything else, configure a
     * Redisson client and pass it to {@link #client}.
     *
     * @param uri in one of these forms
     * @return this
     * @throws IllegalArgumentException if {@code uri} has none of these forms; the message leaves out the password
     */
    public InterlockBuilder uri(String uri) {
        this.uri = RedisUri.parse(uri);
        return this;
    }

    /**
     * Authenticates as a user of Redis' ACL; an alternative to credentials in the URI, in any of its forms. Needs no
     * encoding.
     *
     * @param user the user, or the empty string for {@code default}
     * @param password the password, not empty
     * @return this
     */
    public InterlockBuilder credentials(String user, String password) {
        requireNonNull(user, "user");
        if (requireNonNull(password, "password").isEmpty()) {
            throw new IllegalArgumentException("password must not be empty");
        }
        access.setUsername(user.isEmpty() ? null : user);
        access.setPassword(password);
        return this;
    }

    /**
     * Trusts the certificates in a file, instead of those that the JVM trusts; for a {@code rediss://} URI. The
     * server's certificate must contain the host name or address of the URI in any case; behind sentinels and in a
     * cluster, the one that these announce. For other settings, such as client certificates, configure a Redisson
     * client and pass it to {@link #client}.
     *
     * @param file a key store of a type that the JVM knows, such as PKCS #12 or JKS
     * @param password the password of the file
     * @return this
     * @throws IllegalArgumentException if the file can't be read, or contains no certificate
     */
    public InterlockBuilder trustStore(Path file, String password) {
        requireNonNull(file, "file");
        requireNonNull(password, "password");
        try {
            KeyStore trusted = KeyStore.getInstance(file.toFile(), password.toCharArray());
            if (trusted.size() == 0) {
                throw new IllegalArgumentException("file has no certificate in it: '" + file + "'");
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            access.setSslTrustManagerFactory(trust);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "file must be a key store that can be opened with the password, but is '" + file + "'", e);
        }
        return this;
    }

    /**
     * How long a name stays locked after its JVM has died. While the session owns the name, it renews the lease after
     * every third of it. Default 30 s.
     *
     * @param lease 100 ms to 365 days
     * @return this
     */
    public InterlockBuilder lease(Duration lease) {
        this.lease = checked("lease", lease, Duration.ofMillis(100));
        return this;
    }

    /**
     * How long the threads of this session may hand a lock to each other while another session waits. Default 10 ms.
     *
     * @param handoffSlice 0 to 365 days; with 0, each unlock gives the name up if another session waits
     * @return this
     */
    public InterlockBuilder handoffSlice(Duration handoffSlice) {
        this.handoffSlice = checked("handoffSlice", handoffSlice, Duration.ZERO);
        return this;
    }

    /**
     * Whether the session keeps the names of locks that its threads take again and again, for up to the hand-off slice
     * and 10 ms at most after {@code unlock()}, so that the next {@code lock()} needs no round trip. It gives a name up
     * at once when another session wants it, and doesn't keep it while plain {@code RLock} clients are about. Default
     * true. For a single lock there is {@link LockOptions#releaseAtOnce}.
     *
     * @param adaptiveRetention false if every {@code unlock()} that no other thread of the session waits for is to give
     *     the name up, for the sake of clients that look at Redis, or use an {@code RLock} of the same name
     * @return this
     */
    public InterlockBuilder adaptiveRetention(boolean adaptiveRetention) {
        this.adaptiveRetention = adaptiveRetention;
        return this;
    }

    /**
     * Whether {@code unlock()} waits until Redis has confirmed that the name is free, one {@linkplain #commandTimeout
     * command time-out} at most, and throws {@link LeaseLostException} if Redis had lost the name. Default false: it
     * looks whether the lease is still valid, sends the release and returns. The session repeats the release until it
     * is confirmed, or the lease is over; what only the confirmation tells goes to {@link SyncListener#lostUnnoticed}.
     *
     * @param confirmedUnlock true to wait always, for the sake of the exception, or of clients that look at Redis. The
     *     {@code unlock()} of a fair lock waits in any case; so does one that has to signal conditions, and each one
     *     while 1,000 others are unconfirmed or plain {@code RLock} clients are about. For a single lock there is
     *     {@link LockOptions#confirmUnlock}
     * @return this
     */
    public InterlockBuilder confirmedUnlock(boolean confirmedUnlock) {
        this.confirmedUnlock = confirmedUnlock;
        return this;
    }

    /**
     * Whether a thread that has lost a lock keeps the other threads of its JVM out until it unlocks or ends. Default
     * false: once the lock is lost, they acquire it as threads of other JVMs do, while the one that has lost it may
     * still be inside.
     *
     * @param waitForLostHolders true for code that counts on mutual exclusion within the JVM, and on the memory effects
     *     that come with it, more than on going on. A thread that hangs then blocks its JVM. Whether readers have ended
     *     can't be told: those that have lost a read lock keep writers of their JVM out until all have unlocked
     * @return this
     */
    public InterlockBuilder waitForLostHolders(boolean waitForLostHolders) {
        this.waitForLostHolders = waitForLostHolders;
        return this;
    }

    /**
     * How long {@code lock()} waits during an outage of Redis, counted from the start of the outage. Default 30 s.
     *
     * @param redisTimeout 1 ms to 365 days
     * @return this
     */
    public InterlockBuilder redisTimeout(Duration redisTimeout) {
        this.redisTimeout = checked("redisTimeout", redisTimeout, Duration.ofMillis(1));
        return this;
    }

    /**
     * How long the session waits for the answer to a command before it repeats the command; on a node of a quorum,
     * before it regards the node as down. Default 3 s, on a node of a quorum 500 ms.
     *
     * @param commandTimeout 10 ms to 365 days
     * @return this
     */
    public InterlockBuilder commandTimeout(Duration commandTimeout) {
        this.commandTimeout = checked("commandTimeout", commandTimeout, Duration.ofMillis(10));
        return this;
    }

    /**
     * How long {@link #open} makes attempts to reach a Redis that doesn't answer, is loading its data, or has too many
     * clients. No attempt begins afterwards; the first one always does. An attempt takes about one
     * {@linkplain #commandTimeout command time-out}, but 1 s at least and 10 s at most. Default 10 s. A quorum makes
     * one attempt.
     *
     * @param openTimeout 0 to 365 days
     * @return this
     */
    public InterlockBuilder openTimeout(Duration openTimeout) {
        this.openTimeout = checked("openTimeout", openTimeout, Duration.ZERO);
        return this;
    }

    /**
     * Sets the executor that completes the futures of {@link Holds} and {@link Hold}, and therefore runs their
     * dependents. It may run tasks in any order, and on the calling thread if they don't block. If it refuses a task,
     * that runs on a thread of the session; a task that is dropped silently leaves its name held. Default: up to 16
     * threads of the session.
     *
     * @return this
     */
    public InterlockBuilder holdExecutor(Executor holdExecutor) {
        this.holdExecutor = requireNonNull(holdExecutor, "holdExecutor");
        return this;
    }

    /**
     * How many replicas have to acknowledge an acquisition before it counts, where Redis has replicas: in any
     * configuration of the client but a single server. The same applies to everything else that lets threads in:
     * permits, latches that open, generations of barriers that trip. Default 1.
     *
     * <p>The master waits for them with {@code WAIT}: for half a {@linkplain #commandTimeout command time-out}, one
     * second at most. If too few have acknowledged by then, the session repeats the command, like one that Redis didn't
     * answer; a thread that gives up gets a {@link RedisUnavailableException} and holds nothing. If fewer replicas are
     * online than required, the master waits for all of these; if it has none, like the last node of a shard, for none.
     * So a shard keeps working with one replica less. To make it stop instead, set {@code min-replicas-to-write} in
     * Redis: the session treats that refusal like silence.
     *
     * <ul>
     *   <li>1: an acquisition survives a failover to a replica that has acknowledged it. Sentinel and Cluster prefer
     *       the replica that is furthest ahead, but only among those they can reach. They may promote a replica that
     *       has acknowledged nothing; then the name is free there, though its owner believes for up to a lease that it
     *       holds it.
     *   <li>The number of replicas: the promoted one always has the acquisition. A replica that is frozen or cut off
     *       stops all acquisitions until Redis regards it as offline ({@code repl-timeout}, 60 s).
     *   <li>0: the session waits for no replica, and enters on a grant that another session's release has pushed
     *       without asking. Every failover may lose the latest acquisitions.
     * </ul>
     *
     * <p>None of that makes Redis a consensus: an old master that has been cut off from its replicas grants again once
     * it regards them as offline. Where an overlap would be fatal, use fencing tokens. Requests of rate limiters,
     * releases and renewals don't wait for replicas, and adapted Redisson objects follow Redisson's own rules.
     *
     * @param replicaAcknowledgements 0 to 100
     * @return this
     */
    public InterlockBuilder replicaAcknowledgements(int replicaAcknowledgements) {
        if (replicaAcknowledgements < 0 || replicaAcknowledgements > MOST_REPLICAS) {
            throw new IllegalArgumentException("replicaAcknowledgements must be from 0 to " + MOST_REPLICAS
                    + ", but is " + replicaAcknowledgements);
        }
        this.replicaAcknowledgements = replicaAcknowledgements;
        return this;
    }

    /**
     * Prefixes every name with {@code namespace:}. Default none, so that a lock excludes the {@code RLock} of the same
     * name.
     *
     * @param namespace the prefix, up to 1,024 bytes in UTF-8; may be empty
     * @return this
     */
    public InterlockBuilder namespace(String namespace) {
        Keys.checkText("namespace", requireNonNull(namespace, "namespace"));
        this.namespace = namespace;
        return this;
    }

    /**
     * Names the session for people: in the log, and in Redis' {@code CLIENT LIST} if the client is the session's own.
     * Default {@code <host>-<process id>}.
     *
     * @param sessionName 1 to 100 printable ASCII characters without blanks; several sessions may have the same
     * @return this
     */
    public InterlockBuilder sessionName(String sessionName) {
        this.sessionName = SessionName.checked("sessionName", requireNonNull(sessionName, "sessionName"));
        return this;
    }

    /**
     * Has {@link #open} succeed without Redis. The session tries to connect in the background, about every half second,
     * until Redis is there. Until then it is as during an outage: {@code lock()} waits, for the
     * {@linkplain #redisTimeout Redis time-out} at most, and enters when the session has connected; calls that don't
     * wait throw {@link RedisUnavailableException}, those that create semaphores, latches and barriers among them. The
     * session uses no name before it can be asked about it by other sessions. Not for {@link #openQuorum}.
     *
     * <p>With {@link #client}, the client has to be one that exists without Redis: with Redisson's
     * {@code setLazyInitialization(true)}, or one that has connected before.
     *
     * @return this
     */
    public InterlockBuilder lazy() {
        this.lazy = true;
        return this;
    }

    /**
     * Which connections the session uses to run its scripts and to hear of other sessions. By default the ones that the
     * system property {@code interlock.transport} names, {@code redisson} or {@code direct}; without it,
     * {@link Transport#DIRECT} for a session that has a {@link #uri}, and {@link Transport#REDISSON} for one that has a
     * {@link #client}.
     *
     * @param transport the connections; where the client doesn't allow for {@link Transport#DIRECT} ones, which the log
     *     says, the session uses those of Redisson
     * @return this
     */
    public InterlockBuilder transport(Transport transport) {
        this.transport = requireNonNull(transport, "transport");
        return this;
    }

    private Transport transport() {
        if (transport != null) {
            return transport;
        }
        String named = System.getProperty(TRANSPORT);
        if (named == null) {
            return uri == null ? Transport.REDISSON : Transport.DIRECT;
        }
        try {
            return Transport.valueOf(named.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "system property " + TRANSPORT + " must be redisson or direct, but is '" + Names.escaped(named)
                            + "'",
                    e);
        }
    }

    /**
     * Sets the listener for events of this session. Default {@link SyncListener#NONE}. More can be
     * {@linkplain Interlock#addListener added} while the session is open.
     *
     * @param listener the listener
     * @return this
     */
    public InterlockBuilder listener(SyncListener listener) {
        this.listener = requireNonNull(listener, "listener");
        return this;
    }

    /**
     * Has the session look for threads of any JVM that wait for each other, and tell each such cycle once:
     * {@link SyncListener#deadlocked} and the log. A look costs two messages for each session that is connected to this
     * Redis; so one session of a fleet, or few, ought to do that. It needs the rights of an
     * {@linkplain Interlock#operator operator}. By default a session doesn't look.
     *
     * @param interval how long after one look comes the next, 1 s to 365 days
     * @return this
     */
    public InterlockBuilder deadlockWatch(Duration interval) {
        this.deadlockWatch = checked("interval", interval, Duration.ofSeconds(1));
        return this;
    }

    /**
     * Sets the clock for local deadlines and validity, for tests. Default {@link System#nanoTime()}. The wall clock
     * goes with it.
     *
     * @param nanos a clock that never goes back, in nanoseconds
     * @return this
     */
    public InterlockBuilder ticker(LongSupplier nanos) {
        return ticker(nanos, Settings.wallClockOf(requireNonNull(nanos, "nanos")));
    }

    /**
     * Sets the clock for local deadlines and validity, and the wall clock, for tests. The wall clock is looked at only
     * to see that the other one stood still, as it does while a machine is suspended.
     *
     * @param nanos a clock that never goes back, in nanoseconds
     * @param wallClock default the system's
     * @return this
     */
    public InterlockBuilder ticker(LongSupplier nanos, InstantSource wallClock) {
        this.ticker = requireNonNull(nanos, "nanos");
        this.wallClock = requireNonNull(wallClock, "wallClock");
        return this;
    }

    /**
     * Opens the session. Makes several attempts within the {@link #openTimeout} if Redis doesn't answer, is loading its
     * data, or has too many clients, and also if sentinels or nodes of a cluster can't be reached, since others may
     * take their place. Waits for nothing that lasts: a user or password that Redis refuses, a certificate that isn't
     * trusted, a single server whose host refuses the connection because nothing listens there. An application that may
     * start before its Redis opens a {@link #lazy} session.
     *
     * @return the session
     * @throws IllegalArgumentException if neither or both of {@code uri} and {@code client} were given, or credentials
     *     or a trust store without a URI that needs them
     * @throws RedisUnavailableException if Redis can't be reached, unless the session is {@link #lazy}
     */
    public Interlock open() {
        if ((client == null) == (uri == null)) {
            throw new IllegalArgumentException("give either uri or client, and only one of them");
        }
        checkAccess();
        Transport chosen = transport();
        Duration timeout = commandTimeout == null ? COMMAND_TIMEOUT : commandTimeout;
        Settings settings = settings(timeout);
        return lazy
                ? open(timeout, chosen, settings)
                : Opening.open(
                        openTimeout.toNanos(), uri != null && uri.isOneServer(), () -> open(timeout, chosen, settings));
    }

    private Interlock open(Duration timeout, Transport chosen, Settings settings) {
        RedissonClient used = client != null
                ? client
                : requireNonNull(uri).connect(access, timeout, settings.sessionName(), lazy, chosen);
        try {
            Supplier<RedisSession> another = () -> RedisSession.open(used, false, chosen, lazy, settings);
            return new Interlock(
                    RedisSession.open(used, client == null, chosen, lazy, settings),
                    opened -> Holds.open(another.get(), opened::isLockedByThread, holdExecutor),
                    used,
                    deadlockWatch);
        } catch (RedisUnavailableException e) {
            throw uri == null || e.getCause() == null ? e : uri.unavailable(e.getCause());
        }
    }

    /**
     * Opens a session with several independent servers, of which a majority decides.
     *
     * @param clients of one server each: an odd number, 3 or more, no server twice. {@link QuorumInterlock#close()}
     *     leaves them open
     * @return the session
     * @throws IllegalArgumentException if {@code clients} don't meet these conditions, or this builder was given
     *     another client or a URI
     * @throws RedisUnavailableException if no majority can be reached
     */
    public QuorumInterlock openQuorum(List<RedissonClient> clients) {
        if (lazy) {
            throw new IllegalArgumentException("a quorum can't be opened lazily: a majority has to be there");
        }
        if (client != null || uri != null) {
            throw new IllegalArgumentException("give neither uri nor client for a quorum, only its clients");
        }
        checkAccess();
        Duration timeout = commandTimeout == null ? NODE_TIMEOUT : commandTimeout;
        return new QuorumInterlock(QuorumSession.open(checkedNodes(clients), transport(), settings(timeout)));
    }

    // Silently ignored settings would make users believe in an encryption or an authentication that doesn't exist.
    private void checkAccess() {
        if (access.getPassword() != null && (uri == null || uri.hasCredentials())) {
            throw new IllegalArgumentException("credentials need a uri, and one without credentials of its own");
        }
        if (access.getSslTrustManagerFactory() != null && (uri == null || !uri.isEncrypted())) {
            throw new IllegalArgumentException("a trust store needs a uri of TLS, such as rediss://host");
        }
    }

    private static List<RedissonClient> checkedNodes(List<RedissonClient> clients) {
        requireNonNull(clients, "clients").forEach(each -> requireNonNull(each, "clients must not contain null"));
        List<RedissonClient> nodes = List.copyOf(clients);
        if (nodes.size() < LEAST_NODES || nodes.size() % 2 == 0) {
            throw new IllegalArgumentException(
                    "clients must be an odd number, 3 or more, of clients of different servers, but are "
                            + nodes.size());
        }
        long different =
                nodes.stream().map(InterlockBuilder::serverOf).distinct().count();
        if (different < nodes.size()) {
            throw new IllegalArgumentException("clients must be those of different servers, but of " + nodes.size()
                    + " only " + different + " are different");
        }
        return nodes;
    }

    // Two databases of one server fail together.
    private static Object serverOf(RedissonClient node) {
        return node.getConfig().isSingleConfig()
                ? node.getConfig().useSingleServer().getAddress()
                : node;
    }

    private Settings settings(Duration timeout) {
        return new Settings(
                lease.toMillis(),
                handoffSlice.toNanos(),
                adaptiveRetention,
                confirmedUnlock,
                waitForLostHolders,
                redisTimeout.toNanos(),
                timeout.toMillis(),
                replicaAcknowledgements,
                namespace,
                sessionName == null ? SessionName.ofProcess() : sessionName,
                new Listeners(listener),
                ticker,
                Settings.suspensions(ticker, wallClock, lease.toMillis()));
    }

    static Duration checked(String argument, Duration value, Duration least) {
        requireNonNull(value, argument);
        if (value.compareTo(least) < 0 || value.compareTo(MAX) > 0) {
            throw new IllegalArgumentException(
                    argument + " must be from " + least.toMillis() + " ms to 365 days, but is " + value);
        }
        return value;
    }
}
