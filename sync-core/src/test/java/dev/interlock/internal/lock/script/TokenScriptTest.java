package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.Contender.TENURE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The remote part of the fencing token grows with every tenure, whatever becomes of the keys. */
class TokenScriptTest extends LockScriptTest {

    @Test
    void everyTenureDrawsAGreaterToken() {
        long last = a.own(1).token();
        last = greater(last, a.own(2));
        a.release(2);
        last = greater(last, b.own(1));
        a.queue(3);
        b.release(1);
        last = greater(last, a.own(3));
        last = greater(last, a.request(4).continuing(3).send());
        b.queue(2);
        expire();
        last = greater(last, b.own(2));
        b.release(2);
        last = greater(last, a.request(5).once().send());
        a.request(6).once().send();
        greater(last, a.request(6).once().send());
    }

    /** Tokens start at Redis' time, so that they go on from where they were if the counter has expired. */
    @Test
    void tokensGrowAcrossTheExpiryOfTheirKey() {
        long last = a.own(1).token();
        for (int i = 1; i < 50; i++) {
            b.queue(i);
            a.release(i);
            last = greater(last, b.own(i));
            a.queue(i + 1);
            assertThat(number("DEL", keys.token())).isEqualTo(1);
            b.release(i);
            last = greater(last, a.own(i + 1));
        }
    }

    @Test
    void tokensGrowAcrossTheLossOfAllData() {
        long last = a.own(1).token();
        redis("FLUSHALL");
        last = greater(last, b.own(1));
        redis("FLUSHALL");
        last = greater(last, a.own(2));
        redis("FLUSHALL");
        greater(last, b.request(1).once().send());
    }

    /** Redis has gone back to an older copy of its data, which has given out none of the last tokens. */
    @Test
    void tokensGrowAcrossAnOlderCopyOfTheData() {
        long last = a.own(1).token();
        String older = Long.toString(last - 1_000_000);
        Runnable goBack = () -> redis("SET", keys.token(), older, "PX", "60000");
        for (int i = 2; i < 20; i += 2) {
            goBack.run();
            last = greater(last, a.own(i));
            b.queue(i);
            goBack.run();
            a.release(i);
            last = greater(last, b.own(i));
            c.queue(i);
            goBack.run();
            expire();
            last = greater(last, c.own(i));
            c.release(i);
            goBack.run();
            long taken = a.take(i + 1);
            assertThat(taken).isGreaterThan(last);
            a.release(i + 1);
            last = taken;
        }
    }

    /** A token is the time in units of 8 µs, unless that is less than the one before and one. */
    @Test
    void tokensFollowTheClock() {
        for (int i = 1; i < 20; i++) {
            long before = micros();
            long token = i % 2 == 0 ? a.take(i) : a.own(i).token();
            assertThat(token * 8).isBetween(before - 7, micros());
            a.release(i);
        }
    }

    private static long micros() {
        List<String> time = list("TIME");
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    /** Where Redis' clock has stepped back, the floor that a session brings still holds. */
    @Test
    void noTokenIsBelowTheFloor() {
        long floor = a.own(1).token() + 1_000_000_000_000L;
        a.release(1);
        long last = a.request(2).above(floor).send().token();
        assertThat(last).isGreaterThanOrEqualTo(floor);
        b.queue(1);
        redis("DEL", keys.token());
        a.release(2, Contender.LEASE, last + 1);
        last = greater(last, b.own(1));
        last = greater(last, b.request(2).above(last + 1).continuing(1).send());
        redis("FLUSHALL");
        greater(last, b.request(3).above(last + 1).send());
    }

    /** A session has no room for such a token: tokens go on from the clock. */
    @Test
    void valueThatIsTooGreatIsNoToken() {
        long last = a.own(1).token();
        last = greater(last, a.request(2).above(1L << 49).send());
        assertThat(last).isLessThan(1L << 48);
        redis("SET", keys.token(), Long.toString((1L << 49) - 1), "PX", "60000");
        b.queue(1);
        a.release(2, Contender.LEASE, 1L << 50);
        last = greater(last, b.own(1));
        assertThat(last).isLessThan(1L << 48);
    }

    /** Asking again about a grant after the counter has expired yields no token below that of an earlier tenure. */
    @Test
    void repeatAfterTheExpiryOfTheKeyDoesNotFallBack() {
        long last = a.own(1).token();
        b.queue(1);
        a.release(1);
        redis("DEL", keys.token());
        assertThat(b.own(1).token()).isGreaterThan(last);
    }

    /** An hour after the last grant. */
    @Test
    void tokenKeyExpires() {
        a.own(1);
        assertThat(ttl(keys.token())).isBetween(3_000_000L, 3_600_000L);
        redis("PEXPIRE", keys.token(), "9000");
        assertThat(a.own(1).token()).as("a repeat").isPositive();
        assertThat(ttl(keys.token())).isBetween(1L, 9_000L);
        a.own(2);
        assertThat(ttl(keys.token())).isBetween(3_000_000L, 3_600_000L);
        redis("PEXPIRE", keys.token(), "9000");
        assertThat(a.release(2)).isEqualTo(TENURE);
        assertThat(ttl(keys.token())).isBetween(1L, 9_000L);
    }

    /** Large numbers are written out, in replies, keys and letters alike. */
    @Test
    void largeTokensAreExact() throws InterruptedException {
        long large = (1L << 49) - 5;
        assertThat(a.request(1).above(large).send().token()).isEqualTo(large);
        assertThat(redis("GET", keys.token())).isEqualTo(Long.toString(large));
        assertThat(a.own(1).token()).isEqualTo(large);
        b.queue(1);
        a.release(1);
        assertThat(letters(b)).singleElement().asString().startsWith("g 1 " + (large + 1) + " ");
        assertThat(b.own(1).token()).isEqualTo(large + 1);
        assertThat(redis("GET", keys.token())).isEqualTo(Long.toString(large + 1));
    }

    private static long greater(long last, Answer answer) {
        assertThat(answer.token()).isGreaterThan(last);
        return answer.token();
    }
}
