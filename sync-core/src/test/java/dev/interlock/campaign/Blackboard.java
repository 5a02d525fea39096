package dev.interlock.campaign;

import dev.interlock.campaign.Step.Act;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Memory that all JVMs of the fleet share, without any lock: a store that refuses stale fencing tokens, and a few
 * counters.
 */
final class Blackboard {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final List<Act> ACTS = List.of(Act.values());
    private static final int ROUND = ACTS.size();
    private static final int ITEMS = ROUND + 1;
    private static final int REFUSED = ITEMS + 1;

    private final ByteBuffer memory;

    private Blackboard(ByteBuffer memory) {
        this.memory = memory;
    }

    static Blackboard open(Path file) throws IOException {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Blackboard(channel.map(MapMode.READ_WRITE, 0, (REFUSED + 1L) * Long.BYTES));
        }
    }

    /**
     * Writes with a fencing token, as to a store that refuses what is older than what it has seen. Returns whether it
     * was taken.
     */
    boolean write(Act act, long token) {
        boolean isTaken = max(ACTS.indexOf(act), token) <= token;
        if (!isTaken) {
            var unused = (long) LONGS.getAndAdd(memory, REFUSED * Long.BYTES, 1L);
        }
        return isTaken;
    }

    /** How many writes were refused. */
    long refused() {
        return get(REFUSED);
    }

    /** The round in which threads meet at a latch. */
    long round() {
        return get(ROUND);
    }

    void endRound(long round) {
        max(ROUND, round + 1);
    }

    /** What producers make and consumers take. */
    long items() {
        return get(ITEMS);
    }

    void addItems(long count) {
        var unused = (long) LONGS.getAndAdd(memory, ITEMS * Long.BYTES, count);
    }

    private long get(int index) {
        return (long) LONGS.getVolatile(memory, index * Long.BYTES);
    }

    /** Raises a number, and returns what it was. */
    private long max(int index, long value) {
        while (true) {
            long known = get(index);
            if (known >= value || LONGS.compareAndSet(memory, index * Long.BYTES, known, value)) {
                return known;
            }
        }
    }
}
