package dev.interlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** JSON is one line of ASCII without control characters, and says what it is made of. */
class JsonTest {
    /** JSON is YAML. */
    static Map<String, Object> parsed(String json) {
        return new Yaml().load(json);
    }

    @Test
    void valuesAreWrittenByTheirTypes() {
        Map<String, @Nullable Object> value = new LinkedHashMap<>();
        value.put("number", 1L << 53);
        value.put("flag", true);
        value.put("nothing", null);
        value.put("none", List.of());
        value.put("some", Arrays.asList(1, null, "two", Map.of("a", "b")));
        assertThat(Document.json(value))
                .isEqualTo("{\"number\":9007199254740992,\"flag\":true,\"nothing\":null,\"none\":[],"
                        + "\"some\":[1,null,\"two\",{\"a\":\"b\"}]}");
    }

    @Test
    void whatIsWrittenIsRead() {
        String every = "\u0001\u001b\u001f ~\u007f\u0080\u00ff\u2028\uffff\ud83d\udd12'\"\\{}[]:,#&*!|>%@`\n";
        String json = Document.json(Map.of(every, List.of(every)));
        assertThat(json.chars()).allMatch(c -> c >= ' ' && c <= '~');
        assertThat(parsed(json)).isEqualTo(Map.of(every, List.of(every)));
    }
}
