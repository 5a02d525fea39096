package dev.interlock.testing.rig;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What a test of several JVMs stands on: names of its own in Redis, its peers, and a report of what was measured.
 *
 * <pre>{@code
 * @RegisterExtension
 * final Rig rig = Rig.in(RedisServer.provided());
 * }</pre>
 *
 * <p>After the test its peers end, and nothing may be left in Redis but marks with a TTL.
 */
public final class Rig implements BeforeEachCallback, AfterEachCallback {

    /** How long a waiter may stay silent, and the first lease of a grant that another session's release makes. */
    public static final Duration HEARTBEAT = Duration.ofSeconds(3);

    /** What is allowed beyond a lease, a heartbeat or a turn. */
    public static final Duration GRACE = Duration.ofSeconds(2);

    private final Keyspace keyspace;
    private final List<Peer> peers = new ArrayList<>();
    private @Nullable ExtensionContext context;

    private Rig(Keyspace keyspace) {
        this.keyspace = keyspace;
    }

    public static Rig in(RedisServer server) {
        return new Rig(Keyspace.in(server));
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        context = test;
    }

    @Override
    public void afterEach(ExtensionContext test) {
        peers.forEach(Peer::close);
        keyspace.afterEach(test);
    }

    public Keyspace keyspace() {
        return keyspace;
    }

    /** A name that only this test uses. */
    public String name(String what) {
        return keyspace.name(what);
    }

    /** The server's address. */
    public String url() {
        return keyspace.server().url();
    }

    /** Publishes what was measured. */
    public void report(String what) {
        if (context == null) {
            throw new IllegalStateException("Reported outside a test");
        }
        context.publishReportEntry(what);
    }

    /** Publishes how long something took. */
    public Duration report(String what, long fromNanos, long toNanos) {
        var took = Duration.ofNanos(toNanos - fromNanos);
        report(String.format(Locale.ROOT, "%s: %.2f ms", what, took.toNanos() / 1e6));
        return took;
    }

    /** Publishes how long something took, and fails if that was too long. */
    public void assertTook(String what, Duration bound, long fromNanos, long toNanos) {
        assertWithin(bound, report(what, fromNanos, toNanos));
    }

    /**
     * Starts peers, each in a JVM of its own, with the same synchronizer.
     *
     * @param words what the subject has to know to open it
     */
    public List<Peer> start(int count, Subject subject, String name, Duration lease, Object... words) {
        String line = Stream.concat(
                        Stream.of(subject.getClass().getName(), url(), name, lease.toMillis()), Stream.of(words))
                .map(Object::toString)
                .collect(Collectors.joining(" "));
        List<Peer> started = Peer.start(count, new Peer.Place() {
            @Override
            public String words() {
                return line;
            }

            @Override
            public long waiting() {
                return subject.waiting(keyspace, name);
            }
        });
        peers.addAll(started);
        return started;
    }

    /** Starts peers, of which the first enters the first section, and the others wait for theirs, in their order. */
    public Queue queue(int count, Subject subject, String what, Duration lease, Object words, String... sections) {
        String name = name(what);
        return Queue.of(this, name, start(count, subject, name, lease, words), sections);
    }

    /** A round of a test that goes on for as long as one likes. */
    public interface Round {
        void run(int round) throws IOException;
    }

    /** Runs rounds for the time of a soak test, {@code -Dinterlock.soak.seconds}. */
    public static void soak(Round round) throws IOException {
        long start = System.nanoTime();
        long nanos = TimeUnit.SECONDS.toNanos(Long.getLong("interlock.soak.seconds", 120));
        for (int i = 0; System.nanoTime() - start < nanos; i++) {
            round.run(i);
        }
    }

    /** Waits until nothing has been heard of a peer for so long that it needn't be waited for. */
    public void awaitOverdue(String name, Peer peer) {
        await("an overdue heartbeat")
                .atMost(HEARTBEAT.plus(GRACE))
                .until(() -> keyspace.isOverdue(name, peer.sessionId()));
    }

    /** Ends all sessions that were not killed in an orderly way; the last thing that a test of peers does. */
    public void leave() {
        peers.stream().filter(Peer::isAlive).forEach(Peer::leave);
    }
}
