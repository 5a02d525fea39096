package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Faults planted in the library, one at a time, each of which the simulator finds: what findings have mended, the rules
 * of {@code docs/model}, and others. What finds these finds what nobody has thought of.
 */
@Tag("proof")
class MutantTest {
    private static final String LEAVE =
            "  if redis.call('hdel', lock, session .. ':' .. sequence) == 1 then\n    return true, false";

    static List<Mutant> mutants() {
        return Stream.of(findings(), rulesOfWords(), rulesOfTime(), others())
                .flatMap(List::stream)
                .toList();
    }

    /** What findings have mended. */
    private static List<Mutant> findings() {
        return List.of(
                Mutant.named("a late message ends a sequence that was entered, and its signals are lost")
                        .java(
                                "lock/script/TicketRequest",
                                "conditions.isIdle() && !conditions.operations().isReleasing()",
                                "conditions.isIdle()")
                        .java(
                                "lock/script/ReliableRelease",
                                "if (session.isExpected(",
                                "if (false && session.isExpected(")
                        .lua("local isUndone = hasOperations and", "local isUndone = false and"),
                Mutant.named("one message rewinds the tokens of all")
                        .java(
                                "lock/script/LockState",
                                "return token > lastToken && token < FencingTokens.REMOTE_LIMIT;",
                                "lastToken = Math.max(lastToken, token); return true;")
                        .lua("floor < tooGreat and floor or 0", "floor"));
    }

    /** The rules of the model about what belongs to what. */
    private static List<Mutant> rulesOfWords() {
        return List.of(
                Mutant.named("Causality")
                        .java(
                                "lock/script/Ownership",
                                "Lease.validUntil(ticket.queuedNanos(),",
                                "Lease.validUntil(now,"),
                Mutant.named("GrantMatchesSequence")
                        .java(
                                "lock/script/Ownership",
                                "        long sequence = mail.sequence();\n",
                                "        Ticket next = state.ticket();\n"
                                        + "        long sequence = next == null ? mail.sequence() : next.sequence;\n"),
                Mutant.named("ReleaseMatchesSession")
                        .lua(LEAVE, "  if redis.call('del', lock) == 1 then\n    return true, false"),
                Mutant.named("ReleaseMatchesSequence")
                        .lua(
                                LEAVE,
                                "  local own = redis.call('hkeys', lock)[1]\n"
                                        + "  local isOwn = own and string.sub(own, 1, #session + 1) == session .. ':'\n"
                                        + "  if isOwn and redis.call('hdel', lock, own) == 1 then\n"
                                        + "    return true, false"),
                Mutant.named("RenewMatchesSession and RenewMatchesSequence")
                        .lua(
                                "redis.call('hexists', lock, session .. ':' .. sequence) == 1 then\n"
                                        + "  redis.call('pexpire'",
                                "redis.call('exists', lock) == 1 then\n  redis.call('pexpire'"));
    }

    /** The rules of the model about leases, marks and repeats. */
    private static List<Mutant> rulesOfTime() {
        return List.of(
                Mutant.named("ReplyTellsTtl")
                        .lua(
                                "ttl = (tenure == 0 or standing[tenure]) and redis.call('pttl', lock) or -1",
                                "ttl = standing[tenure] and tonumber(lease) or redis.call('pttl', lock)"),
                Mutant.named("WaitersLease")
                        .lua("give(name, heir, theirs, grantLease)", "give(name, heir, theirs, 100)"),
                Mutant.named("CancelMarks")
                        .lua(
                                "queued, released = math.max(tonumber(queued), number), tonumber(released)",
                                "queued, released = tonumber(queued), tonumber(released)")
                        .lua("if queued > number or released > number then", "if false then"),
                Mutant.named("MarkRefuses")
                        .lua("elseif number > queued and number > tenure and", "elseif number > tenure and")
                        .lua("local isNew = tonumber(sequence) > tonumber(queued)", "local isNew = true")
                        .lua("if first > queued and string.find", "if string.find"),
                Mutant.named("EntryChecks")
                        .java("lock/script/LockTenure", "return lease.isValid(nowNanos);", "return !ended;"),
                Mutant.named("Pulse").java("lock/script/ScriptLock", "        monitor.pulse();\n", ""),
                Mutant.named("PollsHandOver")
                        .lua(
                                "if not holder then\n  name.hasConditions",
                                "if not holder and #arriving > 0 then\n" + "  name.hasConditions"));
    }

    /** Others. */
    private static List<Mutant> others() {
        return List.of(
                Mutant.named("take looks at no owner")
                        .lua(
                                "redis.call('exists', lock, queue, conditions) > 0 then\n  return { 0 }",
                                "redis.call('exists', queue, conditions) > 0 then\n  return { 0 }"),
                Mutant.named("tokens aren't counted")
                        .lua("redis.call('incr', token)", "tonumber(redis.call('get', token) or 0)"),
                Mutant.named("what a tenure does with conditions is forgotten")
                        .lua("  operate(name, sequence, operations, done - first)\n", ""),
                Mutant.named("who dies with a signal takes it along")
                        .lua("if not released or released ~= redis.call('get', name.token) then", "if false then"));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void isFound(Mutant mutant) throws Exception {
        long begun = System.nanoTime();
        String failure = mutant.search(1, TimeUnit.MINUTES.toNanos(3));
        System.out.printf("Simulation: found after %.1f s: %s%n", (System.nanoTime() - begun) / 1e9, mutant);
        assertThat(failure).isNotNull();
    }
}
