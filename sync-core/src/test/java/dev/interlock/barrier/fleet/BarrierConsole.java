package dev.interlock.barrier.fleet;

import static java.util.Objects.requireNonNull;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A child with a session and one barrier, whose threads do what they are told.
 *
 * <p>A command is {@code <thread> <verb> [<number>]}; the answer {@code <thread> MET <index or exception> <nanos>}. The
 * verbs are {@code await}, {@code within} some ms, {@code interrupt}, {@code reset}, and {@code linger}: the action of
 * the next generation takes so many ms, or fails if that is negative. {@code end} closes the session.
 */
final class BarrierConsole {
    private static volatile long lingerMillis;

    private BarrierConsole() {}

    /** Takes the server, the name, the parties, and the lease in ms. */
    public static void main(String[] args) throws InterruptedException {
        Map<String, Thread> threads = new HashMap<>();
        try (Interlock interlock = Interlock.builder()
                .uri(args[0])
                .lease(Duration.ofMillis(Long.parseLong(args[3])))
                .open()) {
            DistributedCyclicBarrier barrier =
                    interlock.cyclicBarrier(args[1], Integer.parseInt(args[2]), BarrierConsole::act);
            ChildConsole.say("READY");
            while (true) {
                String[] command = ChildConsole.readCommand().split(" ", -1);
                long number = command.length > 2 ? Long.parseLong(command[2]) : 0;
                switch (command[1]) {
                    case "await", "within" -> {
                        var thread = new Thread(() -> meet(barrier, command[0], number), command[0]);
                        thread.setDaemon(true);
                        threads.put(command[0], thread);
                        thread.start();
                    }
                    case "interrupt" -> requireNonNull(threads.get(command[0])).interrupt();
                    case "linger" -> lingerMillis = number;
                    case "reset" -> barrier.reset();
                    case "end" -> {
                        return;
                    }
                    default -> throw new IllegalArgumentException(command[1]);
                }
                ChildConsole.say(command[0] + " OK " + command[1]);
            }
        }
    }

    private static void act() {
        long millis = lingerMillis;
        lingerMillis = 0;
        ChildConsole.say("ACTS");
        if (millis < 0) {
            throw new IllegalStateException("so told");
        }
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - until < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static void meet(DistributedCyclicBarrier barrier, String thread, long millis) {
        String met;
        try {
            met = Integer.toString(millis > 0 ? barrier.await(millis, TimeUnit.MILLISECONDS) : barrier.await());
        } catch (Exception e) {
            met = e.getClass().getSimpleName();
        }
        ChildConsole.say(thread + " MET " + met + " " + Monotonic.nanos());
    }
}
