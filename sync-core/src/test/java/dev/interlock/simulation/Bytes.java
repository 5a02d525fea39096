package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Strings as Redis has them: bytes. Here each is a string whose characters are its bytes, so that it is compared as
 * Redis compares it; what is plain ASCII, as nearly everything is, is the same string outside.
 */
final class Bytes {
    private static final char LAST = 0x7f;

    private Bytes() {}

    /** Returns the bytes of a text in UTF-8. */
    static String of(String text) {
        return isAscii(text) ? text : new String(text.getBytes(UTF_8), ISO_8859_1);
    }

    /** Returns the text whose bytes these are in UTF-8. */
    static String text(String bytes) {
        return isAscii(bytes) ? bytes : new String(bytes.getBytes(ISO_8859_1), UTF_8);
    }

    static boolean isAscii(String text) {
        // Faster than character by character. Whatever else there is takes several bytes.
        return text.getBytes(UTF_8).length == text.length();
    }

    /** Returns bytes so that they can be read: those that don't print by their number. */
    static String printable(String bytes) {
        StringBuilder text = new StringBuilder(bytes.length());
        for (int i = 0; i < bytes.length(); i++) {
            char one = bytes.charAt(i);
            if (one > ' ' && one < LAST && one != '\\') {
                text.append(one);
            } else {
                text.append(String.format("\\x%02x", (int) one));
            }
        }
        return text.toString();
    }
}
