package dev.interlock.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads frames of RESP2, as values and as the very bytes that came. A line that is no frame is taken as an inline
 * command: a list of its words.
 */
final class RespReader {

    private static final String FRAME_TYPES = "*$+-:";

    private final InputStream in;
    private final ByteArrayOutputStream raw = new ByteArrayOutputStream();
    private char type;
    private @Nullable Object value;

    RespReader(InputStream in) {
        this.in = new BufferedInputStream(in, 1 << 14);
    }

    /** Reads the next frame; false at the end of the stream. */
    boolean next() throws IOException {
        raw.reset();
        int first = in.read();
        if (first < 0) {
            return false;
        }
        type = (char) first;
        if (FRAME_TYPES.indexOf(type) < 0) {
            raw.write(first);
            value = Arrays.asList((type + line()).strip().split("\\s+"));
        } else {
            value = frame(first);
        }
        return true;
    }

    /** The first byte of the last frame. */
    char type() {
        return type;
    }

    /** The last frame's bytes. */
    byte[] bytes() {
        return raw.toByteArray();
    }

    /** The last frame as a String, Long, List, RespError or null. */
    @Nullable
    Object value() {
        return value;
    }

    private @Nullable Object frame() throws IOException {
        return frame(read());
    }

    private @Nullable Object frame(int first) throws IOException {
        if (raw.size() == 0) {
            raw.write(first);
        }
        String line = line();
        return switch (first) {
            case '+' -> line;
            case '-' -> new RespError(line);
            case ':' -> Long.parseLong(line);
            case '$' -> blob(line);
            case '*' -> frames(Integer.parseInt(line));
            default -> throw new IOException("Not a RESP frame: " + (char) first + line);
        };
    }

    private @Nullable List<@Nullable Object> frames(int count) throws IOException {
        if (count < 0) {
            return null;
        }
        var list = new ArrayList<@Nullable Object>(count);
        for (int i = 0; i < count; i++) {
            list.add(frame());
        }
        return list;
    }

    private @Nullable String blob(String length) throws IOException {
        int size = Integer.parseInt(length);
        if (size < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(size + 2);
        if (bytes.length < size + 2) {
            throw new EOFException();
        }
        raw.writeBytes(bytes);
        return new String(bytes, 0, size, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        var line = new ByteArrayOutputStream();
        int b = read();
        while (b != '\n') {
            if (b != '\r') {
                line.write(b);
            }
            b = read();
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private int read() throws IOException {
        int b = in.read();
        if (b < 0) {
            throw new EOFException();
        }
        raw.write(b);
        return b;
    }
}
