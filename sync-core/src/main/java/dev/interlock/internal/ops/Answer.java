package dev.interlock.internal.ops;

import com.google.common.base.Splitter;
import dev.interlock.internal.Names;
import dev.interlock.internal.Presence;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.SessionId;
import dev.interlock.internal.Stake;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.SessionView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session's answer. The session reports in parts, each of which begins with a line about itself: {@code <host> <pid>
 * <age> <name> <JVM> <number of the part> <0 if it is the last, else 1> <version>}. Versions that know fewer of these
 * words read what is before. Behind that line is one for each {@link Stake}.
 *
 * @param presence who it is, as far as it is known
 * @param jvm what tells its JVM from others, or its own id
 * @param ageMillis for how long it has been open, or {@link Stake#UNKNOWN} if it is silent: it hasn't reported all
 * @param stakes what it has, as far as it has reported that
 */
record Answer(Presence presence, String jvm, long ageMillis, List<Stake> stakes) {
    private static final Logger log = LoggerFactory.getLogger(Answer.class);
    private static final RareLog UNREADABLE = new RareLog();
    private static final Set<String> STATES =
            Stream.of(State.values()).map(State::name).collect(Collectors.toUnmodifiableSet());

    /**
     * A part of a report.
     *
     * @param number how many were before it
     * @param isLast whether no other follows
     */
    record Part(int number, boolean isLast) {
        private static final int NUMBER = 5;

        /** Returns which part that is. A report of another version has but one. */
        static Part of(String text) {
            int end = text.indexOf('\n');
            List<String> words = Splitter.on(' ').splitToList(end < 0 ? text : text.substring(0, end));
            try {
                return words.size() < NUMBER + 2
                        ? new Part(0, true)
                        : new Part(
                                Integer.parseUnsignedInt(words.get(NUMBER)),
                                words.get(NUMBER + 1).equals("0"));
            } catch (NumberFormatException e) {
                return new Part(0, true);
            }
        }
    }

    /** Returns a part of the report of a session of this JVM. */
    static String text(Presence presence, long ageMillis, Part part, List<Stake> stakes) {
        String own = String.join(
                " ",
                Stake.word(presence.host()),
                String.valueOf(presence.pid()),
                String.valueOf(ageMillis),
                Stake.word(presence.name()),
                Presence.JVM,
                String.valueOf(part.number),
                part.isLast ? "0" : "1",
                Stake.word(presence.version()));
        return Stream.concat(Stream.of(own), stakes.stream().map(Stake::line)).collect(Collectors.joining("\n"));
    }

    /**
     * Reads the answer of a session.
     *
     * @param known who it is, if it doesn't say so now
     * @param parts of its report, as many as have arrived
     * @param isWhole whether these are all
     * @param prefix that of the names that matter, which then have it no longer
     */
    static Answer of(String id, Presence known, Collection<String> parts, boolean isWhole, String prefix) {
        List<Stake> stakes = new ArrayList<>();
        Answer answer = new Answer(known, id, Stake.UNKNOWN, stakes);
        for (String part : parts) {
            try {
                List<String> lines = part.lines().toList();
                lines.stream()
                        .skip(1)
                        .map(Answer::stake)
                        .filter(stake -> stake.name().startsWith(prefix))
                        .map(stake -> stake.named(stake.name().substring(prefix.length())))
                        .forEach(stakes::add);
                List<String> own = Splitter.on(' ').splitToList(lines.get(0));
                String name = own.size() > 3 ? Stake.text(own.get(3)) : "";
                String version = own.size() > 7 ? Stake.text(own.get(7)) : "";
                answer = new Answer(
                        new Presence(name, Stake.text(own.get(0)), Stake.count(own.get(1)), version),
                        own.size() > 4 ? own.get(4) : id,
                        isWhole ? Stake.count(own.get(2)) : Stake.UNKNOWN,
                        stakes);
            } catch (RuntimeException e) {
                UNREADABLE.say(
                        "",
                        often -> log.warn(
                                "The answer of a session can't be read; that may be of another version: {}{}",
                                Names.excerpt(part),
                                often));
                return new Answer(known, id, Stake.UNKNOWN, stakes);
            }
        }
        return answer;
    }

    private static Stake stake(String line) {
        Stake stake = Stake.parse(line);
        if (stake.holds().stream().anyMatch(hold -> !STATES.contains(hold.state()))) {
            throw new IllegalArgumentException("unknown state");
        }
        return stake;
    }

    /** Returns whether the session hasn't reported all that it has. */
    boolean isSilent() {
        return ageMillis == Stake.UNKNOWN;
    }

    /** Returns the name of the session, or null if that isn't known. */
    @Nullable
    String name() {
        return known(presence.name());
    }

    private static @Nullable String known(String text) {
        return text.isEmpty() ? null : text;
    }

    SessionView session(String id) {
        return new SessionView(
                id,
                name(),
                known(presence.host()),
                presence.pid(),
                known(presence.version()),
                SessionId.protocol(id),
                isSilent() ? null : Duration.ofMillis(ageMillis));
    }
}
