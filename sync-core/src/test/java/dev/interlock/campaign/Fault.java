package dev.interlock.campaign;

import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import dev.interlock.testing.RespError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

/** What goes wrong. Each is over when {@link #happen} returns. */
@SuppressWarnings("ImmutableEnumChecker") // its courses keep nothing
enum Fault {
    JVM_KILLED(Where.JVM, (camp, random) -> camp.replace(camp.anyone(random))),
    JVM_STOPPED(Where.JVM, stopping(50, CampaignWork.LEASE.toMillis() / 2)),
    JVM_STOPPED_BEYOND_ITS_LEASE(
            Where.JVM, stopping(CampaignWork.LEASE.toMillis() + 500, 2 * CampaignWork.LEASE.toMillis())),
    REDIS_RESTARTED(Where.SERVER, (camp, random) -> {
        camp.server().kill();
        pause(millis(random, 0, 1_500));
        camp.server().restart();
    }),
    REDIS_RESTARTED_EMPTY(Where.SERVER, (camp, random) -> {
        camp.server().kill();
        delete(camp.server().folder().resolve("appendonlydir"));
        pause(millis(random, 0, 500));
        camp.server().restart();
    }),
    CONNECTIONS_CUT(Where.NETWORK, (camp, random) -> camp.proxy(random).cut()),
    PARTITION(Where.NETWORK, disturbing(100, 3_000, (proxy, random) -> {
        proxy.refuse(true);
        proxy.cut();
    })),
    REQUESTS_LOST(
            Where.NETWORK,
            disturbing(100, 2_000, (proxy, random) -> proxy.dropRequests(words -> true, FaultProxy.ALWAYS, Loss.MUTE))),
    REPLIES_LOST(
            Where.NETWORK,
            disturbing(100, 2_000, (proxy, random) -> proxy.dropReplies(words -> true, FaultProxy.ALWAYS, Loss.MUTE))),
    SOME_REPLIES_LOST(
            Where.NETWORK,
            disturbing(
                    200,
                    1_000,
                    (proxy, random) -> proxy.dropReplies(
                            Fault::isScript, 1 + random.nextInt(5), random.nextBoolean() ? Loss.CUT : Loss.MUTE))),
    REPLIES_DELAYED(
            Where.NETWORK,
            disturbing(
                    200,
                    1_000,
                    (proxy, random) ->
                            proxy.delayReplies(Fault::isScript, millis(random, 10, 1_500), 1 + random.nextInt(10)))),
    REQUESTS_DELAYED(
            Where.NETWORK,
            disturbing(
                    200,
                    1_000,
                    (proxy, random) ->
                            proxy.delayRequests(Fault::isScript, millis(random, 10, 1_500), 1 + random.nextInt(10)))),
    REQUESTS_DUPLICATED(
            Where.NETWORK,
            disturbing(
                    500,
                    1_000,
                    (proxy, random) -> proxy.duplicateRequests(
                            Fault::isScript, millis(random, 0, 1_500), 50 + random.nextInt(200)))),
    MESSAGES_LOST(
            Where.NETWORK,
            disturbing(200, 1_000, (proxy, random) -> proxy.dropMessages(words -> true, 1 + random.nextInt(50)))),
    MESSAGES_DELAYED(
            Where.NETWORK,
            disturbing(
                    200,
                    1_000,
                    (proxy, random) ->
                            proxy.delayMessages(words -> true, millis(random, 10, 1_500), 1 + random.nextInt(20)))),
    SCRIPTS_FLUSHED(Where.SERVER, (camp, random) -> camp.server().command("SCRIPT", "FLUSH")),
    REDIS_BUSY(Where.SERVER, (camp, random) -> {
        CompletableFuture<Void> busy = camp.aside(() -> spin(camp));
        pause(millis(random, 200, 1_500));
        while (!busy.isDone()) {
            stopScript(camp);
            pause(Duration.ofMillis(50));
        }
        busy.join();
    }),
    /** What a clock that jumps ahead does to leases. */
    LEASES_CUT_SHORT(Where.SERVER, (camp, random) -> shift(camp, -random.nextInt(5_000))),
    /** What a clock that is set back does to leases. */
    LEASES_DRAWN_OUT(Where.SERVER, (camp, random) -> shift(camp, random.nextInt(5_000))),
    CLIENTS_PAUSED(Where.SERVER, (camp, random) -> {
        long millis = millis(random, 100, 1_500).toMillis();
        camp.server().command("CLIENT", "PAUSE", "" + millis, random.nextBoolean() ? "ALL" : "WRITE");
        pause(Duration.ofMillis(millis));
    });

    /** What it does to the fleet, until it is over. */
    private interface Course {
        void run(Camp camp, Random random);
    }

    /** What a fault is a fault of. */
    enum Where {
        JVM,
        NETWORK,
        SERVER
    }

    private static final String SHIFT = "for _, key in ipairs(redis.call('keys', '*')) do "
            + "local left = redis.call('pttl', key) "
            + "if left > 0 then redis.call('pexpire', key, math.max(1, left + ARGV[1])) end end";

    final Where where;
    private final Course course;

    Fault(Where where, Course course) {
        this.where = where;
        this.course = course;
    }

    static List<Fault> of(Where where) {
        return Arrays.stream(values()).filter(fault -> fault.where == where).toList();
    }

    /** Whether Redis forgets by it what it has promised. */
    boolean isLoss() {
        return this == REDIS_RESTARTED_EMPTY || this == LEASES_CUT_SHORT;
    }

    /** Begins and ends. */
    void happen(Camp camp, Random random) {
        course.run(camp, random);
    }

    private static Course disturbing(long least, long most, BiConsumer<FaultProxy, Random> fault) {
        return (camp, random) -> {
            FaultProxy proxy = camp.proxy(random);
            fault.accept(proxy, random);
            pause(millis(random, least, most));
            proxy.heal();
        };
    }

    private static Course stopping(long least, long most) {
        return (camp, random) -> {
            Duration pause = millis(random, least, most);
            Camp.Tent tent = camp.anyone(random);
            tent.child().stop();
            pause(pause);
            tent.child().cont();
        };
    }

    private static void shift(Camp camp, int millis) {
        camp.server().command("EVAL", SHIFT, "0", "" + millis);
    }

    private static boolean isScript(List<String> words) {
        return words.get(0).startsWith("EVAL");
    }

    private static void spin(Camp camp) {
        try {
            camp.server().command("EVAL", "while true do end", "0");
        } catch (RespError e) {
            // So says what is killed.
        }
    }

    private static void stopScript(Camp camp) {
        try {
            camp.server().command("SCRIPT", "KILL");
        } catch (RespError e) {
            // It hasn't begun yet, or has just ended.
        }
    }

    private static Duration millis(Random random, long least, long most) {
        return Duration.ofMillis(random.nextLong(least, most + 1));
    }

    private static void pause(Duration duration) {
        Camp.pause(duration);
    }

    private static void delete(Path folder) {
        try (var all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
