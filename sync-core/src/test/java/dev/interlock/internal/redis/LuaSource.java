package dev.interlock.internal.redis;

import com.google.common.base.Splitter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A Lua resource as text, held against the rules for scripts: {@link #complaints} lists where its header and its body
 * disagree. It reads by tokens, so it knows no scopes: a local is a local from anywhere in the file.
 */
final class LuaSource {
    private static final Pattern TOKEN = Pattern.compile(
            "--[^\\n]*" // comment
                    + "|'(?:\\\\.|[^'\\\\\\n])*'|\"(?:\\\\.|[^\"\\\\\\n])*\"" // string
                    + "|[A-Za-z_]\\w*|\\d[\\w.]*|\\.\\.\\.|\\.\\.|[=~<>]=|\\S");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*");
    private static final Pattern KEY =
            Pattern.compile("-- KEYS\\[(\\d+)\\] (\\w+) +(hash|zset|string|list|set|any) +\\S.*");
    private static final Pattern ARGUMENT = Pattern.compile("-- ARGV\\[(\\d+)\\] (\\w+) +\\S.*");
    private static final Pattern INCLUDE = Pattern.compile("^-- @include (\\S+)$", Pattern.MULTILINE);
    private static final Pattern INCLUDED = Pattern.compile(
            "-- Included by [\\w ]+?(?:, after ([\\w, ]+))?; expects the locals? ([\\w, ]+)\\.", Pattern.DOTALL);
    private static final Pattern BINDING = Pattern.compile("local ([\\w, ]+) = (.*(?:KEYS|ARGV)\\[.*)");
    private static final Pattern BOUND =
            Pattern.compile("(KEYS|ARGV)\\[(\\d+)\\]|tonumber\\((ARGV)\\[(\\d+)\\]\\)|(ARGV)\\[(\\d+)\\] == '\\w*'");
    private static final Pattern TOP_LEVEL_LOCAL =
            Pattern.compile("^local (?:function (\\w+)|([\\w, ]+?) *(?:=|$))", Pattern.MULTILINE);

    private static final Splitter LIST = Splitter.on(',').trimResults().omitEmptyStrings();

    private static final Set<String> KEYWORDS = Set.of(
            "and",
            "break",
            "do",
            "else",
            "elseif",
            "end",
            "false",
            "for",
            "function",
            "if",
            "in",
            "local",
            "nil",
            "not",
            "or",
            "repeat",
            "return",
            "then",
            "true",
            "until",
            "while");
    private static final Set<String> GLOBALS = Set.of(
            "KEYS",
            "ARGV",
            "redis",
            "cmsgpack",
            "struct",
            "string",
            "math",
            "table",
            "tonumber",
            "tostring",
            "ipairs",
            "pairs",
            "unpack");
    private static final Set<String> WITHOUT_KEY = Set.of("time", "info", "publish", "spublish", "pubsub");
    private static final Set<String> OF_ANY_TYPE = Set.of("exists", "del", "unlink", "type", "pexpire", "pttl");
    private static final Set<String> OF_STRINGS = Set.of("get", "set", "incr", "incrby", "getdel", "getex");
    private static final Set<String> OF_SETS = Set.of("sadd", "srem", "scard", "sismember", "smembers", "spop");
    private static final Set<String> OF_LISTS = Set.of("lpush", "rpush", "lpop", "rpop", "llen", "lrange", "lrem");
    private static final Set<String> OF_MANY_KEYS = Set.of("exists", "del", "unlink");
    private static final Pattern CLIENT_TIME =
            Pattern.compile("(?:client)?(?:time|now|clock|date|timestamp|millis|micros|nanos)");

    private final String name;
    private final String text;
    private final UnaryOperator<String> includes;

    private final Map<String, String> keys = new LinkedHashMap<>();
    private final List<String> arguments = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();

    /** @param includes gives the text of an include, or throws {@link IllegalArgumentException} if there is none */
    LuaSource(String name, String text, UnaryOperator<String> includes) {
        this.name = name;
        this.text = text;
        this.includes = includes;
        if (isInclude()) {
            checkInclude();
        } else {
            checkScript();
        }
    }

    boolean isInclude() {
        return text.startsWith("-- Included by ");
    }

    /** Where the text breaks the rules, in words. */
    List<String> complaints() {
        return complaints;
    }

    /** Names of the declared KEYS with their types, in order. */
    Map<String, String> keys() {
        return keys;
    }

    /** Names of the declared ARGV, in order. */
    List<String> arguments() {
        return arguments;
    }

    private void checkScript() {
        readHeader();
        List<String> statements = statements(text);
        int bindings = checkBindings(statements);
        String rest = String.join("\n", statements.subList(bindings, statements.size()));
        String expanded = expand(rest);
        List<String> tokens = tokens(expanded);
        for (String forbidden : List.of("KEYS", "ARGV")) {
            if (tokens.contains(forbidden)) {
                complain(forbidden + " is used after it was bound to locals");
            }
        }
        Set<String> unknown = freeNames(tokens(String.join("\n", statements.subList(0, bindings)) + "\n" + expanded));
        if (!unknown.isEmpty()) {
            complain("nobody defines " + unknown);
        }
        checkCalls(tokens);
    }

    private void readHeader() {
        List<String> header =
                text.lines().takeWhile(line -> line.startsWith("--")).toList();
        if (header.isEmpty() || !header.get(0).matches("-- [A-Z].*")) {
            complain("the header doesn't begin with what the script does");
        }
        for (String line : header) {
            Matcher key = KEY.matcher(line);
            Matcher argument = ARGUMENT.matcher(line);
            if (key.matches()) {
                expectNumber("KEYS", key.group(1), keys.size() + 1);
                if (!arguments.isEmpty()) {
                    complain("KEYS are declared after ARGV");
                }
                if (keys.put(key.group(2), key.group(3)) != null) {
                    complain("two KEYS are called " + key.group(2));
                }
            } else if (argument.matches()) {
                expectNumber("ARGV", argument.group(1), arguments.size() + 1);
                if (arguments.contains(argument.group(2)) || keys.containsKey(argument.group(2))) {
                    complain("the name " + argument.group(2) + " is declared twice");
                }
                if (CLIENT_TIME.matcher(argument.group(2)).matches()) {
                    complain("the client's clock is handed in as " + argument.group(2));
                }
                arguments.add(argument.group(2));
            } else if (line.contains("KEYS[") || line.contains("ARGV[")) {
                complain("not a declaration: " + line);
            }
        }
        for (String field : List.of("Reply", "Idempotent by")) {
            if (header.stream().noneMatch(line -> line.matches("-- " + field + ": \\S.*"))) {
                complain("the header doesn't say '" + field + ":'");
            }
        }
    }

    private void expectNumber(String array, String number, int expected) {
        if (Integer.parseInt(number) != expected) {
            complain(array + "[" + number + "] is declared where " + array + "[" + expected + "] is due");
        }
    }

    /** Returns how many statements do nothing but to bind KEYS and ARGV. */
    private int checkBindings(List<String> statements) {
        List<String> due = new ArrayList<>();
        keys.keySet().forEach(key -> due.add(key + " = KEYS[" + (due.size() + 1) + "]"));
        for (int i = 0; i < arguments.size(); i++) {
            due.add(arguments.get(i) + " = ARGV[" + (i + 1) + "]");
        }
        List<String> bound = new ArrayList<>();
        int count = 0;
        while (count < statements.size()) {
            Matcher binding = BINDING.matcher(statements.get(count));
            if (!binding.matches()) {
                break;
            }
            List<String> names = LIST.splitToList(binding.group(1));
            List<String> values = LIST.splitToList(binding.group(2));
            for (int i = 0; i < Math.max(names.size(), values.size()); i++) {
                Matcher value = BOUND.matcher(i < values.size() ? values.get(i) : "");
                bound.add(
                        (i < names.size() ? names.get(i) : "nothing") + " = " + (value.matches() ? plain(value) : "?"));
            }
            count++;
        }
        if (!bound.equals(due)) {
            complain("the header wants the locals " + due + " but the body begins with " + bound);
        }
        return count;
    }

    private static String plain(MatchResult value) {
        for (int group = 1; group <= value.groupCount(); group += 2) {
            if (value.group(group) != null) {
                return value.group(group) + "[" + value.group(group + 1) + "]";
            }
        }
        throw new IllegalStateException(value.group());
    }

    /** Puts the includes in place, and holds what they expect against what stands before them. */
    private String expand(String body) {
        StringBuilder expanded = new StringBuilder();
        Set<String> included = new LinkedHashSet<>();
        int copied = 0;
        Matcher include = INCLUDE.matcher(body);
        while (include.find()) {
            expanded.append(body.substring(copied, include.start()));
            copied = include.end();
            String file = include.group(1);
            String source;
            try {
                source = includes.apply(file);
            } catch (IllegalArgumentException e) {
                complain("there is no file to include " + file + " from");
                continue;
            }
            if (!included.add(file)) {
                complain(file + " is included twice");
            }
            Matcher declared = INCLUDED.matcher(unwrapped(source));
            if (!declared.find()) {
                complain(file + " isn't made to be included");
                continue;
            }
            Set<String> due = new TreeSet<>(names(declared.group(1)));
            due.removeAll(included);
            if (!due.isEmpty()) {
                complain(file + " is not included after " + due);
            }
            Set<String> missing = new TreeSet<>(names(declared.group(2)));
            missing.removeAll(keys.keySet());
            missing.removeAll(arguments);
            missing.removeAll(topLevelLocals(expanded.toString()));
            if (!missing.isEmpty()) {
                complain("before " + file + " is included, " + missing + " must be there");
            }
            expanded.append(source);
        }
        return expanded.append(body.substring(copied)).toString();
    }

    private void checkInclude() {
        Matcher declared = INCLUDED.matcher(unwrapped(text));
        if (!declared.find()) {
            complain("the header doesn't say which locals it expects");
            return;
        }
        Set<String> expected = new TreeSet<>(names(declared.group(2)));
        Set<String> free = freeNames(tokens(text));
        names(declared.group(1)).forEach(other -> free.removeAll(topLevelLocals(includes.apply(other))));
        if (!free.equals(expected)) {
            complain("it says that it expects " + expected + " but takes " + free);
        }
    }

    /** The header's sentences without their line breaks. */
    private static String unwrapped(String source) {
        return source.lines()
                .takeWhile(line -> line.startsWith("--"))
                .map(line -> line.substring(2).strip())
                .collect(Collectors.joining(" ", "-- ", ""));
    }

    private static Set<String> names(@Nullable String list) {
        return list == null ? Set.of() : Set.copyOf(LIST.splitToList(list.replace(" and ", ", ")));
    }

    private static Set<String> topLevelLocals(String source) {
        Set<String> locals = new TreeSet<>();
        TOP_LEVEL_LOCAL.matcher(source).results().forEach(match -> {
            if (match.group(1) != null) {
                locals.add(match.group(1));
            } else {
                locals.addAll(names(match.group(2)));
            }
        });
        return locals;
    }

    /** The body's lines without comments, except those that include. */
    private static List<String> statements(String source) {
        return source.lines()
                .dropWhile(line -> line.startsWith("--"))
                .filter(line -> !line.isBlank())
                .filter(line -> !line.strip().startsWith("--") || line.startsWith("-- @"))
                .toList();
    }

    private static List<String> tokens(String source) {
        return TOKEN.matcher(source)
                .results()
                .map(MatchResult::group)
                .filter(token -> !token.startsWith("--"))
                .toList();
    }

    /** Names that are used but neither declared in here nor part of the language. */
    private static Set<String> freeNames(List<String> tokens) {
        Set<String> declared = new TreeSet<>();
        Set<String> used = new TreeSet<>();
        for (int i = 0; i < tokens.size(); i++) {
            String token = tokens.get(i);
            switch (token) {
                case "local", "for" -> {
                    int next = i + 1;
                    if (tokens.get(next).equals("function")) {
                        declared.add(tokens.get(next + 1));
                        break;
                    }
                    declared.add(tokens.get(next));
                    while (tokens.get(next + 1).equals(",")) {
                        next += 2;
                        declared.add(tokens.get(next));
                    }
                }
                case "function" -> {
                    int open = tokens.subList(i, tokens.size()).indexOf("(") + i;
                    int close = tokens.subList(open, tokens.size()).indexOf(")") + open;
                    tokens.subList(open + 1, close).stream()
                            .filter(parameter -> !parameter.equals(","))
                            .forEach(declared::add);
                }
                default -> {
                    boolean field = i > 0
                            && (tokens.get(i - 1).equals(".")
                                    || tokens.get(i - 1).equals(":"));
                    if (!field && NAME.matcher(token).matches()) {
                        used.add(token);
                    }
                }
            }
        }
        used.removeAll(declared);
        used.removeAll(KEYWORDS);
        used.removeAll(GLOBALS);
        return used;
    }

    private void checkCalls(List<String> tokens) {
        Set<String> touched = new TreeSet<>();
        for (int i = 0; i + 3 < tokens.size(); i++) {
            if (tokens.get(i).equals("redis") && tokens.get(i + 1).equals(".")) {
                if (!tokens.get(i + 2).equals("call") || !tokens.get(i + 3).equals("(")) {
                    complain("Redis is called by redis." + tokens.get(i + 2));
                    continue;
                }
                List<String> call = arguments(tokens, i + 4);
                checkCall(call);
                touched.addAll(call);
            }
        }
        Set<String> untouched = new TreeSet<>(keys.keySet());
        untouched.removeAll(touched);
        untouched.removeIf(key -> "any".equals(keys.get(key)));
        if (!untouched.isEmpty()) {
            complain("no command touches " + untouched);
        }
    }

    /** What stands between the parentheses, split at the commas. */
    private static List<String> arguments(List<String> tokens, int begin) {
        List<String> split = new ArrayList<>();
        StringBuilder argument = new StringBuilder();
        int depth = 0;
        for (int i = begin; i < tokens.size(); i++) {
            String token = tokens.get(i);
            if (token.matches("[({\\[]")) {
                depth++;
            } else if (token.matches("[)}\\]]") && depth-- == 0) {
                break;
            }
            if (depth == 0 && token.equals(",")) {
                split.add(argument.toString());
                argument.setLength(0);
            } else {
                argument.append(token);
            }
        }
        split.add(argument.toString());
        return split;
    }

    private void checkCall(List<String> call) {
        String verb = call.get(0);
        if (arguments.contains(verb)) {
            if (!verb.equals("publish")) {
                complain("the client says which command runs: " + call);
            }
            return;
        }
        if (!verb.matches("'[a-z]+'")) {
            complain("not a command in lower case: " + call);
            return;
        }
        String command = verb.substring(1, verb.length() - 1);
        if (WITHOUT_KEY.contains(command)) {
            return;
        }
        int last = OF_MANY_KEYS.contains(command) ? call.size() : Math.min(2, call.size());
        for (String key : call.subList(1, last)) {
            String type = keys.get(key);
            if (type == null) {
                complain("not a declared key: " + key + " in " + call);
            } else if (!fits(command, type)) {
                complain(key + " is declared as a " + type + ", which " + command + " doesn't take");
            }
        }
    }

    private static boolean fits(String command, String type) {
        return OF_ANY_TYPE.contains(command)
                || switch (type) {
                    case "hash" -> command.startsWith("h");
                    case "zset" -> command.startsWith("z");
                    case "string" -> OF_STRINGS.contains(command);
                    case "set" -> OF_SETS.contains(command);
                    case "list" -> OF_LISTS.contains(command);
                    default -> false;
                };
    }

    private void complain(String complaint) {
        complaints.add(name + ": " + complaint);
    }
}
