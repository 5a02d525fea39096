package dev.interlock.internal.redis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The names of a Lua text: those that it declares at its top, and those that it uses without having declared them. It
 * reads by tokens and lines, as far as the scripts' style needs: locals are declared from the end of their line on, and
 * the scope of a {@code repeat} ends with the line of its {@code until}.
 */
final class LuaScopes {
    private static final Pattern TOKEN = Pattern.compile(
            "--[^\\n]*" // comment
                    + "|'(?:\\\\.|[^'\\\\\\n])*'|\"(?:\\\\.|[^\"\\\\\\n])*\"" // string
                    + "|[A-Za-z_]\\w*|\\d[\\w.]*|\\.\\.\\.|\\.\\.|[=~<>]=|\\n|\\S");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*");
    private static final Set<String> KEYWORDS =
            Set.of("and", "break", "false", "if", "in", "nil", "not", "or", "return", "true", "while");
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

    private final List<String> tokens;
    private final Set<String> top = new TreeSet<>();
    private final Deque<Set<String>> scopes = new ArrayDeque<>(List.of(top));
    private final Deque<String> brackets = new ArrayDeque<>();
    private final List<String> declaredByLine = new ArrayList<>();
    private final List<String> declaredByLoop = new ArrayList<>();
    private final Set<String> free = new TreeSet<>();
    private final Set<String> repeated = new TreeSet<>();
    private boolean isUntil;
    private int at;

    LuaScopes(String source) {
        tokens = allTokens(source);
        while (at < tokens.size()) {
            read(tokens.get(at));
            at++;
        }
        endLine();
        if (scopes.size() != 1) {
            throw new IllegalArgumentException(scopes.size() + " scopes are left open by: " + source);
        }
    }

    /** The tokens of a text without comments and line breaks. */
    static List<String> tokens(String source) {
        return allTokens(source).stream().filter(token -> !token.equals("\n")).toList();
    }

    private static List<String> allTokens(String source) {
        return TOKEN.matcher(source)
                .results()
                .map(MatchResult::group)
                .filter(token -> !token.startsWith("--"))
                .toList();
    }

    /** Names that are used where they aren't declared, and aren't part of the language. */
    Set<String> free() {
        return free;
    }

    /** Locals of the whole text. */
    Set<String> top() {
        return top;
    }

    /** Locals of the whole text that are declared more than once. */
    Set<String> repeated() {
        return repeated;
    }

    private void read(String token) {
        switch (token) {
            case "\n" -> endLine();
            case "{", "(", "[" -> brackets.push(token);
            case "}", ")", "]" -> brackets.pop();
            case "then", "repeat" -> scopes.push(new TreeSet<>());
            case "do" -> {
                scopes.push(new TreeSet<>(declaredByLoop));
                declaredByLoop.clear();
            }
            case "elseif", "end" -> scopes.pop();
            case "else" -> {
                scopes.pop();
                scopes.push(new TreeSet<>());
            }
            case "until" -> isUntil = true;
            case "local" -> {
                if (!next().equals("function")) {
                    declaredByLine.addAll(list());
                }
            }
            case "for" -> declaredByLoop.addAll(list());
            case "function" -> readFunction();
            default -> {
                if (NAME.matcher(token).matches() && !isField()) {
                    use(token);
                }
            }
        }
    }

    private void readFunction() {
        boolean isLocal = at > 0 && tokens.get(at - 1).equals("local");
        if (!next().equals("(")) {
            at++;
            if (isLocal) {
                declare(tokens.get(at));
            } else {
                use(tokens.get(at));
            }
        }
        Set<String> parameters = new TreeSet<>();
        at++;
        if (!next().equals(")")) {
            parameters.addAll(list());
        }
        at++;
        scopes.push(parameters);
    }

    /** The names that stand here, with commas between them. */
    private List<String> list() {
        List<String> names = new ArrayList<>();
        do {
            names.add(next());
            at++;
        } while (next().equals(",") && ++at > 0);
        return names;
    }

    private String next() {
        return at + 1 < tokens.size() ? tokens.get(at + 1) : "";
    }

    /** Whether a name is that of a field, in an expression or in a table's constructor. */
    private boolean isField() {
        String before = at > 0 ? tokens.get(at - 1) : "";
        return before.equals(".") || before.equals(":") || ("{".equals(brackets.peek()) && next().equals("="));
    }

    private void use(String name) {
        boolean isKnown = KEYWORDS.contains(name)
                || GLOBALS.contains(name)
                || scopes.stream().anyMatch(scope -> scope.contains(name));
        if (!isKnown) {
            free.add(name);
        }
    }

    private void declare(String name) {
        if (!scopes.element().add(name) && scopes.size() == 1 && !name.equals("_")) {
            repeated.add(name);
        }
    }

    private void endLine() {
        declaredByLine.forEach(this::declare);
        declaredByLine.clear();
        if (isUntil) {
            scopes.pop();
            isUntil = false;
        }
    }
}
