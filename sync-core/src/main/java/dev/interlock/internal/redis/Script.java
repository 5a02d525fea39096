package dev.interlock.internal.redis;

import com.google.common.hash.Hashing;
import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Lua script from a resource file, together with what its header declares. The line {@code -- @include name} stands
 * for the file {@code include/name.lua} of the same folder, {@code -- @include folder/name} for that of another one. An
 * include may include others; each is put into a script once, where it is asked for first.
 */
public final class Script {
    static final Pattern INCLUDE = Pattern.compile("^-- @include (?:(\\w+)/)?(\\w+)$", Pattern.MULTILINE);
    private static final Pattern COMMENT = Pattern.compile("^ *(?:--.*)?\\n", Pattern.MULTILINE);
    private static final Pattern KEY = Pattern.compile("^-- KEYS\\[\\d+\\] (\\w+)", Pattern.MULTILINE);
    private static final Pattern ARGUMENT = Pattern.compile("^-- ARGV\\[\\d+\\] (\\w+)", Pattern.MULTILINE);

    private final String name;
    private final String text;
    private final String digest;
    private final List<String> keys;
    private final List<String> arguments;

    private Script(String name, UnaryOperator<String> sources) {
        this.name = name;
        String source = sources.apply(name);
        this.keys = declared(KEY, source);
        this.arguments = declared(ARGUMENT, source);
        String expanded = expand(name, sources, new HashSet<>(), new LinkedHashSet<>());
        this.text = COMMENT.matcher(expanded).replaceAll("");
        this.digest = digestOf(text);
    }

    /** Returns the name of the file for which a line stands that was found by {@link #INCLUDE}. */
    static String includeOf(String includer, MatchResult line) {
        String folder = line.group(1) == null ? includer.substring(0, includer.indexOf('/')) : line.group(1);
        return folder + "/include/" + line.group(2);
    }

    /** Puts the includes in their places, unless they are in another already; each after those that it needs itself. */
    private static String expand(
            String name, UnaryOperator<String> sources, Set<String> included, Set<String> unfinished) {
        if (!unfinished.add(name)) {
            throw new IllegalStateException("These scripts include each other in a circle: " + unfinished);
        }
        String text = INCLUDE.matcher(sources.apply(name)).replaceAll(line -> {
            String include = includeOf(name, line);
            if (included.contains(include)) {
                return "";
            }
            return Matcher.quoteReplacement(expand(include, sources, included, unfinished));
        });
        unfinished.remove(name);
        included.add(name);
        return text;
    }

    // By SHA-1 Redis tells scripts apart; nothing is kept secret or safe by it.
    @SuppressWarnings("deprecation")
    private static String digestOf(String text) {
        return Hashing.sha1().hashString(text, StandardCharsets.UTF_8).toString();
    }

    /**
     * Loads a script.
     *
     * @param name its path below {@code dev/interlock/lua}, without {@code .lua}
     */
    public static Script load(String name) {
        return load(name, Script::read);
    }

    /** Loads a script from sources that are given by name. */
    static Script load(String name, UnaryOperator<String> sources) {
        return new Script(name, sources);
    }

    private static String read(String name) {
        URL resource = Resources.getResource("dev/interlock/lua/" + name + ".lua");
        try {
            return Resources.toString(resource, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> declared(Pattern pattern, String source) {
        return pattern.matcher(source).results().map(match -> match.group(1)).toList();
    }

    /** What Redis runs: the script with its includes, without comments and empty lines. */
    public String text() {
        return text;
    }

    /** What Redis knows it by once it has been loaded. */
    public String digest() {
        return digest;
    }

    /** Names of the declared KEYS, in order. */
    public List<String> keys() {
        return keys;
    }

    /** Names of the declared ARGV, in order. */
    public List<String> arguments() {
        return arguments;
    }

    /** A run of this script, refused if it doesn't fit the header. */
    public Call on(List<Object> keys, Object... arguments) {
        if (keys.size() != this.keys.size() || arguments.length != this.arguments.size()) {
            throw new IllegalArgumentException(name + " takes KEYS " + this.keys + " and ARGV " + this.arguments);
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
