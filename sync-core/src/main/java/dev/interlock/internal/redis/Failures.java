package dev.interlock.internal.redis;

import com.google.common.base.Throwables;
import dev.interlock.internal.Names;
import dev.interlock.internal.SessionId;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisAuthRequiredException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.RedisTryAgainException;
import org.redisson.command.NoSyncedSlavesException;

/** What a command may fail with: whether a repeat may mend it, and what to say of it. */
public final class Failures {
    /**
     * What passes though it is told as an error of the script: Redis 6.2 wraps the errors of the commands in a script.
     */
    private static final Pattern PASSING =
            Pattern.compile(": -(MISCONF|OOM|NOREPLICAS|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN) |Script killed"
                    + "|max number of clients");

    /** What is said to those who aren't let in, or have come to the wrong place. */
    private static final Pattern TURNED_AWAY =
            Pattern.compile("^(NOAUTH|WRONGPASS|NOPERM|ERR (AUTH|Client sent AUTH|invalid password|unknown command"
                    + "|This instance has cluster support disabled)|Master node is undefined)\\b");

    /** Where Redis goes on with the script that has met the error, or Redisson with the command. */
    private static final Pattern CONTEXT = Pattern.compile("\\s+script: |, command|\\R");

    /** A line that begins as errors of Redis do, by a code. */
    private static final Pattern ERROR = Pattern.compile("^[A-Z]+ ");

    /** The error code of a script that finds sessions of another protocol at a name; their protocol follows. */
    private static final String PROTOCOL = "PROTOCOL ";

    private static final Pattern USER = Pattern.compile("//\\S*@");

    private Failures() {}

    /**
     * Returns whether the same command may succeed if it is repeated a moment later. That is so for all that Redis,
     * Redisson or the network may fail by, but for what is known to last: a key of another type, a missing right, any
     * other error of the script's own, and a client that is shut down.
     */
    public static boolean isTransient(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof IOException || cause.getCause() instanceof IOException) {
            return true;
        }
        return cause instanceof NoSyncedSlavesException
                || (cause instanceof RedisException
                        && !(cause instanceof RedissonShutdownException)
                        && !isLasting(error(cause)));
    }

    private static boolean isLasting(String error) {
        return error.startsWith("WRONGTYPE ")
                || error.startsWith(PROTOCOL)
                || error.startsWith("NOPERM ")
                || (error.startsWith("ERR ") && !PASSING.matcher(error).find());
    }

    /** Returns whether a cluster refuses a command while it moves its keys to another node, one after the other. */
    public static boolean isSplit(Throwable failure) {
        return cause(failure) instanceof RedisTryAgainException;
    }

    /**
     * Returns whether Redisson has asked for a lock, permits or a latch in vain, and had no time left to listen for the
     * message that tells of them. So Redis has answered.
     */
    public static boolean isLateSubscription(Throwable failure) {
        Throwable cause = cause(failure);
        return cause instanceof RedisTimeoutException
                && String.valueOf(cause.getMessage()).startsWith("Unable to acquire subscription lock");
    }

    /**
     * Returns whether Redis has answered by an error instead of executing the command. Of others it isn't known whether
     * it was executed; of those that Redisson repeats by itself, the last may have been.
     */
    public static boolean isRefused(Throwable failure) {
        Throwable cause = cause(failure);
        return cause instanceof RedisOutOfMemoryException
                || cause instanceof RedisAuthRequiredException
                || (cause.getClass() == RedisException.class
                        && ERROR.matcher(error(cause)).find());
    }

    /** Returns what Redis has said, without what Redisson adds to that. */
    private static String error(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        int end = message.indexOf(". channel:");
        return end < 0 ? message : message.substring(0, end);
    }

    private static String words(Throwable cause) {
        return CONTEXT.split(error(cause), 2)[0].strip();
    }

    /**
     * Returns what to throw for a failure that lasts. What Redisson adds to Redis' words, the command and its script,
     * stays with the cause.
     *
     * @param what the object that was asked for, as {@code lock 'orders'}
     */
    public static IllegalStateException refusal(String what, Throwable failure) {
        Throwable cause = cause(failure);
        String error = words(cause);
        if (error.startsWith(PROTOCOL)) {
            return new IllegalStateException(
                    "Sessions of another version of Interlock use " + what + ": they speak its protocol "
                            + Names.escaped(error.substring(PROTOCOL.length())) + ", and this session speaks "
                            + SessionId.PROTOCOL,
                    cause);
        }
        String reason = error.startsWith("WRONGTYPE ")
                ? "somebody else's value of another type is at one of its keys (WRONGTYPE)"
                : Names.escaped(error);
        return new IllegalStateException("Redis refuses " + what + ": " + reason, cause);
    }

    /** Returns what to say of a Redis to which no connection could be made: its own words, if it has turned us away. */
    public static String whyUnreachable(Throwable failure) {
        return chain(failure)
                .map(Failures::error)
                .filter(error -> TURNED_AWAY.matcher(error).find())
                .findFirst()
                .map(error -> "refuses the connection: " + Names.escaped(error))
                .orElseGet(() -> isSilence(failure) ? "gave no answer" : "can't be reached: " + reason(failure));
    }

    private static Stream<Throwable> chain(Throwable failure) {
        return Throwables.getCausalChain(failure).stream();
    }

    private static String reason(Throwable failure) {
        Throwable reason = chain(failure)
                .filter(UnknownHostException.class::isInstance)
                .findFirst()
                .orElseGet(() -> Throwables.getRootCause(failure));
        return reason.getMessage() == null
                ? reason.getClass().getSimpleName()
                : Names.escaped(withoutCredentials(words(reason)));
    }

    /** Returns whether an attempt to connect has failed because there was no answer in time: of Redis, or of DNS. */
    public static boolean isSilence(@Nullable Throwable failure) {
        return failure != null
                && chain(failure)
                        .anyMatch(cause -> cause.getClass().getSimpleName().endsWith("TimeoutException"));
    }

    /**
     * Returns whether an attempt to connect has failed by what lasts: the user or the certificate isn't accepted, or
     * the client is shut down.
     */
    public static boolean isTurnedAway(Throwable failure) {
        return chain(failure)
                .anyMatch(cause -> cause instanceof SSLHandshakeException
                        || cause instanceof RedissonShutdownException
                        || TURNED_AWAY.matcher(error(cause)).find());
    }

    /** Returns whether an attempt to connect has failed because nothing listens there, or there is no such host. */
    public static boolean isAbsent(Throwable failure) {
        return !isSilence(failure)
                && chain(failure)
                        .anyMatch(cause -> cause instanceof ConnectException || cause instanceof UnknownHostException);
    }

    /** Returns text without the user and the password of each URI in it. */
    public static String withoutCredentials(String text) {
        return USER.matcher(text).replaceAll("//…@");
    }

    /**
     * Returns a line that says what a future failed with. Redisson's messages go on with the command and its script.
     */
    public static String brief(Throwable failure) {
        Throwable cause = cause(failure);
        Throwable root = cause.getCause();
        return withoutCredentials(cause.getClass().getSimpleName() + ": " + Names.escaped(words(cause))
                + (root == null ? "" : " (" + Names.excerpt(String.valueOf(root.getMessage())) + ")"));
    }

    /** Returns what a future failed with, without the wrapping. */
    public static Throwable cause(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }

    /** Returns what a future has failed with, without the wrapping. It has failed. */
    public static Throwable of(CompletableFuture<?> failed) {
        return cause(failed.handle((done, failure) -> failure).join());
    }
}
