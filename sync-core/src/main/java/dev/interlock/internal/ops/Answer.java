package dev.interlock.internal.ops;

import dev.interlock.internal.Names;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.Stake;
import dev.interlock.ops.SessionView;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a session answers: a line about itself, and one for each name that was asked for.
 *
 * @param name its name for people, or the empty string if it doesn't tell
 * @param host the machine on which it runs
 * @param pid its process
 * @param ageMillis since when it has been open
 * @param stakes what it has
 */
record Answer(String name, String host, long pid, long ageMillis, List<Stake> stakes) {
    private static final Logger log = LoggerFactory.getLogger(Answer.class);
    private static final RareLog UNREADABLE = new RareLog();

    /** Returns what is the same in all answers of a session of this process: it has been open for no time. */
    static Answer ofThisProcess(String name) {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "unknown";
        }
        return new Answer(name, host, ProcessHandle.current().pid(), 0, List.of());
    }

    Answer with(long millis, List<Stake> what) {
        return new Answer(name, host, pid, millis, what);
    }

    String text() {
        // The name comes last, since versions without it read only what is before it.
        String own = Stake.word(host) + ' ' + pid + ' ' + ageMillis + ' ' + Stake.word(name);
        return Stream.concat(Stream.of(own), stakes.stream().map(Stake::line)).collect(Collectors.joining("\n"));
    }

    /**
     * Reads an answer; null if there is none, or it is of another version.
     *
     * @param prefix that of the names that matter, which then have it no longer
     */
    static @Nullable Answer parse(@Nullable String text, String prefix) {
        if (text == null) {
            return null;
        }
        try {
            List<String> lines = text.lines().toList();
            String[] own = lines.get(0).split(" ", -1);
            List<Stake> stakes = lines.stream()
                    .skip(1)
                    .map(Stake::parse)
                    .filter(stake -> stake.name().startsWith(prefix))
                    .map(stake -> stake.named(stake.name().substring(prefix.length())))
                    .toList();
            String name = own.length > 3 ? Stake.text(own[3]) : "";
            return new Answer(name, Stake.text(own[0]), Long.parseLong(own[1]), Long.parseLong(own[2]), stakes);
        } catch (RuntimeException e) {
            UNREADABLE.say(
                    "",
                    often -> log.warn(
                            "The answer of a session can't be read; that may be of another version: {}{}",
                            Names.excerpt(text),
                            often));
            return null;
        }
    }

    /** Returns the name of the session that has given this answer, or null if it doesn't tell or is silent. */
    static @Nullable String nameIn(@Nullable Answer answer) {
        return answer == null || answer.name.isEmpty() ? null : answer.name;
    }

    SessionView session(String id) {
        return new SessionView(id, nameIn(this), host, pid, Duration.ofMillis(ageMillis));
    }
}
