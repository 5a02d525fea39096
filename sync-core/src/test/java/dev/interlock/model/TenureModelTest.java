package dev.interlock.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.model.Checker.Verdict;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The models in {@code docs/model}, of tenures, of statements and of the questions of an untimed {@code tryLock()},
 * keep their properties in all states that can be reached, and break one of them without any of their rules. They
 * depend on nothing else: so this runs when {@code docs/model} has changed, as {@link ModelRecordTest} sees to.
 */
@Tag("model")
class TenureModelTest {
    @TempDir
    private Path folder;

    private Checker checker(String module) {
        return new Checker(module, folder, 240);
    }

    /** A model that has become empty would hold everything: so the states are counted. */
    @ParameterizedTest
    @CsvSource({
        "Tenure, Progress, 10000",
        "Tenure, Requests, 50000",
        "Tenure, Tokens, 100000",
        "Statements, StatedProgress, 8000",
        "Statements, StatedRequests, 40000",
        "Statements, StatedTokens, 50000",
        "Question, Tries, 15000",
        "Question, FairTries, 30000",
        "Question, ThreeSessions, 60000"
    })
    void rulesHold(String module, String configuration, long leastStates) {
        Verdict verdict = checker(module).check(configuration);

        System.out.printf("model %s: %d distinct states%n", configuration, verdict.states());
        assertThat(verdict.violated()).as(verdict.output()).isEqualTo("none");
        assertThat(verdict.states()).isGreaterThan(leastStates);
    }

    /** A rule, taken away alone, lets happen what must not. */
    @ParameterizedTest
    @CsvSource({
        "Causality, Requests, MutualExclusion",
        "GrantMatchesSequence, Requests, MutualExclusion",
        "ReleaseMatchesSession, Requests, MutualExclusion",
        "ReleaseMatchesSequence, Requests, MutualExclusion",
        "RenewMatchesSession, Requests, MutualExclusion",
        "RenewMatchesSequence, Requests, MutualExclusion",
        "ReplyTellsTtl, Requests, MutualExclusion",
        "WaitersLease, Requests, MutualExclusion",
        "CancelMarks, Requests, OwnerKnows",
        "Pulse, Progress, Progress",
        "MarkRefuses, Requests, OwnerKnows",
        "LossIsFinal, Tokens, TokenOrder",
        "EntryChecks, Tokens, TokenOrder",
        "PollsHandOver, Progress, Progress"
    })
    void breaksWithoutAnyRule(String rule, String configuration, String violated) {
        assertBreaks("Tenure", rule, configuration, violated);
    }

    @ParameterizedTest
    @CsvSource({
        "VersionRefuses, StatedRequests, OwnerKnows",
        "SaysAll, StatedRequests, OwnerKnows",
        "NewByNumber, StatedRequests, MutualExclusion",
        "Causality, StatedRequests, MutualExclusion",
        "HoldMatchesSession, StatedRequests, MutualExclusion",
        "ReplyTellsTtl, StatedRequests, MutualExclusion",
        "WaitersLease, StatedRequests, MutualExclusion",
        "EntryChecks, StatedTokens, TokenOrder",
        "Pulse, StatedProgress, Progress",
        "PollsHandOver, StatedProgress, Progress"
    })
    void statementsBreakWithoutAnyRule(String rule, String configuration, String violated) {
        assertBreaks("Statements", rule, configuration, violated);
    }

    @ParameterizedTest
    @CsvSource({
        "AsksOwner, Tries",
        "AsksNewOwner, Tries",
        "AsksBehindOthers, ThreeSessions",
        "AsksItself, FairTries",
        "AnswerConfirmed, Tries",
        "AnswerMatchesRequest, Tries"
    })
    void tryIsNotExactWithoutAnyRule(String rule, String configuration) {
        assertBreaks("Question", rule, configuration, "TryIsExact");
    }

    private void assertBreaks(String module, String rule, String configuration, String violated) {
        Verdict verdict = checker(module).checkWithout(rule, configuration);

        System.out.printf("model without %s: %s is violated%n", rule, verdict.violated());
        assertThat(verdict.violated()).isEqualTo(violated);
    }
}
