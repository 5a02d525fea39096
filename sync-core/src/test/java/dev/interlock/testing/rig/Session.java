package dev.interlock.testing.rig;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.ChildConsole;
import java.util.List;

/**
 * A session of a {@link Console}, which uses one name.
 *
 * @param label tells its lines from those of other sessions
 * @param words what the parent has said of the kind of synchronizer that it wants
 */
public record Session(String label, Interlock interlock, String name, List<String> words) {

    /** Tells the parent something that isn't the answer of a thread. */
    public void say(String line) {
        ChildConsole.say(label + " " + line);
    }

    /** Tells the parent of a loss, as {@code LOST <listener> <token> <message>}. */
    public void sayLost(String listener, LeaseLostException loss) {
        say("LOST " + listener + " " + loss.fencingToken() + " " + loss.getMessage());
    }
}
