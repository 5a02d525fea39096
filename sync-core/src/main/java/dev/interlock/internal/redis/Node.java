package dev.interlock.internal.redis;

/**
 * A Redis as a session uses it.
 *
 * @param runner runs scripts there
 * @param mailbox the channel on which the session gets messages from there
 * @param outage since when it has not answered
 */
public record Node(ScriptRunner runner, Mailbox mailbox, Outage outage) {}
