package dev.interlock.benchmarks.peers;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's mutexes on ZooKeeper. */
public final class Curator implements AutoCloseable {

    private static final int FIRST_RETRY_MILLIS = 100;
    private static final int RETRIES = 5;

    private final CuratorFramework client;

    /**
     * Connects.
     *
     * @param address hosts and ports of ZooKeeper
     */
    public Curator(String address) {
        client = CuratorFrameworkFactory.newClient(address, new ExponentialBackoffRetry(FIRST_RETRY_MILLIS, RETRIES));
        client.start();
    }

    /** The lock of a name. */
    public Mutex lock(String name) {
        var mutex = new InterProcessMutex(client, "/" + name);
        return new Mutex() {
            @Override
            public void lock() {
                try {
                    mutex.acquire();
                } catch (Exception e) {
                    throw failure(e);
                }
            }

            @Override
            public void unlock() {
                try {
                    mutex.release();
                } catch (Exception e) {
                    throw failure(e);
                }
            }
        };
    }

    // Curator declares nothing narrower.
    private static IllegalStateException failure(Exception cause) {
        if (cause instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return new IllegalStateException("Curator failed", cause);
    }

    @Override
    public void close() {
        client.close();
    }
}
