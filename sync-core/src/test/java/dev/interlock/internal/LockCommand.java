package dev.interlock.internal;

import dev.interlock.internal.Contender.Request;
import dev.interlock.internal.LockModel.Party;
import java.util.List;

/** A command of a random program, to be sent once, later or again. */
sealed interface LockCommand {
    record Acquire(Request request) implements LockCommand {}

    record Release(Party party, List<Long> used, boolean reads) implements LockCommand {}

    record Downgrade(Party party) implements LockCommand {}

    record Renew(Party party) implements LockCommand {}
}
