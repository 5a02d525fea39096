package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.contestants.Ledger.Timing;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

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

    private static String joined(Object... words) {
        return Stream.of(words).map(String::valueOf).collect(Collectors.joining(" "));
    }

    /**
     * A round, from one instant of the machine-wide clock to another.
     *
     * @param contestant whose round it is
     * @param name what it works on
     * @param threads how many of them, per JVM
     * @param writePercent how many sections in a hundred write, where the lock tells writers from readers
     * @param seed which of them; the same for all contestants
     * @param timing what is timed
     * @param stayNanos how long they stay in the section
     * @param thinkNanos how long they park after it
     * @param counter file with a number to which each section adds, instead of staying; null if there is none
     */
    record Round(
            String contestant,
            String name,
            int threads,
            int writePercent,
            int seed,
            Timing timing,
            long stayNanos,
            long thinkNanos,
            long startNanos,
            long endNanos,
            @Nullable Path counter) {

        private static final int WORDS = 12;

        static Round parse(String line) {
            String[] words = line.split(" ", WORDS); // the last one may have spaces
            return new Round(
                    words[1],
                    words[2],
                    Integer.parseInt(words[3]),
                    Integer.parseInt(words[4]),
                    Integer.parseInt(words[5]),
                    Timing.valueOf(words[6]),
                    Long.parseLong(words[7]),
                    Long.parseLong(words[8]),
                    Long.parseLong(words[9]),
                    Long.parseLong(words[10]),
                    words[11].isEmpty() ? null : Path.of(words[11]));
        }

        String line() {
            return joined(
                    "play",
                    contestant,
                    name,
                    threads,
                    writePercent,
                    seed,
                    timing,
                    stayNanos,
                    thinkNanos,
                    startNanos,
                    endNanos,
                    counter == null ? "" : counter);
        }
    }

    /**
     * What came of a round.
     *
     * @param perSecond operations per second; each thread ends its last one after the round
     * @param handOffsPerSecond those of them that came after one of another JVM
     * @param operations how many there were
     * @param fewest how many of them the thread with the fewest did
     * @param most how many the one with the most did
     * @param booked sections that were booked
     * @param repeats those of them by which a JVM went on although another one was playing, too
     * @param torn sections that others may share, and in which somebody was writing or too many were inside
     *     nevertheless
     * @param times what was timed, in nanoseconds
     */
    record Tally(
            double perSecond,
            double handOffsPerSecond,
            long operations,
            long fewest,
            long most,
            long booked,
            long repeats,
            long torn,
            Histogram times) {

        /** That of one thread. */
        static Tally of(long operations, double seconds, Ledger ledger) {
            return new Tally(
                    operations / seconds,
                    ledger.handOffs() / seconds,
                    operations,
                    operations,
                    operations,
                    ledger.booked(),
                    ledger.repeats(),
                    ledger.torn(),
                    ledger.times());
        }

        static Tally parse(String line) {
            String[] words = line.split(" ", -1);
            return new Tally(
                    Double.parseDouble(words[1]),
                    Double.parseDouble(words[2]),
                    Long.parseLong(words[3]),
                    Long.parseLong(words[4]),
                    Long.parseLong(words[5]),
                    Long.parseLong(words[6]),
                    Long.parseLong(words[7]),
                    Long.parseLong(words[8]),
                    decoded(words[9]));
        }

        static Tally sum(Collection<Tally> tallies) {
            return new Tally(
                    tallies.stream().mapToDouble(Tally::perSecond).sum(),
                    tallies.stream().mapToDouble(Tally::handOffsPerSecond).sum(),
                    sum(tallies, Tally::operations),
                    tallies.stream().mapToLong(Tally::fewest).min().orElse(0),
                    tallies.stream().mapToLong(Tally::most).max().orElse(0),
                    sum(tallies, Tally::booked),
                    sum(tallies, Tally::repeats),
                    sum(tallies, Tally::torn),
                    merged(tallies.stream().map(Tally::times).toList()));
        }

        private static long sum(Collection<Tally> tallies, ToLongFunction<Tally> figure) {
            return tallies.stream().mapToLong(figure).sum();
        }

        String line() {
            return joined(
                    "tally",
                    perSecond,
                    handOffsPerSecond,
                    operations,
                    fewest,
                    most,
                    booked,
                    repeats,
                    torn,
                    encoded(times));
        }

        private static Histogram merged(List<Histogram> parts) {
            Histogram all = Ledger.noTimes();
            parts.forEach(all::add);
            return all;
        }

        private static String encoded(Histogram times) {
            ByteBuffer bytes = ByteBuffer.allocate(times.getNeededByteBufferCapacity());
            int length = times.encodeIntoByteBuffer(bytes);
            return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length));
        }

        private static Histogram decoded(String text) {
            return Histogram.decodeFromByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        }
    }
}
