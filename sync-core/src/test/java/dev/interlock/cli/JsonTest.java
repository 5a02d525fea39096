package dev.interlock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** JSON is valid whatever it is made of, and says what it is made of. */
class JsonTest {
    /** JSON is YAML. */
    static Map<String, Object> parsed(String json) {
        return new Yaml().load(json);
    }

    @Test
    void valuesAreWrittenByTheirTypes() {
        Map<String, @Nullable Object> value = new LinkedHashMap<>();
        value.put("number", Long.MAX_VALUE);
        value.put("flag", true);
        value.put("nothing", null);
        value.put("none", List.of());
        value.put("some", Arrays.asList(1, null, "two", Map.of("a", "b")));
        assertThat(Json.of(value))
                .isEqualTo("{\"number\":9223372036854775807,\"flag\":true,\"nothing\":null,\"none\":[],"
                        + "\"some\":[1,null,\"two\",{\"a\":\"b\"}]}");
    }

    @Test
    void stringsAreEscaped() {
        assertThat(Json.of("a \"b\" \\ /")).isEqualTo("\"a \\\"b\\\" \\\\ /\"");
        assertThat(Json.of("\n\t\u0000\u001b\u007f")).isEqualTo("\"\\u000a\\u0009\\u0000\\u001b\\u007f\"");
        assertThat(Json.of("ü\u2028\ud83d\udd12")).isEqualTo("\"\\u00fc\\u2028\\ud83d\\udd12\"");
        assertThat(Json.of(Map.of("\"", ""))).isEqualTo("{\"\\\"\":\"\"}");
    }

    @Test
    void whatIsWrittenIsRead() {
        String every = "\u0001\u001f ~\u0080\u00ff\uffff'\"\\{}[]:,#&*!|>%@`";
        assertThat(parsed(Json.of(Map.of(every, List.of(every))))).isEqualTo(Map.of(every, List.of(every)));
    }

    @Test
    void otherTypesAreRefused() {
        assertThatThrownBy(() -> Json.of(1.5)).isInstanceOf(IllegalArgumentException.class);
    }
}
