package dev.interlock.testing.rig;

import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The child's end of {@link Peer}s: sessions with one synchronizer each, and threads that do with it what they are
 * told.
 *
 * <p>A command is {@code <session> <thread> <verb> <word>…}, an answer {@code <session> <thread> <what happened>}. The
 * first command of a session is {@code <session> open <subject> <url> <name> <lease ms> <word>…}, the last one
 * {@code <session> close}. What the listener of the session hears comes as {@link Session#sayLost} says.
 */
final class Console {

    private final Session session;
    private final Verbs verbs;
    private final Map<String, ExecutorService> threads = new HashMap<>();

    private Console(String label, List<String> words) throws ReflectiveOperationException {
        var subject = Class.forName(words.get(0)).asSubclass(Subject.class).getDeclaredConstructor();
        subject.setAccessible(true);
        var listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                requireNonNull(session).sayLost("session", loss);
            }
        };
        var interlock = RedisServer.connect(() -> Interlock.builder()
                .uri(words.get(1))
                .lease(Duration.ofMillis(Long.parseLong(words.get(3))))
                .listener(listener)
                .open());
        session = new Session(label, interlock, words.get(2), words.subList(4, words.size()));
        verbs = subject.newInstance().open(session);
    }

    public static void main(String[] args) throws InterruptedException, ReflectiveOperationException {
        ChildConsole.say("READY");
        Map<String, Console> consoles = new HashMap<>();
        while (true) {
            List<String> command = Arrays.asList(ChildConsole.readCommand().split(" ", -1));
            String label = command.get(0);
            switch (command.get(1)) {
                case "open" -> {
                    var opened = new Console(label, command.subList(2, command.size()));
                    consoles.put(label, opened);
                    opened.session.say("OPEN " + opened.session.interlock().id());
                }
                case "close" -> requireNonNull(consoles.remove(label)).close();
                default ->
                    requireNonNull(consoles.get(label))
                            .obey(command.get(1), command.get(2), command.subList(3, command.size()));
            }
        }
    }

    private void close() {
        session.interlock().close();
        threads.values().forEach(ExecutorService::shutdown);
        session.say("CLOSED");
    }

    private void obey(String thread, String verb, List<String> words) {
        threads.computeIfAbsent(thread, name -> Executors.newSingleThreadExecutor(task -> daemon(name, task)))
                .execute(() -> session.say(thread + " " + verbs.answer(verb, words)));
    }

    private static Thread daemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
