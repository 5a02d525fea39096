package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Throwables;
import com.google.common.hash.Hashing;
import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;
import party.iroiro.luajava.JFunction;
import party.iroiro.luajava.Lua;
import party.iroiro.luajava.lua51.Lua51;

/**
 * The Lua of Redis, with the scripts that it has compiled. A Redis needs one only while it runs a script, and keeps
 * nothing in it; so there are as many as run at the same time, and they live as long as the JVM.
 */
final class LuaEngine {
    private static final ConcurrentLinkedDeque<LuaEngine> IDLE = new ConcurrentLinkedDeque<>();
    private static final String LIBRARY = "dev/interlock/simulation/scripting.lua";

    private final Lua lua = new Lua51();
    private final LuaStack stack = new LuaStack(lua);
    private final int compile;
    private final int run;
    private final Map<String, Integer> compiled = new HashMap<>();
    private @Nullable Commands commands;
    private @Nullable Throwable defect;

    private LuaEngine() {
        for (String library : List.of("", "string", "table", "math", "os", "debug")) {
            lua.openLibrary(library);
        }
        lua.load(library());
        LuaPacks packs = new LuaPacks(lua, stack);
        List<JFunction> functions = List.of(
                guarded(this::call),
                guarded(LuaEngine::fail),
                guarded(packs::packNumbers),
                guarded(packs::unpackNumbers),
                guarded(packs::packMessage),
                guarded(packs::unpackMessage));
        functions.forEach(lua::push);
        lua.pCall(functions.size(), 3);
        stack.keepChar();
        run = lua.ref();
        compile = lua.ref();
    }

    private static String library() {
        try {
            return Resources.toString(Resources.getResource(LIBRARY), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a script, whose commands are those of a Redis. Returns what Redisson would complete with. */
    static List<Object> run(String text, List<String> keys, List<String> arguments, Commands commands) {
        LuaEngine idle = IDLE.poll();
        LuaEngine engine = idle == null ? new LuaEngine() : idle;
        try {
            return engine.evaluate(text, keys, arguments, commands);
        } finally {
            IDLE.push(engine);
        }
    }

    private List<Object> evaluate(String text, List<String> keys, List<String> arguments, Commands commands) {
        this.commands = commands;
        try {
            lua.refGet(run);
            lua.refGet(compiled(text));
            lua.push((long) keys.size());
            stack.pushEach(keys);
            stack.pushEach(arguments);
            lua.pCall(2 + keys.size() + arguments.size(), 2);
            if (defect != null) {
                Throwables.throwIfUnchecked(defect);
            }
            if (!lua.toBoolean(-2)) {
                throw failure(text);
            }
            return list(stack.reply());
        } catch (CommandError e) {
            throw new RedisException(e.getMessage());
        } finally {
            lua.setTop(0);
            this.commands = null;
            defect = null;
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(@Nullable Object reply) {
        if (reply instanceof List<?> list) {
            return (List<Object>) list;
        }
        throw new IllegalArgumentException("The script replies no list: " + reply);
    }

    private int compiled(String text) {
        Integer known = compiled.get(text);
        if (known != null) {
            return known;
        }
        lua.refGet(compile);
        stack.push(Bytes.of(text));
        lua.pCall(1, 2);
        if (lua.isNil(-2)) {
            throw new CommandError("ERR Error compiling script (new function): " + stack.bytes(-1));
        }
        lua.pop(1);
        int script = lua.ref();
        compiled.put(text, script);
        return script;
    }

    /** Returns what Redis says of the failure on top of the stack. */
    private RedisException failure(String text) {
        String place = stack.field("place");
        String message = Objects.requireNonNull(stack.field("err"));
        return new RedisException(
                place == null ? message : message + " script: " + digest(text) + ", on " + place + ".");
    }

    // By SHA-1 Redis tells scripts apart; nothing is kept secret or safe by it.
    @SuppressWarnings("deprecation")
    private static String digest(String text) {
        return Hashing.sha1().hashString(text, UTF_8).toString();
    }

    /** Carries out a command. */
    private Integer call() {
        stack.pushReply(Objects.requireNonNull(commands).run(stack.arguments()));
        return 1;
    }

    private static Integer fail() {
        throw new IllegalStateException("The script doesn't end");
    }

    /** Has what a command fails by be an error of Lua, and keeps what else fails for the end of the script. */
    private JFunction guarded(Supplier<Integer> function) {
        return state -> {
            try {
                return function.get();
            } catch (CommandError e) {
                stack.pushField("err", e.getMessage());
            } catch (RuntimeException | Error e) {
                defect = e;
                lua.push(e.toString());
            }
            return -1;
        };
    }
}
