package dev.interlock.internal.latch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.RespError;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** What the script of a latch does with a command, a repeated one, a delayed one and a wrong one. */
class LatchScriptTest extends LatchScriptFixture {

    @Test
    void anotherCountIsRefusedAndChangesNothing() {
        Command user = joined(3);
        send(user.counting(1));
        List<?> before = everything();
        Answer refused = send(join(5));
        assertThat(refused.status()).isEqualTo(OTHER_COUNT);
        assertThat(refused.left()).isEqualTo(2);
        assertThat(refused.count()).isEqualTo(3);
        assertThat(everything()).isEqualTo(before);
        send(user.counting(3));
        assertThat(send(join(5)).status()).as("refused though open").isEqualTo(OTHER_COUNT);
    }

    private List<?> everything() {
        return List.of(
                server.keys(),
                String.valueOf(server.command("HGETALL", latch)),
                String.valueOf(server.command("HGETALL", totals())));
    }

    @Test
    void totalsAreAbsolute() {
        Command one = joined(10);
        Command two = joined(10);
        Command second = one.counting(2);
        Command third = one.counting(3);
        assertThat(send(third).left()).isEqualTo(7);
        assertThat(send(third).left()).isEqualTo(7);
        assertThat(send(second).left()).as("what came late").isEqualTo(7);
        assertThat(send(two.counting(4)).left()).isEqualTo(3);
        assertThat(send(two).left()).isEqualTo(3);
        assertThat(send(one.counting(5)).left()).isEqualTo(1);
        assertThat(server.command("HGET", latch, "left")).isEqualTo("1");
    }

    private void goBack(long left) {
        server.command("HSET", latch, "left", Long.toString(left));
        server.command("DEL", totals());
    }

    /** Redis has gone back to an older copy of its data: some say again what is missing, but not all. */
    @Test
    void aLatchWhoseCountDownsAreMissingIsLost() {
        Command one = joined(5).counting(1);
        Command two = joined(5).counting(1);
        Command three = joined(5);
        send(one);
        assertThat(send(two).left()).isEqualTo(3);
        goBack(5);
        assertThat(send(one.waiting(), 4).left()).isEqualTo(4);
        assertThat(send(three.waiting()).left()).as("nobody knows better").isEqualTo(4);
        Answer answer = send(three.waiting(), 3);
        assertThat(answer.status()).isEqualTo(GONE);
        assertThat(answer.born()).isEqualTo(three.born());
        assertThat(send(one.waiting()).status()).isEqualTo(GONE);
        assertThat(server.keys()).allMatch(key -> key.startsWith("interlock:mark:"));
    }

    @Test
    void aLatchThatWasOpenIsOpenInAnOlderCopyAsSoonAsOneSaysSo() {
        Command one = joined(1).counting(1);
        Command two = joined(1);
        Command three = joined(1);
        assertThat(send(one).status()).isEqualTo(OPEN);
        goBack(1);
        assertThat(send(two.waiting()).status()).isEqualTo(COUNTING);
        long before = published();
        assertThat(send(three.waiting(), 0).status()).isEqualTo(OPEN);
        assertThat(published() - before).as("one waits").isEqualTo(1);
        assertThat(send(two.waiting()).status()).isEqualTo(OPEN);
        assertThat(server.command("HGET", latch, "left")).isEqualTo("0");
    }

    @Test
    void openingTellsEachWaitingSessionOnce() {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient client = Redisson.create(config);
        try {
            ConcurrentLinkedQueue<String> heard = new ConcurrentLinkedQueue<>();
            client.getPatternTopic("interlock:mailbox:*", StringCodec.INSTANCE)
                    .addListener(String.class, (pattern, channel, text) -> heard.add(channel + " " + text));
            List<Command> waiters =
                    IntStream.range(0, 4).mapToObj(i -> joined(2).waiting()).toList();
            waiters.forEach(this::send);
            waiters.forEach(this::send);
            Command counter = joined(2);
            send(counter.counting(1));
            assertThat(published()).isZero();
            Command last = counter.counting(2);
            assertThat(send(last).status()).isEqualTo(OPEN);
            send(last);
            waiters.forEach(waiter -> assertThat(send(waiter).status()).isEqualTo(OPEN));
            assertThat(published()).isEqualTo(4);
            await("messages").until(() -> heard.size() >= 4);
            assertThat(heard)
                    .containsExactlyInAnyOrderElementsOf(waiters.stream()
                            .map(waiter ->
                                    "interlock:mailbox:" + waiter.session() + " o " + waiter.born() + " " + latch)
                            .toList());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void openStaysForItsRetention() {
        Command user = joined(join(session(), 1, 900_000));
        send(user.counting(1));
        assertThat(server.keys()).containsExactlyInAnyOrder(latch, mark(user.session()));
        assertThat(number("PTTL", latch)).isBetween(890_000L, 900_000L);
        number("PEXPIRE", latch, "500000");
        assertThat(send(join(session(), 1, DAY)).status()).isEqualTo(OPEN);
        send(user.waiting());
        assertThat(number("PTTL", latch)).as("not prolonged by its users").isBetween(400_000L, 500_000L);
    }

    @Test
    void zeroIsOpenFromTheBeginning() {
        Answer answer = send(join(0));
        assertThat(answer.status()).isEqualTo(OPEN);
        assertThat(send(join(0))).isEqualTo(answer);
        assertThat(number("PTTL", latch)).isBetween(DAY - 10_000, DAY);
    }

    @Test
    void everyKeyExpires() {
        Command user = joined(2);
        send(user.waiting());
        send(user.counting(1));
        assertThat(server.keys()).containsExactlyInAnyOrder(latch, totals(), waiters(), mark(user.session()));
        assertThat(number("PTTL", latch)).isBetween(604_700_000L, 604_800_000L);
        assertThat(number("PTTL", totals())).isBetween(604_700_000L, 604_800_000L);
        assertThat(number("PTTL", mark(user.session()))).isBetween(DELAY - 10_000, DELAY);
        assertThat(number("PTTL", waiters())).isBetween(1L, 6_000L);
        number("PEXPIRE", latch, "9000");
        number("PEXPIRE", totals(), "9000");
        send(user);
        assertThat(number("PTTL", latch)).as("prolonged by whoever asks").isGreaterThan(604_700_000L);
        assertThat(number("PTTL", totals())).isGreaterThan(604_700_000L);
    }

    @Test
    void sessionsThatNoLongerSayThatTheyWaitAreForgotten() {
        Command dead = joined(1);
        Command live = joined(1);
        send(dead.waiting());
        number("ZADD", waiters(), "XX", "1", dead.session());
        send(live.waiting());
        assertThat(server.command("ZRANGE", waiters(), "0", "-1")).isEqualTo(List.of(live.session()));
        send(live.counting(1));
        assertThat(published()).isEqualTo(1);
    }

    /** A join that is delayed on its way until the latch is gone must not bring it back. */
    @Test
    void aDelayedJoinMakesNoLatch() {
        Command delayed = join(2);
        Command repeated = delayed.of(0);
        Command user = delayed.of(send(repeated).born());
        send(user.counting(2));
        assertThat(send(delayed).status()).isEqualTo(OPEN);
        number("DEL", latch);
        assertThat(send(delayed).status()).isEqualTo(GONE);
        assertThat(send(repeated).status()).isEqualTo(GONE);
        assertThat(number("EXISTS", latch)).isZero();
        assertThat(send(join(user.session(), 5, DAY)).status()).isEqualTo(COUNTING);
    }

    /** With a short retention, those who were not told in time still learn that it was opened, and not lost. */
    @Test
    void openingIsRememberedLongerThanAShortRetention() {
        Command user = joined(join(session(), 1, 1_000));
        Command slow = joined(join(session(), 1, 1_000));
        send(user.counting(1));
        assertThat(number("PTTL", latch))
                .as("-2 when it is over")
                .isNotEqualTo(-1)
                .isLessThanOrEqualTo(1_000);
        assertThat(number("PTTL", opened(user.born()))).isBetween(DELAY - 10_000, DELAY);
        await("the end of the retention").until(() -> number("EXISTS", latch) == 0);
        assertThat(send(slow.waiting()).status()).isEqualTo(PAST);
        Command next = joined(7);
        assertThat(send(slow.counting(1)).status()).isEqualTo(PAST);
        assertThat(send(next).left()).isEqualTo(7);
        number("DEL", opened(user.born()));
        assertThat(send(slow).status()).isEqualTo(GONE);
    }

    @Test
    void anotherTypeIsRefusedBeforeAnythingIsWritten() {
        server.command("SET", latch, "something");
        assertThatThrownBy(() -> send(join(1))).isInstanceOf(RespError.class).hasMessageContaining("WRONGTYPE");
        assertThat(server.keys()).containsExactly(latch);
    }
}
