package dev.interlock.benchmarks.peers;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Splitter;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * Locks of etcd's lock service, by jetcd. A lock belongs to a lease, and whoever comes with the same lease is let in:
 * each thread that locks or waits has one of its own, kept alive and kept for the next.
 */
public final class Etcd implements AutoCloseable {

    private static final long LEASE_SECONDS = 30;

    private final Client client;
    private final Pool<Lease> leases;

    /**
     * Connects.
     *
     * @param endpoints URLs with commas between them
     */
    public Etcd(String endpoints) {
        client = Client.builder()
                .endpoints(Splitter.on(',').splitToList(endpoints).toArray(String[]::new))
                .build();
        leases = new Pool<>(this::grant, lease -> lease.renewal().close());
    }

    /** The lock of a name. */
    public Mutex lock(String name) {
        ByteSequence key = ByteSequence.from(name, StandardCharsets.UTF_8);
        Map<Lease, ByteSequence> owned = new ConcurrentHashMap<>();
        return new Mutex() {
            @Override
            public void lock() {
                Lease lease = leases.take();
                owned.put(
                        lease,
                        await(client.getLockClient().lock(key, lease.id())).getKey());
            }

            @Override
            public void unlock() {
                await(client.getLockClient().unlock(requireNonNull(owned.remove(leases.taken()))));
                leases.giveBack();
            }
        };
    }

    private Lease grant() {
        long id = await(client.getLeaseClient().grant(LEASE_SECONDS)).getID();
        return new Lease(id, client.getLeaseClient().keepAlive(id, new Renewals()));
    }

    private static <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for etcd", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("etcd failed", e);
        }
    }

    @Override
    public void close() {
        leases.close();
        client.close();
    }

    private record Lease(long id, CloseableClient renewal) {}

    /** Nobody listens: a lease that is lost shows in that two have its lock. */
    private static final class Renewals implements StreamObserver<LeaseKeepAliveResponse> {

        @Override
        public void onNext(LeaseKeepAliveResponse renewed) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }
}
