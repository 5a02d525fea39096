package dev.interlock.testing;

import java.time.Duration;

/**
 * What becomes of a connection on which {@link FaultProxy} has lost something. Answers carry no name of their request:
 * after a lost one every later answer would go to the wrong request. So the client gets nothing more on that
 * connection, and sooner or later it is cut.
 *
 * @param silence how long the connection stays open, silent, before it is cut; zero cuts it at once
 */
public record Loss(Duration silence) {

    /** The connection is cut: the client learns at once that something is wrong. */
    public static final Loss CUT = new Loss(Duration.ZERO);

    /** The connection falls silent until the client closes it, for 10 s at most: the client has to time out. */
    public static final Loss MUTE = new Loss(Duration.ofSeconds(10));

    /** The connection falls silent until the client closes it, for a given time at most. */
    public static Loss muteFor(Duration silence) {
        return new Loss(silence);
    }
}
