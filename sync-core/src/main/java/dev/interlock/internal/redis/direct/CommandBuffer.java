package dev.interlock.internal.redis.direct;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/**
 * Bytes of commands in Redis' serialization protocol: an array of strings each. What is written out once is reused,
 * unless it has grown.
 *
 * @see <a href="https://redis.io/docs/latest/develop/reference/protocol-spec/">RESP</a>
 */
final class CommandBuffer {
    private static final int INITIAL = 1_024;

    /** A buffer that has had to take more is not kept at that size. */
    private static final int MOST_KEPT = 16 * 1_024;

    private static final int MOST_DIGITS = 20;

    private byte[] bytes = new byte[INITIAL];
    private int size;

    int size() {
        return size;
    }

    /** Begins a command that has so many parts, its name included. */
    void command(int parts) {
        header('*', parts);
    }

    /** Adds a part: a string or a number. */
    void part(Object part) {
        String text = part.toString();
        int length = text.length();
        if (isAscii(text)) {
            header('$', length);
            ensure(length + 2);
            copyAscii(text);
        } else {
            byte[] encoded = text.getBytes(UTF_8);
            header('$', encoded.length);
            ensure(encoded.length + 2);
            System.arraycopy(encoded, 0, bytes, size, encoded.length);
            size += encoded.length;
        }
        newLine();
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    private void copyAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            bytes[size++] = (byte) text.charAt(i);
        }
    }

    private void header(char kind, int count) {
        ensure(MOST_DIGITS);
        bytes[size++] = (byte) kind;
        if (count < 10) {
            bytes[size++] = (byte) ('0' + count);
        } else {
            copyAscii(Integer.toString(count));
        }
        newLine();
    }

    private void newLine() {
        bytes[size++] = '\r';
        bytes[size++] = '\n';
    }

    private void ensure(int more) {
        int needed = Math.addExact(size, more);
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(needed, (int) Math.min(Integer.MAX_VALUE - 8L, 2L * bytes.length)));
        }
    }

    /** Writes everything out, and is empty then. */
    void writeTo(OutputStream out) throws IOException {
        int length = size;
        size = 0;
        out.write(bytes, 0, length);
        if (bytes.length > MOST_KEPT) {
            bytes = new byte[INITIAL];
        }
    }

    @Override
    public String toString() {
        return new String(bytes, 0, size, US_ASCII);
    }
}
