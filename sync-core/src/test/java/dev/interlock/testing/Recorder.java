package dev.interlock.testing;

import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what a session tells. */
public class Recorder implements SyncListener {
    public enum Kind {
        ACQUIRED_LOCALLY,
        ACQUIRED_REMOTELY,
        RELEASED,
        HANDED_OFF,
        RENEWED,
        RENEWAL_FAILED,
        UNANSWERED,
        LOST,
        LOST_UNNOTICED,
        UNREACHABLE,
        REACHABLE
    }

    /** Something that was told, when, and with which number. */
    public record Event(Kind kind, String name, long nanos, long atNanos) {}

    private final List<Event> events = new CopyOnWriteArrayList<>();

    private void add(Kind kind, String name, long nanos) {
        events.add(new Event(kind, name, nanos, Monotonic.nanos()));
    }

    public List<Event> of(Kind kind) {
        return events.stream().filter(event -> event.kind == kind).toList();
    }

    public int count(Kind kind) {
        return of(kind).size();
    }

    @Override
    public void acquired(String name, long waitedNanos, boolean local) {
        add(local ? Kind.ACQUIRED_LOCALLY : Kind.ACQUIRED_REMOTELY, name, waitedNanos);
    }

    @Override
    public void released(String name, long tenureNanos) {
        add(Kind.RELEASED, name, tenureNanos);
    }

    @Override
    public void handedOff(String name) {
        add(Kind.HANDED_OFF, name, 0);
    }

    @Override
    public void renewed(String name, long validNanos) {
        add(Kind.RENEWED, name, validNanos);
    }

    @Override
    public void renewalFailed(String name, long validNanos, Throwable cause) {
        add(Kind.RENEWAL_FAILED, name, validNanos);
    }

    @Override
    public void unanswered(String name, long waitedNanos) {
        add(Kind.UNANSWERED, name, waitedNanos);
    }

    @Override
    public void lost(LeaseLostException loss) {
        add(Kind.LOST, loss.lockName(), 0);
    }

    @Override
    public void lostUnnoticed(LeaseLostException loss) {
        add(Kind.LOST_UNNOTICED, loss.lockName(), loss.fencingToken());
    }

    @Override
    public void redisUnreachable(Throwable cause) {
        add(Kind.UNREACHABLE, "", 0);
    }

    @Override
    public void redisReachable(long outageNanos) {
        add(Kind.REACHABLE, "", outageNanos);
    }
}
