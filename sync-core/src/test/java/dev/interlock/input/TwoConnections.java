package dev.interlock.input;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Two sessions, for all tests of a class. */
abstract class TwoConnections {
    static Interlock interlock;
    static Interlock other;

    @BeforeAll
    static void open() {
        interlock = Interlock.connect(RedisServer.provided().url());
        other = Interlock.connect(RedisServer.provided().url());
    }

    @AfterAll
    static void close() {
        interlock.close();
        other.close();
    }
}
