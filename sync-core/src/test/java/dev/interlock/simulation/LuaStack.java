package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static party.iroiro.luajava.lua51.Lua51Consts.LUA_TBOOLEAN;
import static party.iroiro.luajava.lua51.Lua51Consts.LUA_TNIL;
import static party.iroiro.luajava.lua51.Lua51Consts.LUA_TNUMBER;
import static party.iroiro.luajava.lua51.Lua51Consts.LUA_TSTRING;
import static party.iroiro.luajava.lua51.Lua51Consts.LUA_TTABLE;

import dev.interlock.simulation.Commands.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import party.iroiro.luajava.Lua;
import party.iroiro.luajava.LuaNatives;

/** Values on the stack of a Lua state, which Redis converts into replies and back. */
final class LuaStack {
    /** So many bytes at a time are passed as arguments. */
    private static final int CHUNK = 200;

    /** What a level of a reply needs beside its elements. */
    private static final int SPARE = 8;

    private final Lua lua;

    /** Its functions are called directly, since Lua's stack is checked for room before by {@link #reserve}. */
    private final LuaNatives natives;

    private final long state;
    private int character;

    LuaStack(Lua lua) {
        this.lua = lua;
        this.natives = lua.getLuaNatives();
        this.state = lua.getPointer();
    }

    /** Pops and keeps {@code string.char}, which makes strings of what the bridge can't pass as such. */
    void keepChar() {
        character = lua.ref();
    }

    /** Ensures that there is room for so many values. */
    private void reserve(int values) {
        lua.checkStack(values + SPARE);
    }

    /** Returns the bytes of a string on the stack. */
    String bytes(int index) {
        // What is no text arrives broken, and shorter.
        String text = natives.lua_tostring(state, index);
        if (text.length() == natives.luaJ_len(state, index) && Bytes.isAscii(text)) {
            return text;
        }
        ByteBuffer buffer = Objects.requireNonNull(lua.toBuffer(index));
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return new String(bytes, ISO_8859_1);
    }

    /** Returns the arguments of a command, which are all that is on the stack. */
    String[] arguments() {
        String[] words = new String[natives.lua_gettop(state)];
        for (int i = 1; i <= words.length; i++) {
            words[i - 1] = switch (natives.lua_type(state, i)) {
                case LUA_TSTRING -> bytes(i);
                case LUA_TNUMBER -> Numbers.text(natives.lua_tonumber(state, i));
                default -> throw new CommandError("ERR Lua redis lib command arguments must be strings or integers");
            };
        }
        return words;
    }

    /** Pushes strings, each by itself. */
    void pushEach(List<String> texts) {
        reserve(texts.size());
        for (String text : texts) {
            if (!isPushed(text)) {
                pushBytes(Bytes.of(text));
            }
        }
    }

    void push(String bytes) {
        if (!isPushed(bytes)) {
            pushBytes(bytes);
        }
    }

    /** Pushes a string if that is ASCII without zeros: all others arrive longer, in Java's own UTF-8. */
    private boolean isPushed(String text) {
        natives.luaJ_pushstring(state, text);
        if (natives.luaJ_len(state, -1) == text.length()) {
            return true;
        }
        natives.lua_pop(state, 1);
        return false;
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
            natives.lua_pushinteger(state, number);
        } else if (reply instanceof Double number) {
            natives.lua_pushnumber(state, number);
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

    private void pushAll(List<?> replies) {
        reserve(1);
        natives.lua_createtable(state, replies.size(), 0);
        int index = 0;
        for (Object reply : replies) {
            pushReply(reply);
            natives.lua_rawseti(state, -2, ++index);
        }
    }

    /** Pushes a table of one field. */
    void pushField(String name, String bytes) {
        lua.createTable(0, 1);
        push(bytes);
        lua.setField(-2, name);
    }

    /** Returns what a script replies, which is on top of the stack, as Redisson reads it. */
    @Nullable
    Object reply() {
        return switch (natives.lua_type(state, -1)) {
            case LUA_TSTRING -> Bytes.text(bytes(-1));
            case LUA_TNUMBER -> (long) natives.lua_tonumber(state, -1);
            case LUA_TBOOLEAN -> lua.toBoolean(-1) ? 1L : null;
            case LUA_TNIL -> null;
            case LUA_TTABLE -> table();
            default -> throw new IllegalStateException("A script replies a " + lua.type(-1));
        };
    }

    private @Nullable Object table() {
        reserve(1);
        List<@Nullable Object> replies = new ArrayList<>();
        while (true) {
            natives.luaJ_rawgeti(state, -1, replies.size() + 1);
            if (natives.lua_type(state, -1) == LUA_TNIL) {
                break;
            }
            replies.add(reply());
            natives.lua_pop(state, 1);
        }
        natives.lua_pop(state, 1);
        String error = replies.isEmpty() ? field("err") : null;
        if (error != null) {
            throw new CommandError(error);
        }
        String status = replies.isEmpty() ? field("ok") : null;
        return status == null ? replies : status;
    }

    /** Returns a field of the table on top, or null if it holds no string there. */
    @Nullable
    String field(String name) {
        lua.getField(-1, name);
        String value = natives.lua_type(state, -1) == LUA_TSTRING ? bytes(-1) : null;
        lua.pop(1);
        return value;
    }
}
