package dev.interlock.testing.rig;

import dev.interlock.testing.Monotonic;
import dev.interlock.testing.rig.Peer.Entry;
import java.time.Duration;
import java.util.List;

/**
 * A JVM whose thread t1 is inside, and others whose t1 waits for that in Redis, one after the other.
 *
 * @param held the holder's entry
 * @param sections what each of them is inside of or waits for, the holder first
 */
public record Queue(Rig rig, String name, Peer holder, Entry held, List<Peer> waiters, List<String> sections) {

    /** Makes a queue of some peers; those that there are no sections for don't do anything yet. */
    static Queue of(Rig rig, String name, List<Peer> peers, String... sections) {
        Entry held = peers.get(0).enter("t1", sections[0]);
        for (int i = 1; i < sections.length; i++) {
            peers.get(i).queue("t1", sections[i], i - 1);
        }
        return new Queue(rig, name, peers.get(0), held, peers.subList(1, peers.size()), List.of(sections));
    }

    /** The first that waits. */
    public Peer first() {
        return waiters.get(0);
    }

    /** The one that waits behind the first. */
    public Peer second() {
        return waiters.get(1);
    }

    /** Kills the holder, and returns when that was. */
    public long killHolder() {
        return kill(holder);
    }

    /** Kills a peer, and returns when that was. */
    public static long kill(Peer peer) {
        long killed = Monotonic.nanos();
        peer.kill();
        return killed;
    }

    /** Stops the holder, and returns when that was. */
    public long stopHolder() {
        long stopped = Monotonic.nanos();
        holder.stop();
        return stopped;
    }

    /** Has the holder leave; returns until when it was inside at least. */
    public long leave() {
        return holder.exit("t1", sections.get(0));
    }

    /** Asserts that a waiter enters within a bound after a moment, with a greater token than the holder had. */
    public Entry assertEnters(Peer waiter, String what, long sinceNanos, Duration bound) {
        Entry entry = waiter.awaitEntry("t1");
        rig.assertTook(what, bound, sinceNanos, entry.nanos());
        entry.assertTokenAfter(held);
        return entry;
    }

    /** As {@link #assertEnters}; it leaves again, and that is the end. */
    public void assertEntersLast(Peer waiter, String what, long sinceNanos, Duration bound) {
        assertEnters(waiter, what, sinceNanos, bound);
        waiter.exit("t1", sections.get(sections.size() - 1));
        rig.leave();
    }
}
