package dev.interlock.testing;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Numbers in memory that several JVMs share, without any lock but with the effects of volatile variables. */
public final class SharedWords {

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer bytes;

    private SharedWords(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Opens the numbers in a file; all are 0 if that is new. */
    public static SharedWords open(Path file, int count) throws IOException {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new SharedWords(channel.map(MapMode.READ_WRITE, 0, (long) count * Long.BYTES));
        }
    }

    public long get(int index) {
        return (long) LONGS.getVolatile(bytes, index * Long.BYTES);
    }

    public void set(int index, long value) {
        LONGS.setVolatile(bytes, index * Long.BYTES, value);
    }

    public void add(int index, long count) {
        var unused = (long) LONGS.getAndAdd(bytes, index * Long.BYTES, count);
    }

    /** Raises a number, unless it is greater already, and returns what it was. */
    public long raise(int index, long value) {
        while (true) {
            long known = get(index);
            if (known >= value || LONGS.compareAndSet(bytes, index * Long.BYTES, known, value)) {
                return known;
            }
        }
    }
}
