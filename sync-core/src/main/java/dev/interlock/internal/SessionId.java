package dev.interlock.internal;

import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ids of sessions: {@code interlock-<protocol>-<uuid>}, and what the mailboxes of a cluster add to that. The protocol
 * is what sessions that share a name have to agree on: what scripts do, what is kept in Redis, and what messages say.
 * Scripts compare it, as {@code session/include/protocol.lua} has it; docs/compatibility.md says when it changes.
 */
public final class SessionId {
    private static final String OURS = "interlock-1-";
    private static final Pattern ANY = Pattern.compile("interlock-(\\d{1,9})-.*");
    private static final int BRIEF = 8;

    /** That of this version. */
    public static final int PROTOCOL = protocol(OURS);

    private SessionId() {}

    /** Returns an id that no session has, with a suffix. */
    public static String fresh(String suffix) {
        return OURS + UUID.randomUUID() + suffix;
    }

    /** Returns the beginning of the UUID of a session of this JVM: what its threads are named after. */
    public static String brief(String id) {
        return id.substring(OURS.length(), OURS.length() + BRIEF);
    }

    /** Returns the protocol of a session, or 0 if its id tells none: it is of a version that wasn't released. */
    public static int protocol(String id) {
        Matcher matcher = ANY.matcher(id);
        return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
    }
}
