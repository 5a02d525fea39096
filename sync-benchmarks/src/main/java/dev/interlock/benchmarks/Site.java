package dev.interlock.benchmarks;

import java.util.Collection;

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
     */
    record Round(String contestant, String name, int threads, long startNanos, long endNanos) {

        static Round parse(String line) {
            String[] words = line.split(" ", -1);
            return new Round(
                    words[1], words[2], Integer.parseInt(words[3]), Long.parseLong(words[4]), Long.parseLong(words[5]));
        }

        String line() {
            return "play " + contestant + " " + name + " " + threads + " " + startNanos + " " + endNanos;
        }
    }

    /**
     * What came of a round.
     *
     * @param perSecond operations per second; each thread ends its last one after the round
     * @param booked sections that were booked
     */
    record Tally(double perSecond, long booked) {

        static Tally parse(String line) {
            String[] words = line.split(" ", -1);
            return new Tally(Double.parseDouble(words[1]), Long.parseLong(words[2]));
        }

        static Tally sum(Collection<Tally> tallies) {
            return new Tally(
                    tallies.stream().mapToDouble(Tally::perSecond).sum(),
                    tallies.stream().mapToLong(Tally::booked).sum());
        }

        String line() {
            return "tally " + perSecond + " " + booked;
        }
    }
}
