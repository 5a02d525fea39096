package dev.interlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The properties that editors offer are those that there are. */
class MetadataTest {
    private static final String FILE = "/META-INF/spring-configuration-metadata.json";

    @Test
    void thePropertiesAreDescribed() throws IOException {
        Map<String, String> described = new TreeMap<>();
        try (InputStream file = MetadataTest.class.getResourceAsStream(FILE)) {
            for (JsonNode property : JsonMapper.shared().readTree(file).get("properties")) {
                String name = property.get("name").asString();
                assertThat(ConfigurationPropertyName.isValid(name)).as(name).isTrue();
                assertThat(property.get("description").asString()).as(name).endsWith(".");
                if (name.startsWith("interlock.")) {
                    described.put(name, property.get("type").asString());
                }
            }
        }
        Map<String, String> bound = new TreeMap<>();
        collect("interlock.", InterlockProperties.class, bound);
        assertThat(described).isEqualTo(bound);
    }

    private static void collect(String prefix, Class<?> type, Map<String, String> into) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name =
                    prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            if (component.getType().isRecord()) {
                collect(name + ".", component.getType(), into);
            } else {
                String declared = component.getType().getName();
                into.put(name, declared.equals("boolean") ? Boolean.class.getName() : declared);
            }
        }
    }
}
