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
import java.util.stream.Stream;

/**
 * All that was measured, and where: what stands in the file.
 *
 * @param environment what it depends on
 * @param earlier those of earlier runs, the latest first, by which scenarios were measured that the last one left out
 * @param absent who couldn't take part, and why
 * @param measurements one per scenario and contestant
 * @param repeated the same of scenarios that were played once more, since their rounds left open what is asked for
 */
public record Results(
        Environment environment,
        List<Environment> earlier,
        Map<String, String> absent,
        List<Measurement> measurements,
        List<Measurement> repeated) {

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Copies them; older files have nothing that was repeated. */
    public Results {
        earlier = List.copyOf(earlier);
        absent = new TreeMap<>(absent);
        measurements = List.copyOf(measurements);
        repeated = repeated == null ? List.of() : List.copyOf(repeated);
    }

    /** Creates those of one run. */
    public static Results of(
            Environment environment,
            Map<String, String> absent,
            List<Measurement> measurements,
            List<Measurement> repeated) {
        return new Results(environment, List.of(), absent, measurements, repeated);
    }

    /** What was played once more, and nothing else. */
    public Results again() {
        return of(environment, absent, repeated, List.of());
    }

    /** These, and of others those of the scenarios that these haven't. */
    public Results onto(Results others) {
        var runs = new ArrayList<>(List.of(others.environment));
        runs.addAll(others.earlier);
        var everybody = new TreeMap<>(others.absent);
        everybody.putAll(absent);
        var versions = new TreeMap<>(others.environment.versions());
        versions.putAll(environment.versions());
        return new Results(
                environment.with(versions),
                runs,
                everybody,
                replaced(others.measurements, measurements),
                replaced(others.repeated, repeated));
    }

    private List<Measurement> replaced(List<Measurement> older, List<Measurement> newer) {
        return Stream.concat(older.stream().filter(one -> of(one.scenario()).isEmpty()), newer.stream())
                .toList();
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

    /** Ours over the peer's in a scenario; nothing if only one of them was measured, or neither. */
    public Optional<Ratio> ratio(String scenario, String peer, Figure figure) {
        return ours(scenario).flatMap(ours -> of(scenario, peer).flatMap(theirs -> Ratio.of(figure, ours, theirs)));
    }

    /** Whose measurements there are of a family. */
    public List<Measurement> of(Family family) {
        return measurements.stream().filter(one -> one.family() == family).toList();
    }
}
