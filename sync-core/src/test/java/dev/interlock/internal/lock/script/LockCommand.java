package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.LockModel.Party;
import java.util.List;

/** A command of a random program, to be sent once, later or again. */
sealed interface LockCommand {
    record Acquire(Request request) implements LockCommand {}

    record Release(Party party, List<Long> used, boolean reads) implements LockCommand {}

    record Downgrade(Party party) implements LockCommand {}

    record Renew(Party party) implements LockCommand {}
}
