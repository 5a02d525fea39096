package dev.interlock.internal.lock.script.readwrite;

import static dev.interlock.internal.lock.script.Contender.LEASE;
import static dev.interlock.internal.lock.script.Contender.NOTHING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.internal.lock.script.Answer.Status;
import dev.interlock.internal.lock.script.Contender.Renewed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each reader's lease ends by itself. */
class ReadLeaseScriptTest extends SharedLockScriptTest {
    private static final Renewed REFUSED = new Renewed(false, 0, 0, 0);

    @Test
    void readerWhoseLeaseIsOverIsForgottenAndTheOthersAreNot() throws InterruptedException {
        share(a, b);
        writer.queue(1);
        lapse(a);
        writer.queue(1);
        assertReaders(b.owner(1));
        assertThat(a.release(1)).as("it was lost").isEqualTo(NOTHING);
        assertThat(a.release(1)).isEqualTo(NOTHING);
        assertReaders(b.owner(1));
        lapse(b);
        assertThat(writer.own(1).ttlMillis()).isBetween(LEASE - 10_000, LEASE);
        assertOwner(writer, 1);
        assertThat(letters(writer)).as("who learns it from the reply").isEmpty();
        assertThat(ttls()).doesNotContainKey(keys.readers());
        assertThat(b.release(1)).isEqualTo(NOTHING);
        assertOwner(writer, 1);
    }

    /** Not as long as the keys: they were to last for another one's lease. */
    @Test
    void leaseEndsInTimeThoughTheKeysLiveOn() {
        a.read(1);
        assertThat(b.request(1).reading().lease(50).send().ttlMillis()).isBetween(1L, 1_000L);
        writer.queue(1);
        a.release(1);
        await().atMost(PATIENCE).until(() -> writer.request(1).send().status(), status -> status == Status.GRANTED);
        assertThat(b.renew(1)).isEqualTo(REFUSED);
    }

    @Test
    void releaseByTheLastThatLivesLetsTheWriterIn() throws InterruptedException {
        share(a, b);
        writer.queue(1);
        lapse(a);
        b.release(1);
        assertOwner(writer, 1);
        assertGranted(writer, 1);
    }

    @Test
    void renewalProlongsThatReaderOnly() {
        share(a, b);
        shorten(a, 9_000);
        shorten(b, 9_000);
        assertThat(a.renew(1)).isEqualTo(new Renewed(true, LEASE, 0, 0));
        assertAlmostLease(leaseOf(a));
        assertThat(leaseOf(b)).isLessThanOrEqualTo(9_000);
        assertReaders(a.owner(1), b.owner(1));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void renewalBringsNobodyBack(boolean othersRead) {
        a.read(1);
        if (othersRead) {
            b.read(1);
        }
        lapse(a);
        assertThat(a.renew(1)).isEqualTo(REFUSED);
        assertThat(number("ZSCORE", keys.readers(), a.id)).isEqualTo(1);
        b.read(1);
        assertThat(a.renew(1)).as("after it was forgotten").isEqualTo(REFUSED);
        assertReaders(b.owner(1));
        b.release(1);
        assertThat(a.renew(1)).isEqualTo(REFUSED);
        assertThat(owners()).isEmpty();
    }

    @Test
    void renewalOfAnotherSequenceDoesNothing() {
        a.read(2);
        shorten(a, 9_000);
        assertThat(a.renew(1)).isEqualTo(REFUSED);
        assertThat(a.renew(3)).isEqualTo(REFUSED);
        assertThat(b.renew(2)).isEqualTo(REFUSED);
        assertThat(leaseOf(a)).isLessThanOrEqualTo(9_000);
        assertReaders(a.owner(2));
    }

    @Test
    void keysLiveAsLongAsTheLongestLease() {
        a.request(1).reading().lease(60_000).send();
        b.request(1).reading().lease(200_000).send();
        c.request(1).reading().lease(10_000).send();
        for (String key : new String[] {keys.lock(), keys.readers()}) {
            assertThat(ttl(key)).isBetween(190_000L, 200_000L);
        }
        assertThat(leaseOf(a)).isBetween(50_000L, 60_000L);
        assertThat(leaseOf(b)).isBetween(190_000L, 200_000L);
        assertThat(leaseOf(c)).isBetween(1L, 10_000L);
        redis("PEXPIRE", keys.lock(), "20000");
        redis("PEXPIRE", keys.readers(), "20000");
        c.renew(1);
        for (String key : new String[] {keys.lock(), keys.readers()}) {
            assertThat(ttl(key)).isBetween(20_001L, LEASE);
        }
    }
}
