package dev.interlock;

/** The connections by which a session runs its scripts and hears of other sessions. */
public enum Transport {
    /** Those of a Redisson client, which it shares with everything else that uses the client. */
    REDISSON,

    /**
     * Two of the session's own, beside those of its Redisson client: a thread that locks writes its command to Redis by
     * itself, and one thread reads the replies, so that fewer threads have to be woken. For a single server and for
     * Sentinel, also with TLS.
     *
     * <p>The client goes on to say where Redis is, with which credentials and certificates, and which server Sentinel
     * has made the master. The session uses {@link #REDISSON} instead, and says why in the log, where the client
     *
     * <ul>
     *   <li>is one of a cluster, or has replicas but no Sentinel,
     *   <li>isn't {@code org.redisson.Redisson}, or has a {@code CommandMapper} or a {@code NettyHook},
     *   <li>reaches Redis by a unix socket, or takes its certificates from URLs, or checks none.
     * </ul>
     */
    DIRECT
}
