package dev.interlock.benchmarks;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Where rounds are played: in this JVM, or in several others. */
interface Site extends AutoCloseable {

    /** Connects a contestant, which takes too long to be part of a round. */
    void open(String contestant);

    /** Plays a round. */
    Tally play(Round round);

    /** What all threads of the site have added up in all rounds. */
    long sum();

    @Override
    void close();

    /**
     * A round, from one instant of the machine-wide clock to another.
     *
     * @param contestant whose round it is
     * @param name what it works on
     * @param threads how many of them, per JVM
     * @param writePercent how many sections in a hundred write, where the lock tells writers from readers
     * @param seed which of them; the same for all contestants
     * @param timed whether to record how long they wait
     * @param stayNanos how long they stay in the section
     */
    record Round(
            String contestant,
            String name,
            int threads,
            int writePercent,
            int seed,
            boolean timed,
            long stayNanos,
            long startNanos,
            long endNanos) {

        static Round parse(String line) {
            String[] words = line.split(" ", -1);
            return new Round(
                    words[1],
                    words[2],
                    Integer.parseInt(words[3]),
                    Integer.parseInt(words[4]),
                    Integer.parseInt(words[5]),
                    Boolean.parseBoolean(words[6]),
                    Long.parseLong(words[7]),
                    Long.parseLong(words[8]),
                    Long.parseLong(words[9]));
        }

        String line() {
            return "play " + contestant + " " + name + " " + threads + " " + writePercent + " " + seed + " " + timed
                    + " " + stayNanos + " " + startNanos + " " + endNanos;
        }
    }

    /**
     * What came of a round.
     *
     * @param perSecond operations per second; each thread ends its last one after the round
     * @param handOffsPerSecond those of them that came after one of another JVM
     * @param booked sections that were booked
     * @param repeats those of them by which a JVM went on although another one was playing, too
     * @param torn sections that others may share, and in which somebody was writing or too many were inside nevertheless
     * @param waits for the sections in nanoseconds, none if they weren't timed
     */
    record Tally(double perSecond, double handOffsPerSecond, long booked, long repeats, long torn, Histogram waits) {

        /** For waits, in nanoseconds and to two digits. */
        static Histogram noWaits() {
            return new Histogram(2);
        }

        static Tally parse(String line) {
            String[] words = line.split(" ", -1);
            return new Tally(
                    Double.parseDouble(words[1]),
                    Double.parseDouble(words[2]),
                    Long.parseLong(words[3]),
                    Long.parseLong(words[4]),
                    Long.parseLong(words[5]),
                    decoded(words[6]));
        }

        static Tally sum(Collection<Tally> tallies) {
            return new Tally(
                    tallies.stream().mapToDouble(Tally::perSecond).sum(),
                    tallies.stream().mapToDouble(Tally::handOffsPerSecond).sum(),
                    tallies.stream().mapToLong(Tally::booked).sum(),
                    tallies.stream().mapToLong(Tally::repeats).sum(),
                    tallies.stream().mapToLong(Tally::torn).sum(),
                    merged(tallies.stream().map(Tally::waits).toList()));
        }

        String line() {
            return "tally " + perSecond + " " + handOffsPerSecond + " " + booked + " " + repeats + " " + torn + " "
                    + encoded(waits);
        }

        private static Histogram merged(List<Histogram> parts) {
            Histogram all = noWaits();
            parts.forEach(all::add);
            return all;
        }

        private static String encoded(Histogram waits) {
            ByteBuffer bytes = ByteBuffer.allocate(waits.getNeededByteBufferCapacity());
            int length = waits.encodeIntoByteBuffer(bytes);
            return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length));
        }

        private static Histogram decoded(String text) {
            return Histogram.decodeFromByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        }
    }
}
