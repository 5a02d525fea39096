package dev.interlock.readwrite.fleet;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Two numbers in memory that several JVMs share: what a lock is to protect. */
final class SharedPair {

    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int SECOND = 1 << 12;

    private final ByteBuffer bytes;

    private SharedPair(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Opens the pair in a file; both are 0 if that is new. */
    static SharedPair open(Path file) throws IOException {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new SharedPair(channel.map(MapMode.READ_WRITE, 0, SECOND + Long.BYTES));
        }
    }

    long first() {
        return (long) LONG.getVolatile(bytes, 0);
    }

    long second() {
        return (long) LONG.getVolatile(bytes, SECOND);
    }

    void setFirst(long value) {
        LONG.setVolatile(bytes, 0, value);
    }

    void setSecond(long value) {
        LONG.setVolatile(bytes, SECOND, value);
    }
}
