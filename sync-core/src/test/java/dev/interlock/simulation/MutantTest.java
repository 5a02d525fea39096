package dev.interlock.simulation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Faults planted in the library, one at a time, each of which the simulator finds: what findings have mended, the rules
 * of {@code docs/model}, and others. What finds these finds what nobody has thought of.
 */
@Tag("proof")
@Timeout(value = 12, unit = TimeUnit.MINUTES)
class MutantTest {
    private static final String LEAVE =
            "  if redis.call('hdel', lock, session .. ':' .. sequence) == 1 then\n    return true, false";

    static List<Mutant> mutants() {
        Kind[] locks = {Kind.PLAIN_LOCK, Kind.FAIR_LOCK, Kind.RETAINED_LOCK};
        Stream<Mutant> ofLocks = Stream.of(findings(), laterFindings(), rulesOfWords(), rulesOfTime(), others())
                .flatMap(List::stream)
                .map(mutant -> mutant.among(locks));
        Stream<Mutant> ofOthers = Stream.of(
                        ofReadWriteLocks(),
                        ofQuorumLocks(),
                        ofSemaphores(),
                        ofLatchesAndBarriers(),
                        ofHolds(),
                        ofHeldPermits(),
                        ofElections())
                .flatMap(List::stream);
        return Stream.concat(ofLocks, ofOthers).toList();
    }

    /** What the first findings have mended. */
    private static List<Mutant> findings() {
        return List.of(
                Mutant.named("a late message ends a sequence that was entered, and its signals are lost")
                        .from(3_940)
                        .under(Fault.Kind.LATE_MAIL, Fault.Kind.LOST_REQUESTS)
                        .calling(Call.PUT, Call.TAKE, Call.TAKE_OR_PUT)
                        .java(
                                "lock/script/Ownership",
                                "conditions.isIdle() && !conditions.isReleasing()",
                                "conditions.isIdle()")
                        .java(
                                "lock/script/ReliableRelease",
                                "if (session.isExpected(",
                                "if (false && session.isExpected(")
                        .lua("local isUndone = hasOperations and", "local isUndone = false and"),
                Mutant.named("one message rewinds the tokens of all")
                        .from(11)
                        .under(Fault.Kind.STRANGER)
                        .java(
                                "lock/script/Ownership",
                                "return token > lastToken && token < FencingTokens.REMOTE_LIMIT;",
                                "lastToken = Math.max(lastToken, token); return true;")
                        .lua("floor < tooGreat and floor or 0", "floor"),
                Mutant.named("what may pass is taken for what lasts")
                        .from(18)
                        .under(Fault.Kind.REFUSAL)
                        .java(
                                "redis/Failures",
                                "return error.startsWith(\"WRONGTYPE \")",
                                "return error.startsWith(\"MISCONF \") || error.startsWith(\"WRONGTYPE \")"));
    }

    /** What later findings have mended. */
    private static List<Mutant> laterFindings() {
        return List.of(
                Mutant.named("a lost lock keeps its own JVM out")
                        .calling(Call.LOCK, Call.TRY_LOCK_TIMED, Call.LOCK_AND_OUTSTAY, Call.LOCK_AND_LOSE)
                        .showing(Trait.LOST_LOCKS_BLOCK_NOBODY)
                        .java("lock/Halves", "if (isInside.getAsBoolean()) {", "if (false) {"),
                Mutant.named("a wait whose release was late is told of a loss")
                        .from(789)
                        .under(Fault.Kind.LOST_REQUESTS)
                        .calling(Call.PUT, Call.TAKE, Call.TAKE_OR_PUT)
                        .java(
                                "lock/script/Waiter",
                                "released != null && !released.isOver(nowNanos)",
                                "released != null"),
                Mutant.named("tokens of an older copy are drawn again")
                        .under(Fault.Kind.STALE_COPY)
                        .showing(Trait.TOKENS_OUTLIVE_LOSSES)
                        .lua(
                                "math.max(least, (micros",
                                "redis.call('get', token) and least or math.max(least, (micros"),
                Mutant.named("a wait for a condition doesn't hear that Redis refuses")
                        .calling(Call.LOCK, Call.TAKE, Call.TAKE_OR_PUT, Call.PUT)
                        .under(Fault.Kind.WRONG_TYPE, Fault.Kind.NO_PERMISSION)
                        .java(
                                "lock/script/LockMonitor",
                                "return state.conditions().refused(cause, session.now());",
                                "return true;"));
    }

    /** The rules of the model about what belongs to what. */
    private static List<Mutant> rulesOfWords() {
        return List.of(
                Mutant.named("Causality")
                        .from(190)
                        .java("lock/script/Ownership", "Lease.validUntil(ticket.queuedNanos,", "Lease.validUntil(now,"),
                Mutant.named("GrantMatchesSequence")
                        .from(50)
                        .java(
                                "lock/script/Ownership",
                                "boolean granted(Mail.Grant mail, boolean isReplicated, long now) {",
                                """
                                boolean granted(Mail.Grant sent, boolean isReplicated, long now) {
                                    Ticket next = view.ticket;
                                    Mail.Grant mail = next == null
                                            ? sent
                                            : new Mail.Grant(
                                                    sent.key(), next.sequence, sent.token(), sent.redisMicros(),
                                                    sent.waiters(), sent.conditions(), sent.run(), sent.waiter());
                                """),
                Mutant.named("ReleaseMatchesSession")
                        .lua(LEAVE, "  if redis.call('del', lock) == 1 then\n    return true, false"),
                Mutant.named("ReleaseMatchesSequence").from(14).lua(LEAVE, """
                                local own = redis.call('hkeys', lock)[1]
                                local isOwn = own and string.sub(own, 1, #session + 1) == session .. ':'
                                if isOwn and redis.call('hdel', lock, own) == 1 then
                                  return true, false"""),
                Mutant.named("RenewMatchesSession and RenewMatchesSequence")
                        .from(2_990)
                        .under(Fault.Kind.LATE_REQUESTS, Fault.Kind.DUPLICATES)
                        .lua(
                                "redis.call('hexists', lock, session .. ':' .. sequence) == 1 then\n  if lease > 0",
                                "redis.call('exists', lock) == 1 then\n  if lease > 0"));
    }

    /** The rules of the model about leases, marks and repeats. */
    private static List<Mutant> rulesOfTime() {
        return List.of(
                Mutant.named("ReplyTellsTtl")
                        .from(14)
                        .lua(
                                "ttl = (tenure == 0 or standing[tenure]) and redis.call('pttl', lock) or -1",
                                "ttl = standing[tenure] and tonumber(lease) or redis.call('pttl', lock)"),
                Mutant.named("WaitersLease")
                        .from(14)
                        .lua("give(name, heir, theirs, grantLease)", "give(name, heir, theirs, 100)"),
                Mutant.named("CancelMarks")
                        .from(69)
                        .lua(
                                "queued, released = math.max(tonumber(queued), number), tonumber(released)",
                                "queued, released = tonumber(queued), tonumber(released)")
                        .lua("if queued > number or released > number then", "if false then")
                        .lua("local highest = math.max(tonumber(queued), number)", "local highest = tonumber(queued)"),
                Mutant.named("MarkRefuses")
                        .from(13)
                        .lua("elseif number > queued and number > tenure and", "elseif number > tenure and")
                        .lua("local isNew = tonumber(sequence) > tonumber(queued)", "local isNew = true")
                        .lua("isOneNew = first > queued and string.find", "isOneNew = string.find"),
                Mutant.named("EntryChecks")
                        .from(34)
                        .java("lock/script/LockTenure", "return lease.isValid(nowNanos);", "return true;"),
                Mutant.named("Pulse").java("lock/script/ScriptLock", "        monitor.pulse();\n", ""),
                Mutant.named("PollsHandOver")
                        .from(100)
                        .lua(
                                "if not holder then\n  name.hasConditions",
                                "if not holder and #arriving > 0 then\n" + "  name.hasConditions"));
    }

    /** Others. */
    private static List<Mutant> others() {
        return List.of(
                Mutant.named("take looks at no owner")
                        .lua(
                                "redis.call('exists', lock, queue, conditions) > 0 then\n    return { 0 }",
                                "redis.call('exists', queue, conditions) > 0 then\n    return { 0 }"),
                Mutant.named("tokens aren't counted").from(794).lua("if last >= value and", "if last > 2 * value and"),
                Mutant.named("what a tenure does with conditions is forgotten")
                        .from(7)
                        .lua("  operate(name, sequence, operations, done - first)\n", ""),
                Mutant.named("a turn doesn't end")
                        .from(170)
                        .java(
                                "lock/script/KeepPolicy",
                                "return current.demand && turnLeftNanos(current, now) <= 0;",
                                "return false;"),
                Mutant.named("a refused request asks nobody")
                        .from(14)
                        .lua("local isAsked = not enqueue and", "local isAsked = false and")
                        .lua("  if not enqueue then\n    send(", "  if false then\n    send(")
                        .lua("enqueue and 2 or 3, ttl, enqueue and 0 or 2", "enqueue and 2 or 3, ttl, 0"),
                Mutant.named("a session gives nothing up that is asked for")
                        .from(97)
                        .java(
                                "lock/script/ScriptLock",
                                "giveUpIf(() -> view.tenure == current && !isWanted(), true);",
                                ""),
                Mutant.named("what a thread is inside of is given up")
                        .java("lock/AbstractRemoteLock", "boolean isIdle = !local.isHeld();", "boolean isIdle = true;"),
                Mutant.named("who dies with a signal takes it along")
                        .from(390)
                        .lua("if not released or released ~= redis.call('get', name.token) then", "if false then"));
    }

    private static List<Mutant> ofReadWriteLocks() {
        List<Mutant> mutants = List.of(
                Mutant.named("whose request is to read shares with a writer")
                        .from(14)
                        .lua("isReader(holder) and (reads or isPoll)", "(reads or isPoll)"),
                Mutant.named("a withdrawn ticket ends what its session reads on")
                        .lua("isAlive and (kind ~= 'r' or", "isAlive and (false or"),
                Mutant.named("who writes enters a tenure that is shared")
                        .java("lock/script/LockTenure", "return !shared && tokens.draw();", "return tokens.draw();"),
                Mutant.named("signals that a downgrade has overtaken are a loss")
                        .from(320)
                        .java("lock/script/ConditionQueue", "reply.owned() || current.shared", "reply.owned()"));
        mutants.forEach(mutant -> mutant.among(Kind.READ_WRITE_LOCK, Kind.FAIR_READ_WRITE_LOCK));
        return mutants;
    }

    private static List<Mutant> ofQuorumLocks() {
        List<Mutant> mutants = List.of(
                Mutant.named("a node votes for all").lua("elseif not holder or isMine then", "elseif true then"),
                Mutant.named("a minority decides")
                        .java("quorum/QuorumSession", "nodes.size() / 2 + 1", "nodes.size() / 2"),
                Mutant.named("a token isn't written back").java("quorum/VoteRound", "vote.token() >= token", "true"),
                Mutant.named("a release takes another's vote away")
                        .lua(
                                "local owned = holderSession == session and tonumber(holderNumber) <= number",
                                "local owned = holder and true"),
                Mutant.named("a node votes for a request that is over")
                        .lua("if number <= tonumber(over) then", "if false then"),
                Mutant.named("a vote counts from when it came")
                        .from(2_715)
                        .java("quorum/QuorumTenure", "Lease.validUntil(round.sentNanos,", "Lease.validUntil(nowNanos,"),
                Mutant.named("a round is lost before a majority answers")
                        .from(16)
                        .java("quorum/VoteRound", "(votes.size() >= majority || failed > minority)", "true"));
        mutants.forEach(mutant -> mutant.among(Kind.QUORUM_LOCK));
        return mutants;
    }

    private static List<Mutant> ofSemaphores() {
        String waits = "        try (RemoteWait wait = new RemoteWait(session, interruptible, waitNanos,"
                + " waited -> unavailable()).acquiring()) {\n            Waiter";
        List<Mutant> mutants = List.of(
                Mutant.named("a thread that comes beside close() isn't told")
                        .from(3_595)
                        .under(Fault.Kind.CLOSE)
                        .java(
                                "semaphore/SemaphoreSync",
                                "callAcquiring((known, now) -> known.come(waiter, now))",
                                "permits.call((known, now) -> known.come(waiter, now))")
                        .java("semaphore/SemaphoreSync", waits, "        session.ensureOpen();\n" + waits)
                        .java("semaphore/SemaphoreSync", "            remote.close();\n", ""),
                Mutant.named("who drains takes what another one was woken for")
                        .from(3_369)
                        .java(
                                "semaphore/LocalPermits",
                                "        evaluate();\n        return operation;",
                                "        return operation;"),
                Mutant.named("a late operation counts again")
                        .from(142)
                        .lua("if operation > account.operation then", "if operation > 0 then"),
                Mutant.named("what an account took at once doesn't come back")
                        .lua(
                                "pool.available + account.granted + account.taken - account.returned",
                                "pool.available + account.granted - account.returned"),
                Mutant.named("permits last longer than their lease")
                        .from(1_023)
                        .java(
                                "semaphore/SemaphoreState",
                                "return !owned || (!leaving && lease.isValid(now));",
                                "return !owned || !leaving;"));
        mutants.forEach(mutant -> mutant.among(Kind.SEMAPHORE, Kind.FAIR_SEMAPHORE));
        return mutants;
    }

    private static List<Mutant> ofLatchesAndBarriers() {
        return List.of(
                Mutant.named("a repeated count-down counts again")
                        .from(386)
                        .among(Kind.LATCH)
                        .under(Fault.Kind.LOST_REPLIES, Fault.Kind.LATE_REQUESTS, Fault.Kind.DUPLICATES)
                        .lua("if total > counted then", "if total > 0 then"),
                Mutant.named("a latch opens one count-down early")
                        .among(Kind.LATCH)
                        .lua("if left > 0 then\n  if waits == '1' then", "if left > 1 then\n  if waits == '1' then"),
                Mutant.named("a barrier trips one party early")
                        .among(Kind.BARRIER)
                        .lua("if arrived == tonumber(size) then", "if arrived >= tonumber(size) - 1 then"),
                Mutant.named("an arrival counts in a later generation")
                        .among(Kind.BARRIER)
                        .lua("if generation == current and state == 'open' then", "if state == 'open' then"));
    }

    private static List<Mutant> ofHolds() {
        String queue = "lock/script/HoldQueue";
        List<Mutant> mutants = List.of(
                Mutant.named("a hold whose request was cancelled isn't given back")
                        .java("session/HoldTerms", "if (result != granted) {", "if (false) {"),
                Mutant.named("a ticket that no hold wants stays in the queue")
                        .from(3_766)
                        .java(
                                queue,
                                "if (request != null) {\n            state",
                                "if (name.isEmpty()) {\n            state"),
                Mutant.named("the release of a lost hold ends the next one")
                        .from(548)
                        .java(queue, "inside = isInside ? null : inside;", "inside = null;"),
                Mutant.named("a wait for a hold that is over isn't told")
                        .java(
                                queue,
                                "            remove(this, state);\n            if (asksRedis",
                                "            remove(this, state);\n            if (true) {\n                return;\n"
                                        + "            }\n            if (asksRedis"),
                Mutant.named("a hold is granted on a tenure that is over")
                        .from(9_126)
                        .java(queue, "&& current.take(now)) {", "&& (current.take(now) || true)) {"),
                Mutant.named("a refusal is told to no hold").java(queue, "            first.fail(e);\n", ""),
                Mutant.named("an extended lease counts for twice as long")
                        .from(535)
                        .java(
                                "lock/script/LockTenure",
                                "lease.extendTo(sentNanos, Lease.validUntil(sentNanos, ttlMillis));",
                                "lease.extendTo(sentNanos, Lease.validUntil(sentNanos, 2 * ttlMillis));"),
                Mutant.named("a hold that is released leaves others waiting")
                        .java(queue, "p, state, now);\n                    step(state, now);", "p, state, now);"));
        mutants.forEach(mutant -> mutant.among(Kind.HOLD, Kind.HELD_PERMITS));
        return mutants;
    }

    private static List<Mutant> ofHeldPermits() {
        List<Mutant> mutants = List.of(
                Mutant.named("permits that were asked for once and cancelled aren't given back")
                        .java(
                                "semaphore/PermitQueue",
                                "                held.release();\n                return;\n",
                                "                return;\n"),
                Mutant.named("a wait for permits that is over keeps its place")
                        .java("semaphore/PermitQueue", "                known.comeOut(waiter, false, now);\n", ""),
                Mutant.named("permits that were lost on their way are held")
                        .java("semaphore/PermitQueue", "if (acquired) {", "if (acquired || !name.isEmpty()) {"));
        mutants.forEach(mutant -> mutant.among(Kind.HOLD, Kind.HELD_PERMITS));
        return mutants;
    }

    private static List<Mutant> ofElections() {
        String candidacy = "election/Candidacy";
        List<Mutant> mutants = List.of(
                Mutant.named("a leader that resigns isn't told that it is deposed")
                        .java(candidacy, "if (told) {", "if (told && why != End.RESIGNED) {"),
                Mutant.named("a leader is deposed twice")
                        .java(
                                candidacy,
                                "                    return;\n                }\n                end = why;",
                                "                }\n                end = why;"),
                Mutant.named("a loss doesn't end the term")
                        .from(120)
                        .java(candidacy, "held.lost().thenAccept(loss -> end(End.LOST));", ""),
                Mutant.named("a leader that finds its loss isn't interrupted")
                        .from(3_243)
                        .java(candidacy, "currentThread() || why == End.LOST", "currentThread()"),
                Mutant.named("a candidate that is closed keeps the name")
                        .java(
                                candidacy,
                                "held.handOver().whenComplete((released, failure) ->",
                                "(isLast ? held.lost() : held.handOver()).whenComplete((released, failure) ->"),
                Mutant.named("a leader whose work has returned stands no more")
                        .java(
                                candidacy,
                                "if (why == End.RETURNED || why == End.FAILED) {\n                pause();",
                                "if (why == End.RETURNED) {\n                return;"));
        mutants.forEach(mutant -> mutant.among(Kind.ELECTION));
        return mutants;
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void isFound(Mutant mutant) throws Exception {
        long begun = System.nanoTime();
        String failure = mutant.search(TimeUnit.MINUTES.toNanos(9));
        assertThat(failure).as(mutant + ": what the simulation has found").isNotNull();
        String seed = requireNonNull(failure).lines().findFirst().orElse("").replaceFirst(":.*", "");
        System.out.printf("Simulation: found after %.1f s: %s (%s)%n", (System.nanoTime() - begun) / 1e9, mutant, seed);
    }
}
