package dev.interlock.internal.quorum;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.quorum.QuorumEffect.Expire;
import dev.interlock.internal.quorum.QuorumEffect.GiveUp;
import dev.interlock.internal.quorum.QuorumEffect.Heard;
import dev.interlock.internal.quorum.QuorumEffect.Lost;
import dev.interlock.internal.quorum.QuorumEffect.Report;
import dev.interlock.internal.quorum.QuorumEffect.WriteBack;
import dev.interlock.internal.quorum.QuorumScripts.Released;
import dev.interlock.internal.quorum.QuorumSession.QuorumNode;
import dev.interlock.internal.quorum.QuorumState.Unreleased;
import dev.interlock.internal.quorum.QuorumTenure.Renewal;
import dev.interlock.internal.quorum.VoteRound.Request;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.Resource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of one quorum lock, as events see it: owns the {@link QuorumState}, the state of a {@link Resource},
 * brings it what happens, and carries out its effects.
 */
final class QuorumMonitor implements Resource.Owner<QuorumState> {
    private final QuorumSession session;
    private final List<QuorumNode> nodes;
    private final QuorumScripts scripts;
    private final String name;
    private final Runnable changed;
    private final Consumer<LeaseLostException> whenLost;
    private final Resource<QuorumState> resource;

    /** For what is volatile. */
    private final QuorumState state;

    /** The last release of a tenure or a request; used in events only. */
    private @Nullable QuorumRelease latest;

    /**
     * Begins with nothing.
     *
     * @param changed runs when the leader has to look at the state again
     * @param whenLost is told if a tenure is lost
     */
    QuorumMonitor(QuorumSession session, String name, Runnable changed, Consumer<LeaseLostException> whenLost) {
        this.session = session;
        this.nodes = session.nodes();
        this.scripts = new QuorumScripts(session, name);
        this.name = name;
        this.changed = changed;
        this.whenLost = whenLost;
        this.state = new QuorumState(name, session.settings(), nodes.size(), session.majority());
        this.resource = new Resource<>(session, scripts.key(), state, this);
    }

    /** Returns the key that messages about this lock carry. */
    String key() {
        return scripts.key();
    }

    @Nullable
    QuorumTenure tenure() {
        return state.tenure();
    }

    /** An event happens. Returns its answer. */
    <R extends @Nullable Object> R call(Function<QuorumState, R> event) {
        return resource.<R>call((known, now) -> event.apply(known));
    }

    /** As {@link #call}, for what returns nothing. */
    void run(Consumer<QuorumState> event) {
        resource.run((known, now) -> event.accept(known));
    }

    @Override
    public void carryOut(QuorumState known, long now) {
        for (QuorumEffect next = known.effects.poll(); next != null; next = known.effects.poll()) {
            carryOut(next);
        }
    }

    private void carryOut(QuorumEffect effect) {
        if (effect instanceof WriteBack back) {
            resource.later(() -> writeBack(back.round(), back.node()));
        } else if (effect instanceof GiveUp vote) {
            // Sent once: the next round implies it, and so does the end of the wait.
            Request request = vote.round().request;
            resource.later(
                    () -> scripts.release(nodes.get(vote.node()), request.sequence(), request.leaseMillis(), false));
        } else if (effect instanceof Heard) {
            session.outage().heard();
        } else if (effect instanceof Expire expire) {
            session.schedule(() -> run(known -> expire.tenure().expire(session.now())), expire.millis());
        } else if (effect instanceof Lost lost) {
            resource.later(() -> whenLost.accept(lost.loss()));
        } else if (effect instanceof Report report) {
            report(report.leftNanos(), report.failure());
        } else {
            resource.later(changed);
        }
    }

    private void writeBack(VoteRound round, int node) {
        Request request = round.request;
        long millis = request.renewed() ? request.leaseMillis() : 0;
        scripts.renew(nodes.get(node), request.sequence(), millis, round.token())
                .whenComplete((kept, thrown) -> run(known -> round.wroteBack(node, kept, thrown)));
    }

    private void report(long leftNanos, @Nullable Throwable failure) {
        if (failure == null) {
            session.renewer().renewed(name, leftNanos);
        } else {
            session.renewer().renewalFailed(name, leftNanos, failure);
        }
    }

    // ---- what goes to all nodes

    private void toAll(IntConsumer command) {
        resource.later(() -> IntStream.range(0, nodes.size()).forEach(command));
    }

    /** Asks all nodes for their votes. */
    VoteRound ask(long leaseMillis, boolean renewed, boolean waits) {
        return call(known -> {
            VoteRound round = known.ask(session.nextSequence(), leaseMillis, renewed, waits, session.now());
            toAll(node -> scripts.acquire(nodes.get(node), round.request)
                    .whenComplete((vote, thrown) -> run(after -> after.answered(round, node, vote, thrown))));
            return round;
        });
    }

    /** Notices a lease that is over soon, and renews it at all nodes when that is due. */
    void keep(QuorumTenure tenure, long now) {
        run(known -> {
            Renewal renewal = tenure.keep(now);
            if (renewal != null) {
                renew(tenure, renewal);
            }
        });
    }

    /** Renews it at once. The result completes when a majority has answered, or can't. */
    CompletableFuture<?> confirm(QuorumTenure tenure) {
        return call(known -> {
            Renewal renewal = tenure.renew(session.now());
            if (renewal == null) {
                return CompletableFuture.completedFuture(null);
            }
            return renew(tenure, renewal);
        });
    }

    @CanIgnoreReturnValue
    private CompletableFuture<?> renew(QuorumTenure tenure, Renewal renewal) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        long token = tenure.tokens.remotePart();
        toAll(node -> scripts.renew(nodes.get(node), tenure.sequence, tenure.renewedMillis(), token)
                .whenComplete((kept, thrown) -> {
                    if (call(known -> renewal.answered(
                            node, kept, thrown, session.settings().suspensions().look()))) {
                        done.complete(null);
                    }
                }));
        long millis = TimeUnit.NANOSECONDS.toMillis(tenure.patienceNanos()) + 1;
        session.schedule(
                () -> {
                    run(known -> renewal.end(session.now()));
                    done.complete(null);
                },
                millis);
        return done;
    }

    /** Asks who owns the name, and waits for the answers, one command time-out at most. */
    OwnerQuery inspect() {
        OwnerQuery query = new OwnerQuery(nodes.size(), session.majority());
        nodes.forEach(node -> scripts.inspect(node)
                .whenComplete((owner, failure) -> run(known -> {
                    if (failure == null) {
                        query.answered(owner);
                    } else {
                        query.failed(failure);
                    }
                })));
        session.await(query.done);
        return query;
    }

    /** Releases all requests. Returns null if there are none. */
    @Nullable
    QuorumRelease release() {
        return resource.<@Nullable QuorumRelease>call((known, now) -> {
            Unreleased requests = known.release();
            if (requests == null) {
                return null;
            }
            QuorumRelease last = latest;
            QuorumRelease next = last == null ? newRelease(requests) : last.including(requests, now);
            latest = next;
            return send(next);
        });
    }

    /** Releases all requests because the session is closed. Completes when all nodes have confirmed that. */
    CompletableFuture<?> close() {
        return call(known -> {
            Unreleased requests = known.unreleased();
            return requests == null ? CompletableFuture.completedFuture(null) : send(newRelease(requests)).everywhere;
        });
    }

    private QuorumRelease newRelease(Unreleased requests) {
        return new QuorumRelease(requests, nodes.size(), session.majority(), session.now());
    }

    private QuorumRelease send(QuorumRelease release) {
        session.expect(release, release.everywhere);
        toAll(node -> {
            Entry entry = new Entry(release, node);
            entry.send();
            nodes.get(node).backlog().add(entry);
        });
        return release;
    }

    /** A release that the backlog of a node repeats. */
    private final class Entry implements Backlog.Entry {
        private final QuorumRelease release;
        private final int node;

        Entry(QuorumRelease release, int node) {
            this.release = release;
            this.node = node;
        }

        @Override
        public boolean isOver() {
            return call(known -> release.isOver(node, session.now()));
        }

        @Override
        public boolean isDue(long now) {
            return call(known -> release.isDue(node, now, session.settings().silenceNanos()));
        }

        @Override
        public CompletableFuture<Released> send() {
            run(known -> release.sent(node, session.now(), session.isClosed()));
            return scripts.release(nodes.get(node), release.sequence, release.leaseMillis, true)
                    .whenComplete(this::answered);
        }

        private void answered(@Nullable Released released, @Nullable Throwable failure) {
            boolean isSettled = call(known -> release.answered(node, released, session.now()));
            if (released != null) {
                nodes.get(node).backlog().heard();
            } else if (failure != null && (isSettled || !Failures.isTransient(failure)) && !session.isClosed()) {
                resource.refused(failure);
            }
        }
    }
}
