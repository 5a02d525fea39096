package dev.interlock.ratelimit.fleet;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A request for one permit. Redis decided on it at some time in between.
 *
 * @param jvm index of its JVM in the fleet
 * @param begun a moment before the call, by the clock of the machine
 * @param ended a moment after it
 * @param answer {@link #REFUSED}, {@link #ADMITTED}, or how many permits remained after this one
 */
record Call(int jvm, long begun, long ended, int answer) {

    static final int REFUSED = -2;
    static final int ADMITTED = -1;

    boolean isAdmitted() {
        return answer != REFUSED;
    }

    /** Writes down what one JVM asked each limiter. */
    static void write(Path file, Map<Kind, List<Call>> calls) throws IOException {
        try (var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (Kind kind : Kind.values()) {
                List<Call> ofKind = calls.getOrDefault(kind, List.of());
                out.writeInt(ofKind.size());
                for (Call call : ofKind) {
                    out.writeLong(call.begun);
                    out.writeLong(call.ended);
                    out.writeInt(call.answer);
                }
            }
        }
    }

    static Map<Kind, List<Call>> read(int jvm, Path file) throws IOException {
        var calls = new EnumMap<Kind, List<Call>>(Kind.class);
        try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            for (Kind kind : Kind.values()) {
                List<Call> ofKind = new ArrayList<>();
                for (int left = in.readInt(); left > 0; left--) {
                    ofKind.add(new Call(jvm, in.readLong(), in.readLong(), in.readInt()));
                }
                calls.put(kind, ofKind);
            }
        }
        return calls;
    }
}
