package dev.interlock.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.util.Map;
import org.knowm.xchart.internal.series.MarkerSeries;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The same colour for the same contestant in every chart; ours is the strongest. */
final class Palette {

    private static final Color OURS = new Color(0xD6, 0x10, 0x28);
    private static final Color UNKNOWN = new Color(0x60, 0x60, 0x60);

    private static final Map<String, Color> PEERS = Map.ofEntries(
            Map.entry("ReentrantLock", new Color(0x20, 0x20, 0x20)),
            Map.entry("round-trip", new Color(0x90, 0x90, 0x90)),
            Map.entry("pubsub-echo", new Color(0xA8, 0xA8, 0xA8)),
            Map.entry("RLock", new Color(0x1F, 0x5F, 0xBF)),
            Map.entry("RFairLock", new Color(0x5B, 0x9B, 0xE6)),
            Map.entry("RSpinLock", new Color(0x9E, 0xC5, 0xF2)),
            Map.entry("SETNX", new Color(0xE6, 0xA1, 0x00)),
            Map.entry("Spring-pubsub", new Color(0x3C, 0x96, 0x3C)),
            Map.entry("Spring-spin", new Color(0x93, 0xC9, 0x7A)),
            Map.entry("Curator", new Color(0x8A, 0x5A, 0x2B)),
            Map.entry("Hazelcast", new Color(0x00, 0x9A, 0xA6)),
            Map.entry("Postgres-advisory", new Color(0x6A, 0x3D, 0x9A)),
            Map.entry("Postgres-row", new Color(0xB3, 0x96, 0xD6)),
            Map.entry("etcd", new Color(0xD8, 0x5C, 0xA8)));

    private static final Marker[] MARKERS = {
        SeriesMarkers.SQUARE, SeriesMarkers.DIAMOND, SeriesMarkers.TRIANGLE_UP, SeriesMarkers.TRIANGLE_DOWN
    };

    private Palette() {}

    static Color of(String contestant) {
        return contestant.startsWith("Interlock") ? OURS : PEERS.getOrDefault(contestant, UNKNOWN);
    }

    /** Gives a line what belongs to its contestant. */
    static void paint(String contestant, MarkerSeries line) {
        boolean isOurs = contestant.startsWith("Interlock");
        line.setLineColor(of(contestant));
        line.setMarkerColor(of(contestant));
        line.setLineStyle(new BasicStroke(isOurs ? 7f : 3f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
        // Whose markers differ can be told apart in print, too.
        line.setMarker(isOurs ? SeriesMarkers.CIRCLE : MARKERS[Math.floorMod(contestant.hashCode(), MARKERS.length)]);
    }
}
