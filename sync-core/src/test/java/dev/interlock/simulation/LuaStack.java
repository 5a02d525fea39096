package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.interlock.simulation.Commands.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import party.iroiro.luajava.Lua;

/** Values on the stack of a Lua state, which Redis converts into replies and back. */
final class LuaStack {
    /** So many bytes at a time are passed as arguments. */
    private static final int CHUNK = 200;

    private final Lua lua;
    private int character;

    LuaStack(Lua lua) {
        this.lua = lua;
    }

    /** Pops and keeps {@code string.char}, which makes strings of what the bridge can't pass as such. */
    void keepChar() {
        character = lua.ref();
    }

    /** Returns the bytes of a string on the stack. */
    String bytes(int index) {
        // What is no text arrives broken, and shorter.
        String text = Objects.requireNonNull(lua.toString(index));
        if (text.length() == lua.rawLength(index) && Bytes.isAscii(text)) {
            return text;
        }
        ByteBuffer buffer = Objects.requireNonNull(lua.toBuffer(index));
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return new String(bytes, ISO_8859_1);
    }

    /** Returns an argument of a command. */
    String argument(int index) {
        return switch (type(index)) {
            case STRING -> bytes(index);
            case NUMBER -> Numbers.text(lua.toNumber(index));
            default -> throw new CommandError("ERR Lua redis lib command arguments must be strings or integers");
        };
    }

    private Lua.LuaType type(int index) {
        return Objects.requireNonNull(lua.type(index));
    }

    void push(String bytes) {
        if (bytes.indexOf('\0') < 0 && Bytes.isAscii(bytes)) {
            lua.push(bytes);
        } else {
            pushBytes(bytes);
        }
    }

    private void pushBytes(String bytes) {
        int chunks = 0;
        for (int from = 0; from < bytes.length(); from += CHUNK) {
            int to = Math.min(from + CHUNK, bytes.length());
            lua.refGet(character);
            for (int i = from; i < to; i++) {
                lua.push((long) bytes.charAt(i));
            }
            lua.pCall(to - from, 1);
            chunks++;
        }
        lua.concat(chunks);
    }

    /** Pushes what a command replies. */
    void pushReply(@Nullable Object reply) {
        if (reply == null) {
            lua.push(false);
        } else if (reply instanceof Long number) {
            lua.push((long) number);
        } else if (reply instanceof Double number) {
            lua.push((Number) number);
        } else if (reply instanceof String bytes) {
            push(bytes);
        } else if (reply instanceof List<?> replies) {
            pushAll(replies);
        } else if (reply instanceof Status status) {
            pushField("ok", status.word());
        } else {
            throw new IllegalArgumentException("No reply: " + reply);
        }
    }

    void pushAll(List<?> replies) {
        lua.createTable(replies.size(), 0);
        int index = 0;
        for (Object reply : replies) {
            pushReply(reply);
            lua.rawSetI(-2, ++index);
        }
    }

    /** Pushes a table of one field. */
    void pushField(String name, String bytes) {
        lua.createTable(0, 1);
        push(bytes);
        lua.setField(-2, name);
    }

    /** Returns what a script replies, as Redisson reads it; and pops it. */
    @Nullable
    Object popReply() {
        Object reply = reply();
        lua.pop(1);
        return reply;
    }

    private @Nullable Object reply() {
        return switch (type(-1)) {
            case STRING -> Bytes.text(bytes(-1));
            case NUMBER -> (long) lua.toNumber(-1);
            case BOOLEAN -> lua.toBoolean(-1) ? 1L : null;
            case NIL -> null;
            case TABLE -> table();
            default -> throw new IllegalStateException("A script replies a " + lua.type(-1));
        };
    }

    private @Nullable Object table() {
        String error = field("err");
        if (error != null) {
            throw new CommandError(error);
        }
        String status = field("ok");
        if (status != null) {
            return status;
        }
        List<@Nullable Object> replies = new ArrayList<>();
        for (int i = 1; ; i++) {
            lua.rawGetI(-1, i);
            if (lua.isNil(-1)) {
                lua.pop(1);
                return replies;
            }
            replies.add(popReply());
        }
    }

    /** Returns a field of the table on top, or null if it holds no string there. */
    @Nullable
    String field(String name) {
        lua.getField(-1, name);
        String value = lua.type(-1) == Lua.LuaType.STRING ? bytes(-1) : null;
        lua.pop(1);
        return value;
    }
}
