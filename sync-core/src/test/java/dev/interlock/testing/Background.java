package dev.interlock.testing;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Calls that a test expects to block. */
final class Background {

    private static final Executor DAEMONS = task -> {
        var thread = new Thread(task, "background");
        thread.setDaemon(true);
        thread.start();
    };

    private Background() {}

    static <T> CompletableFuture<T> run(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, DAEMONS);
    }
}
