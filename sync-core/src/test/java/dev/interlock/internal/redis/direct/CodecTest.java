package dev.interlock.internal.redis.direct;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.redis.Failures;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;
import org.redisson.client.RedisLoadingException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisReadonlyException;

/** Commands are written, and replies read, as Redis' protocol says, however the network cuts them. */
class CodecTest {
    private static final int REPLIES = 200;

    /** Hands out a few bytes at a time. */
    private static final class Drops extends InputStream {
        private final byte[] bytes;
        private final Random random;
        private final int most;
        private int next;

        Drops(byte[] bytes, Random random) {
            this.bytes = bytes;
            this.random = random;
            this.most = 1 + random.nextInt(20_000);
        }

        @Override
        public int read() {
            return next == bytes.length ? -1 : bytes[next++] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            if (next == bytes.length) {
                return -1;
            }
            int count = Math.min(Math.min(length, 1 + random.nextInt(most)), bytes.length - next);
            System.arraycopy(bytes, next, into, offset, count);
            next += count;
            return count;
        }
    }

    private static String text(Random random) {
        int length = random.nextInt(20) == 0 ? random.nextInt(60_000) : random.nextInt(40);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(
                    switch (random.nextInt(6)) {
                        case 0 -> 'é';
                        case 1 -> 0x1F512;
                        case 2 -> random.nextInt(32);
                        default -> ' ' + random.nextInt(95);
                    });
        }
        return text.toString();
    }

    private static @Nullable Object reply(Random random, int depth) {
        return switch (random.nextInt(depth > 4 ? 5 : 7)) {
            case 0 -> null;
            case 1 -> random.nextLong();
            case 2 -> new RedisException("ERR " + random.nextInt());
            case 3, 4 -> text(random);
            default -> {
                List<@Nullable Object> list = new ArrayList<>();
                int size = random.nextInt(6);
                for (int i = 0; i < size; i++) {
                    list.add(reply(random, depth + 1));
                }
                yield list;
            }
        };
    }

    private static void encode(@Nullable Object reply, Random random, ByteArrayOutputStream out) {
        if (reply == null) {
            out.writeBytes((random.nextBoolean() ? "$-1\r\n" : "*-1\r\n").getBytes(UTF_8));
        } else if (reply instanceof Long number) {
            out.writeBytes((":" + number + "\r\n").getBytes(UTF_8));
        } else if (reply instanceof RedisException error) {
            out.writeBytes(("-" + error.getMessage() + "\r\n").getBytes(UTF_8));
        } else if (reply instanceof List<?> list) {
            out.writeBytes(("*" + list.size() + "\r\n").getBytes(UTF_8));
            list.forEach(each -> encode(each, random, out));
        } else {
            byte[] bytes = reply.toString().getBytes(UTF_8);
            out.writeBytes(("$" + bytes.length + "\r\n").getBytes(UTF_8));
            out.writeBytes(bytes);
            out.writeBytes("\r\n".getBytes(UTF_8));
        }
    }

    private static @Nullable Object comparable(@Nullable Object reply) {
        if (reply instanceof RedisException error) {
            return "error: " + error.getMessage();
        }
        return reply instanceof List<?> list
                ? list.stream().map(each -> String.valueOf(comparable(each))).toList()
                : reply;
    }

    @RepeatedTest(50)
    void repliesAreReadHoweverTheyAreCut(RepetitionInfo repetition) throws IOException {
        Random random = new Random(repetition.getCurrentRepetition());
        List<@Nullable Object> sent = new ArrayList<>();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < REPLIES; i++) {
            sent.add(reply(random, 0));
            encode(sent.get(i), random, bytes);
        }
        ReplyReader reader = new ReplyReader(new Drops(bytes.toByteArray(), random));
        for (Object each : sent) {
            assertThat(comparable(reader.read())).isEqualTo(comparable(each));
            assertThat(reader.isBetweenReplies()).isTrue();
        }
        assertThatThrownBy(reader::read).isInstanceOf(EOFException.class);
    }

    /** Whatever comes instead of a reply, it is told as an error of the connection, and costs no memory. */
    @RepeatedTest(50)
    void spoiledBytesAreAnErrorOfTheConnection(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < REPLIES; i++) {
            encode(reply(random, 0), random, bytes);
        }
        byte[] spoiled = bytes.toByteArray();
        for (int i = 0; i < 20; i++) {
            spoiled[random.nextInt(spoiled.length)] = (byte) "*$:-+0123456789\r\n".charAt(random.nextInt(17));
        }
        ReplyReader reader = new ReplyReader(new Drops(spoiled, random));
        assertThatThrownBy(() -> {
                    while (true) {
                        reader.read();
                    }
                })
                .isInstanceOfAny(EOFException.class, ProtocolException.class);
    }

    private static @Nullable Object read(String bytes) throws IOException {
        return new ReplyReader(new ByteArrayInputStream(bytes.getBytes(UTF_8))).read();
    }

    @Test
    void lengthsThatAreNoneAreRefused() {
        for (String bytes : List.of(
                "$-2\r\n",
                "$536870913\r\n",
                "*-2\r\n",
                "*2147483648\r\n",
                ":12x\r\n",
                ":9223372036854775808\r\n",
                "?\r\n",
                "$3\r\nabcd\r\n",
                "*1\r\n".repeat(40))) {
            assertThatThrownBy(() -> read(bytes)).as(bytes).isInstanceOf(ProtocolException.class);
        }
    }

    /** A reply that stops in its middle can't be taken for the beginning of the next one. */
    @Test
    void aReplyThatHasBegunIsNotBetweenReplies() {
        for (String bytes : List.of("*2\r\n", "$5\r\nab", ":1")) {
            ReplyReader reader = new ReplyReader(new ByteArrayInputStream(bytes.getBytes(UTF_8)));
            assertThatThrownBy(reader::read).isInstanceOf(EOFException.class);
            assertThat(reader.isBetweenReplies()).as(bytes).isFalse();
        }
    }

    @Test
    void errorsAreThoseOfRedisson() throws IOException {
        assertThat(read("-NOSCRIPT No matching script.\r\n")).isInstanceOf(RedisNoScriptException.class);
        assertThat(read("-LOADING Redis is loading\r\n")).isInstanceOf(RedisLoadingException.class);
        assertThat(read("-READONLY You can't\r\n")).isInstanceOf(RedisReadonlyException.class);
        assertThat(read("-WRONGTYPE Operation against a key\r\n"))
                .isInstanceOfSatisfying(RedisException.class, refusal -> {
                    assertThat(Failures.isTransient(refusal)).isFalse();
                    assertThat(Failures.isRefused(refusal)).isTrue();
                });
        assertThat(RedisErrors.isOfReplica(RedisErrors.of("READONLY You can't")))
                .isTrue();
        assertThat(RedisErrors.isOfReplica(RedisErrors.of("ERR Error running script: -READONLY You can't")))
                .isTrue();
        assertThat(RedisErrors.isOfReplica(RedisErrors.of("ERR other"))).isFalse();
    }

    @RepeatedTest(20)
    void commandsAreArraysOfStrings(RepetitionInfo repetition) throws IOException {
        Random random = new Random(repetition.getCurrentRepetition());
        CommandBuffer buffer = new CommandBuffer();
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        List<List<String>> commands = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            List<String> command = new ArrayList<>();
            int parts = 1 + random.nextInt(20);
            buffer.command(parts);
            for (int part = 0; part < parts; part++) {
                Object each = random.nextInt(4) == 0 ? (Object) random.nextLong() : text(random);
                buffer.part(each);
                command.add(each.toString());
            }
            commands.add(command);
            if (random.nextInt(4) == 0) {
                int size = buffer.size();
                int before = written.size();
                buffer.writeTo(written);
                assertThat(written.size() - before).isEqualTo(size);
                assertThat(buffer.size()).isZero();
            }
        }
        buffer.writeTo(written);
        // A command has the form of a reply.
        ReplyReader reader = new ReplyReader(new ByteArrayInputStream(written.toByteArray()));
        for (List<String> command : commands) {
            assertThat(reader.read()).isEqualTo(command);
        }
    }
}
