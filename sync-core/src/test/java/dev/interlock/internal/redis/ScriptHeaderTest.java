package dev.interlock.internal.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every script's header says what its body does. */
class ScriptHeaderTest {

    private static final String SOUND = """
            -- Does what it should.
            --
            -- KEYS[1] lock     hash    the owner
            -- KEYS[2] mark     string  the last sequence
            -- ARGV[1] owner            who asks
            -- ARGV[2] lease            ms
            -- ARGV[3] publish          a verb
            -- Reply: {1}
            -- Idempotent by: owner
            local lock, mark = KEYS[1], KEYS[2]
            local owner, lease, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3]

            -- @include give

            give({ lock = lock, lease = lease }, owner)
            redis.call('set', mark, owner, 'px', lease)
            redis.call(publish, 'channel', 0)
            return { 1 }
            """;
    private static final String GIVE = """
            -- Gives give and takeBack: they change the owner.

            -- @include session/clock

            local function give(name, owner)
              redis.call('hset', name.lock, owner, clock())
              redis.call('pexpire', name.lock, name.lease)
            end

            local function takeBack(name, owner)
              redis.call('hdel', name.lock, owner)
            end
            """;

    private static final String CLOCK = """
            -- Gives clock: the time.

            local function clock()
              return redis.call('time')[1]
            end
            """;

    static Stream<String> resources() {
        Path folder = luaFolder();
        try (Stream<Path> files = Files.walk(folder)) {
            List<String> names = files.map(folder::relativize)
                    .map(Path::toString)
                    .filter(name -> name.endsWith(".lua"))
                    .map(name -> name.substring(0, name.length() - 4).replace('\\', '/'))
                    .sorted()
                    .toList();
            return names.stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path luaFolder() {
        try {
            return Path.of(Resources.getResource("dev/interlock/lua").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static LuaSource source(String name) {
        return new LuaSource(name, read(name), ScriptHeaderTest::read);
    }

    private static String read(String name) {
        Path file = luaFolder().resolve(name + ".lua");
        if (Files.notExists(file)) {
            throw new IllegalArgumentException(name);
        }
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A native image has only the resources that this file names. */
    @ParameterizedTest
    @MethodSource("resources")
    void nativeImageHasTheScript(String name) throws IOException {
        String config = Resources.toString(
                Resources.getResource("META-INF/native-image/dev.interlock/sync-core/resource-config.json"), UTF_8);
        Matcher pattern = Pattern.compile("\"pattern\": \"(.*?)\"").matcher(config);
        assertThat(pattern.find()).isTrue();
        assertThat("dev/interlock/lua/" + name + ".lua")
                .matches(pattern.group(1).replace("\\\\", "\\"));
    }

    /** Header and body of every script agree, and each name comes from there or from what is included there. */
    @ParameterizedTest
    @MethodSource("resources")
    void headerAndBodyAgree(String name) {
        assertThat(source(name).complaints()).isEmpty();
    }

    /** What Java takes from a command's header, in order to refuse a wrong call, is what the header says. */
    @ParameterizedTest
    @MethodSource("resources")
    void javaReadsTheSameHeader(String name) {
        LuaSource source = source(name);
        Script script = Script.load(name);
        assertThat(script.keys()).containsExactlyElementsOf(source.keys().keySet());
        assertThat(script.arguments()).isEqualTo(source.arguments());
        assertThat(script.text()).doesNotContain("@include");
    }

    /** Java and the scripts mean the same channel. */
    @Test
    void mailboxIsTheSameToJavaAndToLua() {
        assertThat(read("session/include/mailbox")).contains("local mailbox = '" + RedissonMailbox.CHANNEL + "'");
    }

    /** The order on which the callers rely, who pass keys and arguments by position. */
    @Test
    void orderIsTheOneThatCallersPass() {
        assertThat(source("lock/acquire").keys().keySet())
                .containsExactly(
                        "lock", "queue", "waiters", "token", "turns", "mark", "conditions", "signals", "readers");
        assertThat(source("lock/acquire").arguments())
                .containsExactly("session", "tickets", "lease", "enqueue", "earlier", "floor", "used", "heartbeat");
        assertThat(source("lock/release").keys().keySet())
                .containsExactly(
                        "lock", "queue", "waiters", "token", "turns", "mark", "conditions", "signals", "readers");
        assertThat(source("lock/release").arguments())
                .containsExactly(
                        "session", "sequence", "lease", "floor", "channel", "publish", "used", "first", "operations");
        assertThat(source("lock/renew").keys().keySet()).containsExactly("lock", "queue", "waiters", "readers");
        assertThat(source("lock/renew").arguments())
                .containsExactly("session", "sequence", "lease", "channel", "publish");
        assertThat(source("lock/inspect").keys().keySet()).containsExactly("lock");
        assertThat(source("lock/inspect").arguments()).isEmpty();
    }

    /** No resource is left out: there are scripts and includes, and each include is included by some script. */
    @Test
    void everyIncludeIsIncluded() {
        List<LuaSource> sources = resources().map(ScriptHeaderTest::source).toList();
        List<String> includes =
                resources().filter(name -> name.contains("/include/")).toList();
        assertThat(includes).isNotEmpty();
        assertThat(sources).hasSizeGreaterThan(includes.size());
        assertThat(sources.stream()
                        .flatMap(source -> source.includes().stream())
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(includes);
    }

    /** A call with too few or too many keys or arguments is refused before it reaches Redis. */
    @Test
    void wrongArityIsRefused() {
        Script renew = Script.load("lock/renew");
        List<Object> keys = List.of("lock", "queue", "waiters", "readers");
        assertThat(renew.on(keys, "session", 1, 2, "channel", "publish").keys).isEqualTo(keys);
        assertThatThrownBy(() -> renew.on(keys, "session", 1, 2, "channel"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("lock/renew takes KEYS " + renew.keys() + " and ARGV " + renew.arguments());
        assertThatThrownBy(() -> renew.on(keys, "session", 1, 2, "channel", "publish", "more"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> renew.on(keys.subList(0, 3), "session", 1, 2, "channel", "publish"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void soundScriptGivesNoCauseForComplaint() {
        assertThat(complaints(SOUND, GIVE)).isEmpty();
    }

    /** The check can fail: each of these changes to a sound script is found. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            -- KEYS[2] mark            | -- KEYS[3] mark              | KEYS[3] is declared where KEYS[2] is due
            -- ARGV[2] lease           | -- ARGV[4] lease             | ARGV[4] is declared where ARGV[2] is due
            -- KEYS[2] mark     string | -- KEYS[2] mark              | not a declaration
            -- KEYS[2] mark            | -- KEYS[2] lock              | two KEYS are called lock
            -- ARGV[2] lease           | -- ARGV[2] owner             | the name owner is declared twice
            -- ARGV[1] owner           | -- ARGV[1] session           | the header wants the locals
            -- ARGV[1] owner           | -- ARGV[1] now               | the client's clock is handed in as now
            -- KEYS[1] lock     hash   | -- KEYS[1] lock     zset     | lock is declared as a zset
            -- Reply: {1}              | -- Answer: {1}               | the header doesn't say 'Reply:'
            -- Idempotent by: owner    | --                           | the header doesn't say 'Idempotent by:'
            -- Does what               | -- does what                 | doesn't begin with what the script does
            -- @include give           | -- @include ../give          | not an include: -- @include ../give
            KEYS[1], KEYS[2]           | KEYS[2], KEYS[1]             | the header wants the locals
            local lock, mark           | local mark, lock             | the header wants the locals
            tonumber(ARGV[2])          | ARGV[2] .. ''                | the header wants the locals
            , ARGV[3]                  | ``                           | the header wants the locals
            }, owner)                  | }, ARGV[1])                  | ARGV is used after it was bound
            'set', mark                | 'set', 'mark'                | not a declared key: 'mark'
            'set', mark                | 'set', lock .. ':mark'       | not a declared key
            'set', mark                | 'get', lock                  | lock is declared as a hash
            'set', mark                | 'exists', lock               | no command touches [mark]
            'set', mark                | owner, mark                  | the client says which command runs
            redis.call('set'           | redis.pcall('set'            | Redis is called by redis.pcall
            }, owner)                  | }, holder)                   | neither this nor its includes define [holder]
            -- @include give           | -- @include grant            | no file to include lock/include/grant from
            -- @include give           | --                           | neither this nor its includes define [give]
            give({                     | clock({                      | nothing of lock/include/give is used
            give({                     | clock({                      | neither this nor its includes define [clock]
            lock = lock,               | lock = mark,                 | the field lock isn't the key lock
            """)
    void changeToTheScriptIsFound(String sound, String changed, String complaint) {
        assertThat(SOUND).contains(sound);
        assertThat(complaints(SOUND.replace(sound, changed), GIVE))
                .anySatisfy(found -> assertThat(found).contains(complaint));
    }

    /** The check can fail: each of these changes to a sound include is found. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            -- Gives give              | -- Has give                  | doesn't say what it gives
            -- Gives give              | -- Gives grant               | it says that it gives [grant]
            -- @include session/clock  | --                           | neither this nor its includes define [clock]
            -- @include session/clock  | -- @include clock            | no file to include lock/include/clock from
            , clock())                 | )                            | nothing of session/include/clock is used
            give(name, owner)          | give(name)                   | neither this nor its includes define [owner]
            takeBack(name, owner)      | takeBack(owner)              | neither this nor its includes define [name]
            , name.lease               | , lease                      | neither this nor its includes define [lease]
            , name.lease               | , ARGV[1]                    | ARGV is used in an include
            local function give        | function give                | neither this nor its includes define [give]
            local function takeBack    | local function clock         | declared more than once: [clock]
            """)
    void changeToTheIncludeIsFound(String sound, String changed, String complaint) {
        assertThat(GIVE).contains(sound);
        String give = GIVE.replace(sound, changed);
        assertThat(new LuaSource("lock/include/give", give, of(GIVE)).complaints())
                .anySatisfy(found -> assertThat(found).contains(complaint));
    }

    @Test
    void soundIncludeGivesNoCauseForComplaint() {
        assertThat(new LuaSource("lock/include/give", GIVE, of(GIVE)).complaints())
                .isEmpty();
    }

    private static List<String> complaints(String script, String give) {
        return new LuaSource("lock/script", script, of(give)).complaints();
    }

    private static UnaryOperator<String> of(String give) {
        Map<String, String> texts = Map.of("lock/include/give", give, "session/include/clock", CLOCK);
        return name -> {
            if (!texts.containsKey(name)) {
                throw new IllegalArgumentException(name);
            }
            return texts.get(name);
        };
    }
}
