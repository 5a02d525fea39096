package dev.interlock.barrier.fleet;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;

/** A child whose threads go through many generations, and write down when they came and went. */
final class BarrierHammer {
    private BarrierHammer() {}

    /** Takes the server, the name, the parties, its own threads, the generations, and the file to write. */
    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        int threads = Integer.parseInt(args[3]);
        int generations = Integer.parseInt(args[4]);
        List<Visit> actions = Collections.synchronizedList(new ArrayList<>());
        Runnable action = () -> {
            long came = Monotonic.nanos();
            actions.add(new Visit(actions.size(), came, Monotonic.nanos(), Visit.ACTION));
        };
        try (Interlock interlock = Interlock.connect(args[0])) {
            DistributedCyclicBarrier barrier = interlock.cyclicBarrier(args[1], Integer.parseInt(args[2]), action);
            ChildConsole.say("READY");
            ChildConsole.readCommand();
            List<List<Visit>> logs = new ArrayList<>();
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                List<Visit> log = new ArrayList<>();
                logs.add(log);
                all.add(new Thread(() -> visit(barrier, generations, log)));
            }
            all.forEach(Thread::start);
            for (Thread thread : all) {
                thread.join();
            }
            ChildConsole.say("DONE");
            logs.add(actions);
            Files.write(
                    Path.of(args[5]),
                    logs.stream().flatMap(List::stream).map(Visit::line).toList());
            // Who is through first stays: its end isn't the end of the others.
            ChildConsole.readCommand();
        }
        ChildConsole.say("STOPPED");
    }

    private static void visit(DistributedCyclicBarrier barrier, int generations, List<Visit> log) {
        try {
            for (int i = 0; i < generations; i++) {
                long came = Monotonic.nanos();
                int index = barrier.await();
                log.add(new Visit(i, came, Monotonic.nanos(), index));
            }
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }
}
