package dev.interlock.simulation;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a script replies, or fails by if that is not empty, the messages that it sends, and all data that it leaves
 * behind.
 */
record Outcome(@Nullable Object reply, String failure, List<String> messages, String data) {}
