package dev.interlock.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.util.Map;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The same colour for the same contestant in every chart; ours is the strongest. */
final class Palette {

    private static final Color OURS = new Color(0xD6, 0x10, 0x28);
    private static final Color UNKNOWN = new Color(0x60, 0x60, 0x60);

    private static final Map<String, Color> PEERS = Map.ofEntries(
            Map.entry(Charts.CONTENDED, new Color(0xE6, 0x7E, 0x00)),
            Map.entry(Charts.UNCONTENDED, new Color(0x60, 0x78, 0x90)),
            Map.entry("ReentrantLock", new Color(0x20, 0x20, 0x20)),
            Map.entry("JDK", new Color(0x20, 0x20, 0x20)),
            Map.entry("Interlock-adapted", new Color(0xF2, 0x9A, 0xA4)),
            Map.entry("Redisson", new Color(0x1F, 0x5F, 0xBF)),
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

    static boolean isOurs(String name) {
        return name.startsWith("Interlock") || name.equals(Charts.RETAINED);
    }

    /** Gives a line or bar what belongs to its contestant. */
    static void paint(String name, CategorySeries series) {
        Color colour = PEERS.getOrDefault(name, isOurs(name) ? OURS : UNKNOWN);
        series.setFillColor(colour);
        series.setLineColor(colour);
        series.setMarkerColor(colour);
        series.setLineStyle(new BasicStroke(isOurs(name) ? 7f : 3f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
        // Whose markers differ can be told apart in print, too.
        series.setMarker(isOurs(name) ? SeriesMarkers.CIRCLE : MARKERS[Math.floorMod(name.hashCode(), MARKERS.length)]);
    }
}
