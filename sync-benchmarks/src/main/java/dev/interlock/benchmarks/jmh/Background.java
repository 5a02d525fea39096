package dev.interlock.benchmarks.jmh;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.base.Throwables;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.jmh.Arena.Section;
import dev.interlock.benchmarks.jmh.Arena.Tally;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Fleet;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * The other JVMs of a trial. Each runs the method that is measured, on the same name with the same parameters and as
 * many threads, from before the first iteration until after the last one.
 */
final class Background implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Fleet fleet;

    private Background(Fleet fleet) {
        this.fleet = fleet;
    }

    /** Starts them, and returns when all are at work. */
    static Background start(BenchmarkParams params, Arena arena, Path ledger) {
        List<String> arguments = new ArrayList<>(List.of(
                params.getBenchmark(),
                String.valueOf(arena.threads()),
                arena.name(),
                arena.addresses().line(),
                ledger.toString()));
        params.getParamsKeys().forEach(key -> arguments.add(key + "=" + params.getParam(key)));
        var background =
                new Background(Fleet.start(arena.jvms - 1, Background.class, arguments.toArray(String[]::new)));
        background.replies("working");
        return background;
    }

    /**
     * Ends their work, and returns what they have done.
     *
     * @throws IllegalStateException if one of them stood still
     */
    Tally end() {
        fleet.send("end");
        Tally all = new Tally(0, 0);
        for (String line : replies("done")) {
            var numbers = new Scanner(line.substring("done".length()));
            checkState(numbers.nextLong() > 0, "a JVM in the background stood still");
            all = all.plus(new Tally(numbers.nextLong(), numbers.nextLong()));
        }
        return all;
    }

    private List<String> replies(String word) {
        try {
            return fleet.awaitAll(word, PATIENCE);
        } catch (AssertionError e) {
            throw new IllegalStateException("a JVM in the background failed", e);
        }
    }

    @Override
    public void close() {
        fleet.close();
    }

    /** One of them: its benchmark, threads, name, addresses and ledger, and the parameters. */
    public static void main(String[] args) throws Exception {
        int dot = args[0].lastIndexOf('.');
        Class<?> type = Class.forName(args[0].substring(0, dot));
        List<String> params = Arrays.asList(args).subList(5, args.length);
        var arena = new Arena();
        Object benchmark = type.getDeclaredConstructor().newInstance();
        for (String param : params) {
            set(param, arena, benchmark);
        }
        arena.enter(args[2], Integer.parseInt(args[1]), Addresses.parse(args[3]), Ledger.page(Path.of(args[4])));
        type.getMethod("open", Arena.class).invoke(benchmark, arena);
        work(arena, benchmark, threads(type, args[0].substring(dot + 1), arena.threads()));
    }

    private static void set(String param, Object... states) throws ReflectiveOperationException {
        int equals = param.indexOf('=');
        String value = param.substring(equals + 1);
        for (Object state : states) {
            for (Field field : state.getClass().getFields()) {
                if (field.isAnnotationPresent(Param.class) && field.getName().equals(param.substring(0, equals))) {
                    if (field.getType() == int.class) {
                        field.setInt(state, Integer.parseInt(value));
                    } else if (field.getType() == double.class) {
                        field.setDouble(state, Double.parseDouble(value));
                    } else {
                        field.set(state, value);
                    }
                }
            }
        }
    }

    /** The method of each thread: those of a group, or one for all. */
    private static List<Method> threads(Class<?> type, String name, int count) {
        List<Method> each = new ArrayList<>();
        for (Method method : type.getMethods()) {
            Group group = method.getAnnotation(Group.class);
            if (group != null && group.value().equals(name)) {
                for (int i = 0; i < method.getAnnotation(GroupThreads.class).value(); i++) {
                    each.add(method);
                }
            } else if (group == null && method.getName().equals(name)) {
                for (int i = 0; i < count; i++) {
                    each.add(method);
                }
            }
        }
        return each;
    }

    private static void work(Arena arena, Object benchmark, List<Method> methods) throws Exception {
        var operations = new LongAdder();
        var hand = new Hand();
        ExecutorService pool = Executors.newCachedThreadPool();
        List<Future<?>> workers = new ArrayList<>();
        for (Method method : methods) {
            Section section = new Section();
            section.open(arena);
            workers.add(pool.submit(() -> {
                while (!hand.isUp) {
                    invoke(method, benchmark, section);
                    operations.increment();
                }
            }));
        }
        ChildConsole.say("working");
        ChildConsole.readCommand();
        hand.isUp = true;
        for (Future<?> worker : workers) {
            worker.get();
        }
        pool.shutdown();
        arena.leave();
        Tally tally = arena.tally();
        ChildConsole.say("done " + operations.sum() + " " + tally.booked() + " " + tally.torn());
    }

    private static void invoke(Method method, Object benchmark, Section section) {
        try {
            method.invoke(benchmark, method.getParameterCount() == 0 ? new Object[0] : new Object[] {section});
        } catch (ReflectiveOperationException e) {
            Throwables.throwIfUnchecked(Throwables.getRootCause(e));
            throw new IllegalStateException(e);
        }
    }

    /** Raised when all shall stop. */
    private static final class Hand {
        private volatile boolean isUp;
    }
}
