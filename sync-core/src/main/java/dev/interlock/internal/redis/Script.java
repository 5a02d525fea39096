package dev.interlock.internal.redis;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.base.Splitter;
import com.google.common.base.Suppliers;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Lua script from a resource file, together with what its header declares. The line {@code -- @include name} stands
 * for the file {@code include/name.lua} of the same folder, {@code -- @include folder/name} for that of another one. An
 * include may include others; each is put into a script once, where it is asked for first. KEYS that are declared as
 * {@code KEYS[4i+1]} to {@code KEYS[4i+4]} are those of a name, and such a script takes those of many names.
 */
public final class Script {
    static final Pattern INCLUDE = Pattern.compile("^-- @include (?:(\\w+)/)?(\\w+)$", Pattern.MULTILINE);
    private static final Splitter LINES = Splitter.on('\n');
    private static final Pattern DECLARATION = Pattern.compile("-- (KEYS|ARGV)\\[(\\d+i\\+)?\\d+\\] (\\w+)");

    private final String name;
    private final Supplier<Content> content;

    /** What is in the files, and by which digest Redis knows that. */
    private record Content(String text, String digest, List<String> keys, List<String> arguments, boolean takesMany) {
        boolean fits(List<Object> given) {
            boolean isOfOne = given.size() == keys.size();
            return isOfOne || (takesMany && !given.isEmpty() && given.size() % keys.size() == 0);
        }
    }

    private Script(String name, UnaryOperator<String> sources) {
        this.name = name;
        this.content = Suppliers.memoize(() -> read(name, sources));
    }

    private static Content read(String name, UnaryOperator<String> sources) {
        List<String> lines = LINES.splitToList(sources.apply(name));
        StringBuilder expanded = new StringBuilder();
        expand(name, sources, new HashSet<>(), new LinkedHashSet<>(), expanded);
        String text = expanded.toString();
        boolean takesMany =
                lines.stream().map(DECLARATION::matcher).anyMatch(line -> line.lookingAt() && line.group(2) != null);
        return new Content(text, digestOf(text), declared("KEYS", lines), declared("ARGV", lines), takesMany);
    }

    /** Returns the name of the file for which a line stands that was found by {@link #INCLUDE}. */
    static String includeOf(String includer, MatchResult line) {
        String folder = line.group(1) == null ? includer.substring(0, includer.indexOf('/')) : line.group(1);
        return folder + "/include/" + line.group(2);
    }

    /** Appends the lines of a file and, in their places, those of its includes, unless they are there already. */
    private static void expand(
            String name,
            UnaryOperator<String> sources,
            Set<String> included,
            Set<String> unfinished,
            StringBuilder expanded) {
        if (!unfinished.add(name)) {
            throw new IllegalStateException("These scripts include each other in a circle: " + unfinished);
        }
        // Line by line: expressions that search the whole text take much longer in a JVM that has just started.
        for (String line : LINES.split(sources.apply(name))) {
            if (!isComment(line)) {
                expanded.append(line).append('\n');
            } else if (line.startsWith("-- @")) {
                Matcher include = INCLUDE.matcher(line);
                if (include.matches() && !included.contains(includeOf(name, include))) {
                    expand(includeOf(name, include), sources, included, unfinished, expanded);
                }
            }
        }
        unfinished.remove(name);
        included.add(name);
    }

    private static boolean isComment(String line) {
        String stripped = line.stripLeading();
        return stripped.isEmpty() || stripped.startsWith("--");
    }

    // By SHA-1 Redis tells scripts apart; nothing is kept secret or safe by it.
    @SuppressWarnings("deprecation")
    private static String digestOf(String text) {
        return Hashing.sha1().hashString(text, StandardCharsets.UTF_8).toString();
    }

    /**
     * Returns a script, which is read when it is first used: most JVMs need few of the scripts.
     *
     * @param name its path below {@code dev/interlock/lua}, without {@code .lua}
     */
    public static Script load(String name) {
        return load(name, Script::read);
    }

    /** Returns a script that is read from sources that are given by name. */
    static Script load(String name, UnaryOperator<String> sources) {
        return new Script(name, sources);
    }

    private static String read(String name) {
        // No other module sees this one's resources, not even Guava's.
        try (InputStream file = Script.class.getResourceAsStream("/dev/interlock/lua/" + name + ".lua")) {
            checkArgument(file != null, "There is no script %s", name);
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> declared(String array, List<String> lines) {
        List<String> names = new ArrayList<>();
        for (String line : lines) {
            Matcher declaration = DECLARATION.matcher(line);
            if (declaration.lookingAt() && declaration.group(1).equals(array)) {
                names.add(declaration.group(3));
            }
        }
        return List.copyOf(names);
    }

    /** What Redis runs: the script with its includes, without comments and empty lines. */
    public String text() {
        return content.get().text();
    }

    /** What Redis knows it by once it has been loaded. */
    public String digest() {
        return content.get().digest();
    }

    /** Names of the declared KEYS, in order. */
    public List<String> keys() {
        return content.get().keys();
    }

    /** Names of the declared ARGV, in order. */
    public List<String> arguments() {
        return content.get().arguments();
    }

    /** A run of this script, refused if it doesn't fit the header. */
    public Call on(List<Object> keys, Object... arguments) {
        Content declared = content.get();
        if (!declared.fits(keys) || arguments.length != declared.arguments.size()) {
            throw new IllegalArgumentException(
                    name + " takes KEYS " + declared.keys + " and ARGV " + declared.arguments);
        }
        for (Object argument : arguments) {
            if (!(argument instanceof String || argument instanceof Number)) {
                throw new IllegalArgumentException(name + " takes strings and numbers, not " + argument.getClass());
            }
        }
        return new Call(this, keys, arguments);
    }

    /** A script with what it is to be run on. */
    public static final class Call {
        final Script script;
        final List<Object> keys;
        final Object[] arguments;

        private Call(Script script, List<Object> keys, Object[] arguments) {
            this.script = script;
            this.keys = keys;
            this.arguments = arguments;
        }

        /** Returns the script. */
        public Script script() {
            return script;
        }

        /** Returns how many parts the command has behind the script itself. */
        public int partCount() {
            return 1 + keys.size() + arguments.length;
        }

        /** Tells these parts: the number of KEYS, the KEYS, the ARGV. */
        public void forEachPart(Consumer<Object> part) {
            part.accept(keys.size());
            keys.forEach(part);
            for (Object argument : arguments) {
                part.accept(argument);
            }
        }

        /** Returns the first of the KEYS. */
        public String firstKey() {
            return String.valueOf(keys.get(0));
        }

        /** Returns the KEYS. */
        public List<String> keys() {
            return keys.stream().map(String::valueOf).toList();
        }

        /** Returns the ARGV. */
        public List<String> arguments() {
            return Arrays.stream(arguments).map(String::valueOf).toList();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
