package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.Answer;
import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What acquire answers and leaves behind for who only reads, by the state in which it finds the lock. */
class ReadScriptTest extends SharedLockScriptTest {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void freeLockIsSharedForTheWholeLease(boolean once) {
        Request request = a.request(1).reading();
        Answer answer = (once ? request.once() : request).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertThat(answer.ttlMillis()).isEqualTo(LEASE);
        assertThat(answer.behind()).isZero();
        assertThat(answer.micros()).as("it was simply free").isZero();
        assertThat(answer.owner()).isEqualTo(1);
        assertThat(answer.run()).isZero();
        assertThat(answer.token()).isEqualTo(number("GET", keys.token()));
        assertThat(list("HGETALL", keys.lock())).containsExactly(a.id + ":r", "1");
        assertAlmostLease(leaseOf(a));
        assertAlmostLease(ttl(keys.lock()));
        assertAlmostLease(ttl(keys.readers()));
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.readers(), keys.token());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void freeLockWhoseConditionsHaveWaitersIsShared(boolean once) {
        b.waits("c", 10);
        long before = number("GET", keys.token());
        Request request = a.request(1).reading();
        Answer answer = (once ? request.once() : request).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.behind()).as("conditions have waiters").isEqualTo(2);
        assertThat(answer.micros() / 1_000).isBetween(millis() - 10_000, millis());
        assertThat(answer.token()).isGreaterThan(before);
        assertReaders(a.owner(1));
        assertThat(tickets()).isEmpty();
        assertThat(waiting()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sharedLockIsJoinedAtOnceIfNobodyWaits(boolean once) throws InterruptedException {
        long first = a.read(1).token();
        shorten(a, 20_000);
        Request request = b.request(1).reading();
        Answer answer = (once ? request.once() : request).send();
        assertThat(answer.status()).isEqualTo(Status.GRANTED);
        assertAlmostLease(answer.ttlMillis());
        assertThat(answer.ttlMillis()).as("its own").isGreaterThan(20_000);
        assertThat(answer.behind()).isZero();
        assertThat(answer.owner()).isEqualTo(1);
        assertThat(answer.micros() / 1_000).isBetween(millis() - 10_000, millis());
        assertThat(answer.token()).isGreaterThan(first);
        assertReaders(a.owner(1), b.owner(1));
        assertThat(leaseOf(a)).as("of the other one").isLessThanOrEqualTo(20_000);
        assertThat(ttls()).containsOnlyKeys(keys.lock(), keys.readers(), keys.token(), b.mark());
        assertNoLetters(a, b);
    }

    @Test
    void repeatOfAGrantedRequestChangesNothingAndTellsWhatIsLeft() {
        share(a, b);
        shorten(b, 9_000);
        long token = number("GET", keys.token());
        Answer repeat = b.read(1);
        assertThat(repeat.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(repeat.behind()).isZero();
        assertThat(repeat.token()).isEqualTo(token);
        assertThat(leaseOf(b)).isLessThanOrEqualTo(9_000);
        contender().queue(1);
        assertThat(b.read(1).behind()).isEqualTo(1);
        assertReaders(a.owner(1), b.owner(1));
    }

    @Test
    void readerQueuesBehindAWriterThatWaits() {
        a.read(1);
        writer.queue(1);
        redis("PEXPIRE", keys.lock(), "9000");
        Answer answer = b.queueToRead(1);
        assertThat(answer.ttlMillis()).isBetween(1L, 9_000L);
        assertThat(answer.foreign()).isFalse();
        assertThat(answer.owner()).isZero();
        assertReaders(a.owner(1));
        assertQueue(writer.ticket(1), b.readingTicket(1));
        b.queueToRead(1);
        assertThat(tickets()).as("a repeat").containsExactly(writer.ticket(1), b.readingTicket(1));
    }

    @Test
    void readRequestThatDoesNotQueuePassesNoWaitingWriter() {
        a.read(1);
        writer.queue(1);
        Answer answer = b.request(1).reading().once().send();
        assertThat(answer.status()).isEqualTo(Status.BUSY);
        assertAlmostLease(answer.ttlMillis());
        assertReaders(a.owner(1));
        assertQueue(writer.ticket(1));
        a.release(1);
        writer.release(1);
        assertThat(b.request(1).reading().once().send().status())
                .as("a late duplicate")
                .isEqualTo(Status.OVER);
        assertThat(owners()).isEmpty();
    }

    @Test
    void readRequestThatDoesNotQueuePassesDeadWriters() {
        a.read(1);
        writer.queue(1);
        die(writer);
        assertThat(b.request(1).reading().once().send().status()).isEqualTo(Status.GRANTED);
        assertReaders(a.owner(1), b.owner(1));
        assertNoQueue();
    }

    /** Those who stand first come first; who finds nobody else then reads with them. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void readRequestThatDoesNotQueueJoinsTheReadersThatItLetsIn(boolean writerBehind) throws InterruptedException {
        inLineToRead(owner, a);
        if (writerBehind) {
            contender().queue(1);
        }
        expire();
        Answer answer = b.request(1).reading().once().send();
        assertGranted(a, 1, writerBehind ? 1 : 0);
        if (writerBehind) {
            assertThat(answer.status()).isEqualTo(Status.BUSY);
            assertReaders(a.owner(1));
        } else {
            assertThat(answer.status()).isEqualTo(Status.GRANTED);
            assertReaders(a.owner(1), b.owner(1));
        }
    }

    @Test
    void everyGrantDrawsAHigherToken() throws InterruptedException {
        long token = 0;
        for (Answer answer : new Answer[] {a.read(1), b.read(1), c.read(1)}) {
            assertThat(answer.token()).isGreaterThan(token);
            token = answer.token();
        }
        writer.queue(1);
        a.release(1);
        b.release(1);
        c.release(1);
        a.queueToRead(2);
        b.queueToRead(2);
        writer.release(1);
        for (Contender next : new Contender[] {writer, a, b}) {
            String letter = letters(next).stream()
                    .filter(text -> text.startsWith("g "))
                    .findFirst()
                    .orElseThrow();
            long granted = Long.parseLong(letter.split(" ", -1)[2]);
            assertThat(granted).isGreaterThan(token);
            token = granted;
        }
        assertThat(number("GET", keys.token())).isEqualTo(token);
    }
}
