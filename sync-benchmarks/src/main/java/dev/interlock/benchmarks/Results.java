package dev.interlock.benchmarks;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Scores with where they come from, for a file. */
final class Results {

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private Results() {}

    static void write(Path file, Environment environment, List<Score> scores) {
        try {
            Files.writeString(file, json(environment, scores) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String json(Environment environment, List<Score> scores) throws IOException {
        var results = new LinkedHashMap<String, Object>();
        results.put("environment", environment);
        results.put("scores", scores.stream().map(Results::fields).toList());
        return MAPPER.writeValueAsString(results);
    }

    private static Map<String, Object> fields(Score score) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("scenario", score.scenario());
        fields.put("peer", score.peer());
        fields.put("oursMedian", Score.median(score.ours()));
        fields.put("peerMedian", Score.median(score.theirs()));
        fields.put("ratio", score.ratio());
        fields.put("minRatio", score.minRatio());
        fields.put("maxRatio", score.maxRatio());
        fields.put("oursPerRound", score.ours());
        fields.put("peerPerRound", score.theirs());
        if (score.ourWaits() != null && score.theirWaits() != null) {
            fields.put("oursWaits", score.ourWaits());
            fields.put("peerWaits", score.theirWaits());
        }
        return fields;
    }
}
