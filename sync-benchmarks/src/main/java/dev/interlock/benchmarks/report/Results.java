package dev.interlock.benchmarks.report;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * All that a run has measured, and where: what stands in the file.
 *
 * @param environment what it depends on
 * @param absent who couldn't take part, and why
 * @param measurements one per scenario and contestant
 */
public record Results(Environment environment, Map<String, String> absent, List<Measurement> measurements) {

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Copies them. */
    public Results {
        absent = new TreeMap<>(absent);
        measurements = List.copyOf(measurements);
    }

    /** Reads what {@link #write} has written. */
    public static Results read(Path file) {
        try {
            return MAPPER.readValue(Files.readString(file), Results.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the file. */
    public void write(Path file) {
        try {
            Files.writeString(file, MAPPER.writeValueAsString(this) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a contestant did in a scenario. */
    public Optional<Measurement> of(String scenario, String contestant) {
        return measurements.stream()
                .filter(one ->
                        one.scenario().equals(scenario) && one.contestant().equals(contestant))
                .findFirst();
    }

    /** All that took part in a scenario. */
    public List<Measurement> of(String scenario) {
        return measurements.stream()
                .filter(one -> one.scenario().equals(scenario))
                .toList();
    }

    /** Ours in a scenario. */
    public Optional<Measurement> ours(String scenario) {
        return of(scenario).stream().filter(Measurement::ours).findFirst();
    }

    /** Whose measurements there are of a family. */
    public List<Measurement> of(Family family) {
        return measurements.stream().filter(one -> one.family() == family).toList();
    }
}
