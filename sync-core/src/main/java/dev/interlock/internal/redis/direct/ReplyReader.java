package dev.interlock.internal.redis.direct;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads replies in Redis' serialization protocol, version 2: a string, a {@link Long}, null, a list of replies, or, for
 * an error, the exception that Redisson would throw for it.
 *
 * @see <a href="https://redis.io/docs/latest/develop/reference/protocol-spec/">RESP</a>
 */
final class ReplyReader {
    private static final int BUFFER = 8 * 1_024;

    /** Longer strings don't come from Redis: it has none, unless {@code proto-max-bulk-len} was raised. */
    private static final long LONGEST = 512L * 1_024 * 1_024;

    private static final int LONGEST_LINE = 64 * 1_024;

    /** Lists are nested less deeply: scripts here return lists of lists. */
    private static final int DEEPEST = 32;

    /** Longer lists grow as their elements come, so that a length that isn't true costs no memory. */
    private static final int AT_ONCE = 1_024;

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER];
    private int next;
    private int end;

    /** Whether a reply has begun and not ended. */
    private boolean isWithin;

    ReplyReader(InputStream in) {
        this.in = in;
    }

    /**
     * Waits for a reply.
     *
     * @throws ProtocolException if the bytes are none
     * @throws EOFException if the server has closed the connection
     * @throws java.net.SocketTimeoutException if none begins within the socket's time-out. One that comes in the middle
     *     of a reply is one, too, after which nothing more can be read
     */
    @Nullable
    Object read() throws IOException {
        isWithin = false;
        Object reply = read(0);
        isWithin = false;
        return reply;
    }

    /** Returns whether nothing has come of a reply that isn't whole. */
    boolean isBetweenReplies() {
        return !isWithin;
    }

    private @Nullable Object read(int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new ProtocolException("a reply is nested more than " + DEEPEST + " times");
        }
        int kind = readByte();
        isWithin = true;
        return switch (kind) {
            case '+' -> readLine();
            case '-' -> RedisErrors.of(readLine());
            case ':' -> readNumber();
            case '$' -> readString();
            case '*' -> readList(depth);
            default -> throw new ProtocolException("a reply begins with byte " + kind);
        };
    }

    private @Nullable String readString() throws IOException {
        long length = readNumber();
        if (length == -1) {
            return null;
        }
        if (length < 0 || length > LONGEST) {
            throw new ProtocolException("a string's length is " + length);
        }
        String text = readText((int) length);
        if (readByte() != '\r' || readByte() != '\n') {
            throw new ProtocolException("a string is longer than its length");
        }
        return text;
    }

    private String readText(int length) throws IOException {
        if (end - next >= length) {
            String text = new String(buffer, next, length, UTF_8);
            next += length;
            return text;
        }
        int buffered = end - next;
        byte[] bytes = new byte[Math.min(length, BUFFER)];
        System.arraycopy(buffer, next, bytes, 0, buffered);
        next = end;
        int filled = buffered;
        while (filled < length) {
            if (filled == bytes.length) {
                // Grows as bytes come, so that a length that isn't true costs no memory.
                bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * filled));
            }
            int count = in.read(bytes, filled, bytes.length - filled);
            if (count < 0) {
                throw new EOFException("the server has closed the connection");
            }
            filled += count;
        }
        return new String(bytes, 0, length, UTF_8);
    }

    private @Nullable List<@Nullable Object> readList(int depth) throws IOException {
        long length = readNumber();
        if (length == -1) {
            return null;
        }
        if (length < 0 || length > Integer.MAX_VALUE) {
            throw new ProtocolException("a list's length is " + length);
        }
        if (length == 0) {
            return new ArrayList<>(0);
        }
        List<@Nullable Object> list = new ArrayList<>((int) Math.min(length, AT_ONCE));
        for (long i = 0; i < length; i++) {
            list.add(read(depth + 1));
        }
        return list;
    }

    private long readNumber() throws IOException {
        String digits = readLine();
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException e) {
            throw new ProtocolException("a number isn't one");
        }
    }

    private String readLine() throws IOException {
        int start = next;
        for (int i = start; i + 1 < end; i++) {
            if (buffer[i] == '\r' && buffer[i + 1] == '\n') {
                next = i + 2;
                return new String(buffer, start, i - start, UTF_8);
            }
        }
        return readSplitLine();
    }

    private String readSplitLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int before = 0;
        for (int each = readByte(); before != '\r' || each != '\n'; each = readByte()) {
            if (before != 0) {
                line.write(before);
            }
            if (line.size() > LONGEST_LINE) {
                throw new ProtocolException("a line doesn't end");
            }
            before = each;
        }
        return line.toString(UTF_8);
    }

    private int readByte() throws IOException {
        if (next == end) {
            fill();
        }
        return buffer[next++];
    }

    private void fill() throws IOException {
        int count = in.read(buffer, 0, BUFFER);
        if (count < 0) {
            throw new EOFException("the server has closed the connection");
        }
        next = 0;
        end = count;
    }
}
