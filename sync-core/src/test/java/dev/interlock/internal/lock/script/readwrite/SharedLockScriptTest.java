package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.LockScriptTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** A look at those who share a lock. */
abstract class SharedLockScriptTest extends LockScriptTest {
    Contender writer;

    @BeforeEach
    void begin() {
        writer = contender();
    }

    /** These sessions share the lock. */
    static void share(Contender... readers) {
        for (Contender reader : readers) {
            reader.read(1);
        }
    }

    /** The first of these sessions owns the lock, and the others queue behind it to read. */
    static void inLineToRead(Contender owner, Contender... readers) {
        owner.own(1);
        for (Contender reader : readers) {
            reader.queueToRead(1);
        }
    }

    /** By which sequences which sessions share the lock, and nobody owns it. */
    final void assertReaders(String... readers) {
        assertThat(readers()).containsExactlyInAnyOrder(readers);
    }

    /** Who shares the lock, and nobody owns it: `<session>:<sequence>` each, in no order. */
    final List<String> readers() {
        List<String> fields = list("HGETALL", keys.lock());
        List<String> readers = new ArrayList<>();
        for (int i = 0; i < fields.size(); i += 2) {
            assertThat(fields.get(i)).endsWith(":r");
            readers.add(fields.get(i).replaceFirst("r$", fields.get(i + 1)));
        }
        List<String> leases = list("ZRANGE", keys.readers(), "0", "-1");
        assertThat(leases)
                .as("each has a lease")
                .containsExactlyInAnyOrderElementsOf(readers.stream()
                        .map(reader -> reader.substring(0, reader.indexOf(':')))
                        .toList());
        return readers;
    }

    /** What is left of a reader's lease. */
    final long leaseOf(Contender reader) {
        return number("ZSCORE", keys.readers(), reader.id) - millis();
    }

    static long millis() {
        List<String> time = list("TIME");
        return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
    }

    /** Sets what is left of a reader's lease. */
    final void shorten(Contender reader, long leftMillis) {
        redis("ZADD", keys.readers(), "XX", Long.toString(millis() + leftMillis), reader.id);
    }

    /** A reader's lease is over. */
    final void lapse(Contender reader) {
        assertThat(number("ZADD", keys.readers(), "XX", "CH", "1", reader.id)).isEqualTo(1);
    }

    /** The leases of all readers are over, and so are their keys. */
    final void lapseAll() {
        assertThat(number("DEL", keys.lock(), keys.readers())).isEqualTo(2);
    }

    // Leases begin when they are given, and what is left of them is told as of when the script began.
    static void assertAlmostLease(long millis) {
        assertThat(millis).isBetween(LEASE - 10_000, LEASE + 1_000);
    }

    /** A session is told that this ticket was granted, and that those who had kept readers out are gone. */
    final void assertGrantedFreely(Contender reader, long sequence) throws InterruptedException {
        List<String> letters = letters(reader);
        assertThat(letters).hasSize(2);
        assertThat(letters.get(0)).startsWith("g " + sequence + " ");
        assertThat(letters.get(1)).isEqualTo("n " + sequence + " " + keys.lock());
    }

    /** The only message to a session tells that this ticket was granted, and these flags. */
    final void assertGranted(Contender reader, long sequence, int flags) throws InterruptedException {
        assertThat(letters(reader))
                .singleElement()
                .asString()
                .matches("g " + sequence + " \\d+ \\d{16} " + flags + " 0 0 " + keys.lock());
    }
}
