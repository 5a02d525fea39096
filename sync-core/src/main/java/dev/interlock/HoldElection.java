package dev.interlock;

import static java.util.Objects.requireNonNull;

import dev.interlock.election.Candidate;
import dev.interlock.election.Election;
import dev.interlock.election.TermListener;
import dev.interlock.election.TermTask;
import dev.interlock.internal.election.Candidacy;
import dev.interlock.internal.redis.Keys;
import dev.interlock.ops.NameView;
import java.util.Optional;

/** An election whose leader has the hold of a name. */
final class HoldElection implements Election {
    private final Interlock interlock;
    private final String name;
    private final String by;

    /**
     * Creates it.
     *
     * @param by the text of {@link #as}, or the empty string
     */
    HoldElection(Interlock interlock, String name, String by) {
        this.interlock = interlock;
        this.name = name;
        this.by = by;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Election as(String candidate) {
        Keys.checkName("candidate", candidate);
        return new HoldElection(interlock, name, candidate);
    }

    @Override
    public Candidate run(TermTask work) {
        return stand(Candidacy.listener(requireNonNull(work, "work")));
    }

    @Override
    public Candidate stand(TermListener listener) {
        requireNonNull(listener, "listener");
        Holds holds = interlock.holds();
        Candidacy candidacy = new Candidacy(holds.session(), holds.queue(PREFIX + name), name, by, listener);
        interlock.add(candidacy);
        candidacy.stand();
        return candidacy;
    }

    @Override
    public Optional<Leader> leader() {
        return interlock.operator().inspect(PREFIX + name).stream()
                .flatMap(view -> view.holders().stream())
                .filter(holder -> holder.state() == NameView.State.INSIDE || holder.state() == NameView.State.SILENT)
                .map(holder -> new Leader(
                        holder.session(), holder.sessionName(), holder.thread(), holder.token(), holder.age()))
                .findFirst();
    }

    @Override
    public String toString() {
        return PREFIX + name;
    }
}
