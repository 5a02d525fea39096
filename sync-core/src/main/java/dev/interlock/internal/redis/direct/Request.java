package dev.interlock.internal.redis.direct;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A command, or several that belong together, and what comes of it. A connection writes it and takes its replies. */
abstract class Request extends CompletableFuture<List<Object>> {
    // The connection by which it is sent uses these, under its mutex.

    /** How many replies are to come. */
    int replies = 1;

    /** How many bytes it has been written as. */
    int bytes;

    long sentNanos;

    /** Adds the commands to what is to be written. */
    abstract void writeTo(CommandBuffer out);

    /** Takes the next reply. */
    abstract void take(@Nullable Object reply);

    /** Takes note that there is no reply: it may have been executed, or not. */
    abstract void lost(Throwable cause);
}
