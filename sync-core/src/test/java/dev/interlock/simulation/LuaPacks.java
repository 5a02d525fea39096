package dev.interlock.simulation;

import party.iroiro.luajava.Lua;

/** What scripts get of the libraries {@code struct} and {@code cmsgpack}. */
final class LuaPacks {
    private final LuaStack stack;
    private final Lua lua;

    LuaPacks(LuaStack stack, Lua lua) {
        this.stack = stack;
        this.lua = lua;
    }

    int packNumbers() {
        throw new UnsupportedOperationException("struct.pack " + stack.bytes(1) + lua);
    }

    int unpackNumbers() {
        throw new UnsupportedOperationException("struct.unpack " + stack.bytes(1));
    }

    int packMessage() {
        throw new UnsupportedOperationException("cmsgpack.pack");
    }

    int unpackMessage() {
        throw new UnsupportedOperationException("cmsgpack.unpack " + stack.bytes(1));
    }
}
