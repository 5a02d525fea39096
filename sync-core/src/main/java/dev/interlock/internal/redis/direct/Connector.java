package dev.interlock.internal.redis.direct;

import java.io.IOException;

/** Connects to the server that is the master at the moment. */
interface Connector {
    /**
     * Connects, and says who this is. May take a while.
     *
     * @throws IOException if the server can't be reached
     * @throws org.redisson.client.RedisException if it doesn't accept this client
     */
    Wire connect() throws IOException;

    /** Returns whether the master is another server now. */
    boolean hasMovedFrom(Wire wire);
}
