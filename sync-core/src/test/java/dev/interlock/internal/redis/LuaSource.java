package dev.interlock.internal.redis;

import com.google.common.base.Splitter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Lua resource as text, held against the rules for scripts: {@link #complaints} lists where its header and its body
 * disagree, and which names come from nowhere.
 */
final class LuaSource {
    private static final int COLUMNS = 120;
    private static final Pattern KEY =
            Pattern.compile("-- KEYS\\[(\\d+i\\+)?(\\d+)\\] (\\w+) +(hash|zset|string|list|set|any) +\\S.*");
    private static final Pattern ARGUMENT = Pattern.compile("-- ARGV\\[(\\d+)\\] (\\w+) +\\S.*");
    private static final Pattern GIVES = Pattern.compile("-- Gives ([\\w, ]+)(?:: \\S.*)?\\.");
    private static final Pattern FIELD = Pattern.compile("\\w+\\.(\\w+)");
    private static final Pattern BINDING = Pattern.compile("local ([\\w, ]+) = (.*(?:KEYS|ARGV)\\[.*)");
    private static final Pattern BOUND =
            Pattern.compile("(KEYS|ARGV)\\[(\\d+)\\]|tonumber\\((ARGV)\\[(\\d+)\\]\\)|(ARGV)\\[(\\d+)\\] == '\\w*'");
    private static final Splitter LIST = Splitter.on(',').trimResults().omitEmptyStrings();

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
    private final UnaryOperator<String> sources;

    private final Map<String, String> keys = new LinkedHashMap<>();
    private final List<String> arguments = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();

    /** Whether its KEYS are those of many names, one after the other. */
    private boolean takesMany;

    /** @param sources gives the text of a script or include by its name, or throws {@link IllegalArgumentException} */
    LuaSource(String name, String text, UnaryOperator<String> sources) {
        this.name = name;
        this.text = text;
        this.sources = sources;
        checkLines();
        if (isInclude()) {
            checkInclude();
        } else {
            checkScript();
        }
    }

    boolean isInclude() {
        return name.contains("/include/");
    }

    /** Names of the includes that the text asks for itself, in order. */
    List<String> includes() {
        return Script.INCLUDE
                .matcher(text)
                .results()
                .map(line -> Script.includeOf(name, line))
                .toList();
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

    private void checkLines() {
        text.lines().forEach(line -> {
            if (line.length() > COLUMNS) {
                complain("longer than " + COLUMNS + " columns: " + line);
            }
            if (line.contains("@include") && !Script.INCLUDE.matcher(line).matches()) {
                complain("not an include: " + line);
            }
        });
    }

    private void checkScript() {
        readHeader();
        List<String> statements = statements(text);
        int bindings = checkBindings(statements);
        String expanded = checkNames();
        int bound = LuaScopes.tokens(String.join("\n", statements.subList(0, bindings)))
                .size();
        List<String> tokens = LuaScopes.tokens(expanded);
        checkBody(tokens.subList(Math.min(bound, tokens.size()), tokens.size()));
    }

    private void checkBody(List<String> tokens) {
        checkKeysAreBound(tokens);
        checkRecords(tokens);
        checkCalls(tokens);
    }

    private void checkInclude() {
        Matcher gives = GIVES.matcher(text.lines().findFirst().orElse(""));
        if (!gives.matches()) {
            complain("its first line doesn't say what it gives");
            return;
        }
        Set<String> declared = new LuaScopes(text).top();
        Set<String> given = new TreeSet<>(names(gives.group(1)));
        given.removeAll(declared);
        if (!given.isEmpty()) {
            complain("it says that it gives " + given + " but declares only " + declared);
        }
        checkKeysAreBound(LuaScopes.tokens(checkNames()));
    }

    private void checkKeysAreBound(List<String> tokens) {
        for (String forbidden : takesMany ? List.of("ARGV") : List.of("KEYS", "ARGV")) {
            if (tokens.contains(forbidden)) {
                complain(
                        forbidden + (isInclude() ? " is used in an include" : " is used after it was bound to locals"));
            }
        }
    }

    /**
     * Checks that each name comes from this text or from what it includes itself. Returns the text with all includes.
     */
    private String checkNames() {
        Set<String> foreign = new TreeSet<>(new LuaScopes(text).free());
        Set<String> included = new TreeSet<>();
        for (String include : includes()) {
            if (!included.add(include)) {
                complain(include + " is included twice");
            }
            Set<String> given = given(include);
            if (given.isEmpty()) {
                complain("there is no file to include " + include + " from, or it gives nothing");
            } else if (!foreign.removeAll(given)) {
                complain("nothing of " + include + " is used");
            }
        }
        if (!foreign.isEmpty()) {
            complain("neither this nor its includes define " + foreign);
        }
        try {
            String expanded = Script.load(name, this::read).text();
            LuaScopes scopes = new LuaScopes(expanded);
            if (foreign.isEmpty() && !scopes.free().isEmpty()) {
                complain("not defined where they are used: " + scopes.free());
            }
            if (!scopes.repeated().isEmpty()) {
                complain("declared more than once: " + scopes.repeated());
            }
            return expanded;
        } catch (IllegalArgumentException | IllegalStateException e) {
            complain(String.valueOf(e.getMessage()));
            return text;
        }
    }

    private String read(String source) {
        return source.equals(name) ? text : sources.apply(source);
    }

    /** What an include says that it gives, nothing if it isn't there. */
    private Set<String> given(String include) {
        try {
            Matcher gives = GIVES.matcher(read(include).lines().findFirst().orElse(""));
            return gives.matches() ? names(gives.group(1)) : Set.of();
        } catch (IllegalArgumentException e) {
            return Set.of();
        }
    }

    /** Checks that a record's field which is called like a key is that key. */
    private void checkRecords(List<String> tokens) {
        int braces = 0;
        for (int i = 1; i + 2 < tokens.size(); i++) {
            String token = tokens.get(i);
            braces += token.equals("{") ? 1 : token.equals("}") ? -1 : 0;
            if (!keys.containsKey(token) || !tokens.get(i + 1).equals("=")) {
                continue;
            }
            boolean isWhole = tokens.get(i + 3 < tokens.size() ? i + 3 : i).matches("[,}]");
            boolean isField = braces > 0 && tokens.get(i - 1).matches("[{,]");
            if ((isField && !(tokens.get(i + 2).equals(token) && isWhole))
                    || tokens.get(i - 1).equals(".")) {
                complain("the field " + token + " isn't the key " + token);
            }
        }
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
                takesMany |= key.group(1) != null;
                expectNumber("KEYS", key.group(2), keys.size() + 1);
                if (!arguments.isEmpty()) {
                    complain("KEYS are declared after ARGV");
                }
                if (keys.put(key.group(3), key.group(4)) != null) {
                    complain("two KEYS are called " + key.group(3));
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
        if (!takesMany) {
            keys.keySet().forEach(key -> due.add(key + " = KEYS[" + (due.size() + 1) + "]"));
        }
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

    private static Set<String> names(String list) {
        return Set.copyOf(LIST.splitToList(list.replace(" and ", ", ")));
    }

    /** The body's lines without comments, except those that include. */
    private static List<String> statements(String source) {
        return source.lines()
                .dropWhile(line -> line.startsWith("--"))
                .filter(line -> !line.isBlank())
                .filter(line -> !line.strip().startsWith("--") || line.startsWith("-- @"))
                .toList();
    }

    private void checkCalls(List<String> tokens) {
        Set<String> touched = new TreeSet<>();
        for (int i = 0; i + 3 < tokens.size(); i++) {
            if (tokens.get(i).equals("redis") && tokens.get(i + 1).equals(".")) {
                boolean isTried = tokens.get(i + 2).equals("pcall")
                        && i + 4 < tokens.size()
                        && tokens.get(i + 4).equals("'spublish'");
                if (!(isTried || tokens.get(i + 2).equals("call"))
                        || !tokens.get(i + 3).equals("(")) {
                    complain("Redis is called by redis." + tokens.get(i + 2));
                    continue;
                }
                List<String> call = arguments(tokens, i + 4).stream()
                        .map(LuaSource::withoutRecord)
                        .toList();
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

    private static String withoutRecord(String argument) {
        Matcher field = FIELD.matcher(argument);
        return field.matches() ? field.group(1) : argument;
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
