package dev.interlock.cli;

import com.google.common.base.Ascii;
import dev.interlock.ops.Deadlock;
import dev.interlock.ops.NameView;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.Waiter;
import dev.interlock.ops.SessionView;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/** What was seen, for programs: what isn't known is null. Members may be added, but never renamed. */
final class Document {
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .characterEscapes(new Escapes())
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .build())
            .build();

    /** Escapes DEL as well, since terminals get this, too. */
    private static final class Escapes extends CharacterEscapes {
        private static final long serialVersionUID = 1;
        private static final int DEL = 127;

        @Override
        public int[] getEscapeCodesForAscii() {
            int[] codes = standardAsciiEscapesForJSON();
            codes[DEL] = ESCAPE_STANDARD;
            return codes;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int character) {
            return null;
        }
    }

    private Document() {}

    /** Returns a document in one line of ASCII, whatever the encoding of the terminal. */
    static String json(Map<String, @Nullable Object> document) {
        return JSON.writeValueAsString(document);
    }

    static Map<String, @Nullable Object> names(Snapshot seen) {
        return names(seen, seen.names());
    }

    static Map<String, @Nullable Object> top(Snapshot seen, int rows) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("at", seen.at().truncatedTo(ChronoUnit.MILLIS).toString());
        document.put("sessions", seen.sessions().size());
        document.putAll(
                names(seen, Contention.sorted(seen.names()).stream().limit(rows).toList()));
        return document;
    }

    static Map<String, @Nullable Object> sessions(Snapshot seen) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put(
                "sessions",
                seen.sessions().values().stream()
                        .map(session -> {
                            Map<String, @Nullable Object> one = session(seen, session.id());
                            one.put("version", session.version());
                            one.put("protocol", session.protocol() == 0 ? null : session.protocol());
                            since(one, seen, session.age());
                            return one;
                        })
                        .toList());
        return document;
    }

    static Map<String, @Nullable Object> deadlocks(List<Deadlock> deadlocks, Snapshot seen) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put(
                "deadlocks",
                deadlocks.stream()
                        .map(deadlock ->
                                deadlock.steps().stream().map(Document::step).toList())
                        .toList());
        silent(document, seen);
        return document;
    }

    private static Map<String, @Nullable Object> step(Deadlock.Step step) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("session", step.session());
        document.put("sessionName", step.sessionName());
        document.put("host", step.host());
        document.put("pid", step.pid());
        document.put("thread", step.thread());
        document.put("holds", step.holds());
        document.put("token", token(step.token()));
        document.put("waitsFor", step.waitsFor());
        return document;
    }

    private static Map<String, @Nullable Object> names(Snapshot seen, List<NameView> names) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("names", names.stream().map(name -> name(seen, name)).toList());
        silent(document, seen);
        return document;
    }

    private static void silent(Map<String, @Nullable Object> document, Snapshot seen) {
        document.put("silent", seen.silent().stream().map(SessionView::id).toList());
    }

    private static Map<String, @Nullable Object> name(Snapshot seen, NameView name) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("name", name.name());
        document.put("kind", name.kind());
        document.put("state", Contention.state(name));
        document.put(
                "holders", name.holders().stream().map(one -> holder(seen, one)).toList());
        document.put(
                "waiters", name.waiters().stream().map(one -> waiter(seen, one)).toList());
        return document;
    }

    private static Map<String, @Nullable Object> holder(Snapshot seen, Holder holder) {
        Map<String, @Nullable Object> document = session(seen, holder.session());
        document.put("thread", holder.thread());
        document.put("state", Ascii.toLowerCase(holder.state().name()));
        document.put("reads", holder.reads());
        document.put("readLocks", holder.reads() ? holder.readLocks() : null);
        document.put("permits", holder.permits() == 0 ? null : holder.permits());
        document.put("token", holder.token() == 0 ? null : token(holder.token()));
        since(document, seen, holder.age());
        return document;
    }

    private static Map<String, @Nullable Object> waiter(Snapshot seen, Waiter waiter) {
        Map<String, @Nullable Object> document = session(seen, waiter.session());
        document.put("thread", waiter.thread());
        document.put("condition", waiter.condition());
        since(document, seen, waiter.age());
        return document;
    }

    private static Map<String, @Nullable Object> session(Snapshot seen, String id) {
        SessionView session = seen.session(id);
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("session", id);
        document.put("sessionName", session.name());
        document.put("silent", session.isSilent());
        document.put("host", session.host());
        document.put("pid", session.host() == null ? null : session.pid());
        return document;
    }

    /** Returns it as a string: a number of so many digits becomes another one in JavaScript, and in many a parser. */
    private static String token(long token) {
        return String.valueOf(token);
    }

    private static void since(Map<String, @Nullable Object> document, Snapshot seen, @Nullable Duration age) {
        // Ages are known within a second.
        document.put(
                "since",
                age == null
                        ? null
                        : seen.at().minus(age).truncatedTo(ChronoUnit.SECONDS).toString());
        document.put("ageMillis", age == null ? null : age.toMillis());
    }
}
