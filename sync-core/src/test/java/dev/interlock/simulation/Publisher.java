package dev.interlock.simulation;

import java.util.List;

/** Where the messages of scripts go. It is called while a script runs, so it runs none itself. */
interface Publisher {
    /** Sends a message, and returns how many subscribers get it. */
    int publish(String channel, String message);

    /** Returns how many subscribers a channel has. */
    int subscribers(String channel);

    /** Returns the channels that have subscribers and whose names begin so. */
    List<String> channels(String prefix);
}
