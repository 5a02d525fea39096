package dev.interlock.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntFunction;

/** Several children of one kind. */
public final class Fleet implements AutoCloseable, Iterable<ChildJvm> {

    private final List<ChildJvm> children;

    private Fleet(List<ChildJvm> children) {
        this.children = List.copyOf(children);
    }

    /** Starts children of one main class with equal arguments, side by side. */
    public static Fleet start(int size, Class<?> mainClass, String... arguments) {
        return start(size, index -> ChildJvm.of(mainClass).arguments(arguments));
    }

    /** Starts children, each described on its own, side by side. */
    public static Fleet start(int size, IntFunction<ChildJvm.Builder> childAt) {
        var started = new ArrayList<ChildJvm>();
        try {
            for (int i = 0; i < size; i++) {
                started.add(childAt.apply(i).start());
            }
        } catch (RuntimeException e) {
            started.forEach(ChildJvm::close);
            throw e;
        }
        return new Fleet(started);
    }

    /** The number of children, dead ones included. */
    public int size() {
        return children.size();
    }

    /** The child with an index from 0. */
    public ChildJvm get(int index) {
        return children.get(index);
    }

    /** Sends a line to every child that is alive. */
    public void send(String line) {
        children.stream().filter(ChildJvm::isAlive).forEach(child -> child.send(line));
    }

    /**
     * Waits until every child, those alive and those not, has said a line that starts with a prefix.
     *
     * @param timeout for all of them together
     * @return the lines, by index
     * @throws AssertionError with the output of the first child that fails to
     */
    public List<String> awaitAll(String prefix, Duration timeout) {
        long deadlineNanos = System.nanoTime() + timeout.toNanos();
        return children.stream()
                .map(child -> child.await(prefix, Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()))))
                .toList();
    }

    @Override
    public Iterator<ChildJvm> iterator() {
        return children.iterator();
    }

    /** Kills all children. */
    @Override
    public void close() {
        children.forEach(ChildJvm::destroy); // all of them, before one that does not end can get in the way
        children.forEach(ChildJvm::close);
    }
}
