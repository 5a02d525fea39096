package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import party.iroiro.luajava.Lua;

/** What scripts get of the libraries {@code struct} and {@code cmsgpack}, by which they write numbers as bytes. */
final class LuaPacks {
    private final Lua lua;
    private final LuaStack stack;

    LuaPacks(Lua lua, LuaStack stack) {
        this.lua = lua;
        this.stack = stack;
    }

    /** {@code struct.pack}: bytes, two bytes each and doubles, the highest byte first. */
    int packNumbers() {
        String format = format();
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        for (int i = 0; i < format.length(); i++) {
            double number = lua.toNumber(i + 2);
            switch (format.charAt(i)) {
                case 'B' -> out.writeByte((int) number);
                case 'H' -> out.writeShort((int) number);
                default -> out.writeDouble(number);
            }
        }
        stack.push(new String(out.toByteArray(), ISO_8859_1));
        return 1;
    }

    /** {@code struct.unpack}: as above, from a position. The last of the results is the one behind what was read. */
    int unpackNumbers() {
        String format = format();
        String data = stack.bytes(2);
        int begin = lua.getTop() < 3 ? 0 : (int) lua.toNumber(3) - 1;
        int end = begin + format.chars().map(LuaPacks::size).sum();
        if (data.length() < end) {
            throw new CommandError("ERR bad argument #2 to 'unpack' (data string too short)");
        }
        ByteArrayDataInput in =
                ByteStreams.newDataInput(data.substring(begin, end).getBytes(ISO_8859_1));
        for (int i = 0; i < format.length(); i++) {
            switch (format.charAt(i)) {
                case 'B' -> lua.push((long) in.readUnsignedByte());
                case 'H' -> lua.push((long) in.readUnsignedShort());
                default -> lua.push((Number) in.readDouble());
            }
        }
        lua.push(end + 1L);
        return format.length() + 1;
    }

    private static int size(int type) {
        return switch (type) {
            case 'B' -> 1;
            case 'H' -> Short.BYTES;
            default -> Double.BYTES;
        };
    }

    private String format() {
        String format = stack.bytes(1);
        if (!format.matches(">[BHd]+")) {
            throw new UnsupportedOperationException("Not simulated: a struct of " + format);
        }
        return format.substring(1);
    }

    /** {@code cmsgpack.pack} of one value. */
    int packMessage() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        pack(out);
        stack.push(new String(out.toByteArray(), ISO_8859_1));
        return 1;
    }

    /** Packs the value on top of the stack. */
    private void pack(ByteArrayDataOutput out) {
        Lua.LuaType type = lua.type(-1);
        if (type == Lua.LuaType.NUMBER) {
            MessagePack.write(lua.toNumber(-1), out);
        } else if (type == Lua.LuaType.STRING) {
            MessagePack.write(stack.bytes(-1), out);
        } else if (type == Lua.LuaType.TABLE) {
            int size = lua.rawLength(-1);
            MessagePack.writeSize(size, out);
            for (int i = 1; i <= size; i++) {
                lua.rawGetI(-1, i);
                pack(out);
                lua.pop(1);
            }
        } else {
            throw new UnsupportedOperationException("Not simulated: a message with a " + type);
        }
    }

    /** {@code cmsgpack.unpack} of one value. */
    int unpackMessage() {
        ByteArrayDataInput in = ByteStreams.newDataInput(stack.bytes(1).getBytes(ISO_8859_1));
        stack.pushReply(MessagePack.read(in));
        return 1;
    }
}
