package dev.interlock.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** What Redis keeps at a key. */
sealed interface Value {
    Value copy();

    /** Redis keeps no key for nothing. */
    boolean isEmpty();

    /** A string. */
    record Text(String bytes) implements Value {
        @Override
        public Text copy() {
            return this;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }

        @Override
        public String toString() {
            return "string " + Bytes.printable(bytes);
        }
    }

    /** What no script knows to use. */
    record Unknown() implements Value {
        @Override
        public Unknown copy() {
            return this;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }

        @Override
        public String toString() {
            return "of another type";
        }
    }

    /** A hash. As a small one in Redis, it keeps its fields in the order in which they came. */
    record Hash(Map<String, String> fields) implements Value {
        Hash() {
            this(new LinkedHashMap<>());
        }

        @Override
        public Hash copy() {
            return new Hash(new LinkedHashMap<>(fields));
        }

        @Override
        public boolean isEmpty() {
            return fields.isEmpty();
        }

        @Override
        public String toString() {
            return fields.entrySet().stream()
                    .map(field -> Bytes.printable(field.getKey()) + "=" + Bytes.printable(field.getValue()))
                    .sorted()
                    .collect(Collectors.joining(" ", "hash ", ""));
        }
    }

    /** A sorted set: its members with their scores. */
    record Scores(SortedSet members) implements Value {
        Scores() {
            this(new SortedSet());
        }

        @Override
        public Scores copy() {
            return new Scores(members.copy());
        }

        @Override
        public boolean isEmpty() {
            return members.isEmpty();
        }

        @Override
        public String toString() {
            return members.all().stream()
                    .map(member -> Bytes.printable(member.name()) + "=" + Numbers.text(member.score()))
                    .collect(Collectors.joining(" ", "zset ", ""));
        }
    }
}
