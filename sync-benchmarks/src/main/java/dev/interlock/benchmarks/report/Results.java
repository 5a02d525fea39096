package dev.interlock.benchmarks.report;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * All that was measured, and where: what stands in the file.
 *
 * @param environment what it depends on
 * @param earlier those of earlier runs, the latest first, by which scenarios were measured that the last one left out
 * @param absent who couldn't take part, and why
 * @param measurements one per scenario and contestant
 */
public record Results(
        Environment environment,
        List<Environment> earlier,
        Map<String, String> absent,
        List<Measurement> measurements) {

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Copies them. */
    public Results {
        earlier = List.copyOf(earlier);
        absent = new TreeMap<>(absent);
        measurements = List.copyOf(measurements);
    }

    /** Creates those of one run. */
    public static Results of(Environment environment, Map<String, String> absent, List<Measurement> measurements) {
        return new Results(environment, List.of(), absent, measurements);
    }

    /** These, and of others those of the scenarios that these haven't. */
    public Results onto(Results others) {
        var runs = new ArrayList<>(List.of(others.environment));
        runs.addAll(others.earlier);
        var all = new ArrayList<>(others.measurements.stream()
                .filter(one -> of(one.scenario()).isEmpty())
                .toList());
        all.addAll(measurements);
        var everybody = new TreeMap<>(others.absent);
        everybody.putAll(absent);
        var versions = new TreeMap<>(others.environment.versions());
        versions.putAll(environment.versions());
        return new Results(environment.with(versions), runs, everybody, all);
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
