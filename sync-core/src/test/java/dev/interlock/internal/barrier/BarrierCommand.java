package dev.interlock.internal.barrier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.barrier.BarrierReply.Outcome;
import dev.interlock.internal.barrier.BarrierReply.Status;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** Runs the script of one barrier, for sessions that say what a test wants them to say. */
final class BarrierCommand {
    static final long LEASE = 30_000;

    private static final List<String> KINDS = List.of("barrier", "barrier-members", "mark:barrier", "mark:barrier-end");

    private static final String SCRIPT = Script.load("barrier/meet").text();

    private final RedisServer server;
    private final String prefix;
    private long sequence;
    private long first;

    BarrierCommand(RedisServer server, String name) {
        this.server = server;
        this.prefix = "interlock:{" + name + "}:";
    }

    String pattern() {
        return prefix + "*";
    }

    Caller caller(String id, int parties) {
        return new Caller("interlock-" + id, parties);
    }

    /** A caller that has joined the barrier. */
    Caller joined(String id, int parties) {
        Caller caller = caller(id, parties);
        caller.join();
        return caller;
    }

    /** The generation with which the barrier began. */
    long firstGeneration() {
        return first;
    }

    void forget() {
        KINDS.forEach(kind -> server.command("DEL", prefix + kind));
    }

    /** Keeps a copy of the data. */
    void saveCopy() {
        copy("", "copy:");
    }

    /** Goes back to that copy. */
    void goBack() {
        copy("copy:", "");
    }

    private void copy(String from, String to) {
        for (String kind : KINDS) {
            server.command("DEL", to + prefix + kind);
            server.command("COPY", from + prefix + kind, to + prefix + kind);
        }
    }

    /** Redis evicts one of the two keys about sessions that have left; the other one lives on for an hour. */
    void evictEnds() {
        server.command("PEXPIRE", prefix + "mark:barrier", "3600000");
        server.command("DEL", prefix + "mark:barrier-end");
    }

    /** A member's lease is over. */
    void lapse(Caller caller) {
        server.command("ZADD", prefix + "barrier-members", "1", caller.id);
    }

    long gone() {
        return Long.parseLong(String.valueOf(server.command("HLEN", prefix + "mark:barrier")));
    }

    void expireGone() {
        Object all = server.command("ZRANGE", prefix + "mark:barrier-end", "0", "-1");
        for (Object member : requireNonNull((List<?>) all)) {
            server.command("ZADD", prefix + "mark:barrier-end", "1", String.valueOf(member));
        }
    }

    void assertAllExpire() {
        assertThat(server.keys(pattern()))
                .isNotEmpty()
                .hasSizeLessThanOrEqualTo(4)
                .allSatisfy(
                        key -> assertThat((Long) server.command("PTTL", key)).isPositive());
    }

    /** A session as Redis sees it. */
    final class Caller {
        private final String id;
        private final int parties;
        private final List<List<String>> said = new ArrayList<>();
        private long generation;
        private int arrivals;
        private String acts = "0";
        private long resets;

        Caller(String id, int parties) {
            this.id = id;
            this.parties = parties;
        }

        Caller acting() {
            acts = "1";
            return this;
        }

        BarrierReply join() {
            BarrierReply standing = say("join", "none");
            if (standing.status() == Status.MEMBER) {
                catchUp(standing);
                first = first == 0 ? standing.generation() : first;
            }
            return standing;
        }

        BarrierReply rejoin() {
            BarrierReply standing = say("rejoin", "none");
            catchUp(standing);
            return standing;
        }

        BarrierReply leave() {
            return say("leave", "none");
        }

        /** So many threads have come in all. */
        BarrierReply arrive(int count) {
            arrivals = count;
            return ask();
        }

        BarrierReply arriveOneMore() {
            return arrive(arrivals + 1);
        }

        BarrierReply ask() {
            return say("stay", "none");
        }

        BarrierReply wish(String wish) {
            return say("stay", wish);
        }

        BarrierReply reset() {
            resets = sequence + 1;
            return ask();
        }

        /** Goes on to the current generation. */
        void catchUp() {
            catchUp(ask());
        }

        private void catchUp(BarrierReply standing) {
            if (standing.generation() != generation) {
                generation = standing.generation();
                arrivals = 0;
            } else if (standing.outcome() != Outcome.NONE && standing.counted() == generation) {
                arrivals = 0;
            }
        }

        /** The last command once more. */
        BarrierReply repeat() {
            return late(1);
        }

        /** An earlier command once more, counted from the last. */
        BarrierReply late(int ago) {
            return send(said.get(Math.max(0, said.size() - ago)));
        }

        private BarrierReply say(String membership, String wish) {
            List<String> arguments = List.of(
                    id,
                    Long.toString(++sequence),
                    Long.toString(LEASE),
                    Integer.toString(parties),
                    membership,
                    Long.toString(generation),
                    Integer.toString(arrivals),
                    acts,
                    wish,
                    Long.toString(resets),
                    "0");
            said.add(arguments);
            return send(arguments);
        }

        private BarrierReply send(List<String> arguments) {
            List<String> words = new ArrayList<>(List.of("EVAL", SCRIPT, "4"));
            KINDS.forEach(kind -> words.add(prefix + kind));
            words.addAll(arguments);
            List<Object> reply =
                    new ArrayList<>(requireNonNull((List<?>) server.command(words.toArray(String[]::new))));
            while (reply.size() < 8) {
                reply.add(0L);
            }
            return BarrierReply.of(reply);
        }
    }
}
