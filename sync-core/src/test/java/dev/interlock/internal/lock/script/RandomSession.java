package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.LockCommand.Acquire;
import dev.interlock.internal.lock.script.LockCommand.Downgrade;
import dev.interlock.internal.lock.script.LockCommand.Release;
import dev.interlock.internal.lock.script.LockCommand.Renew;
import dev.interlock.internal.lock.script.LockModel.Party;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** A session of a random program, which chooses its next command by what it knows, or against it. */
abstract sealed class RandomSession {
    final Contender by;
    final long leaseMillis;
    final Random random;
    long last;

    private RandomSession(Contender by, long leaseMillis, Random random) {
        this.by = by;
        this.leaseMillis = leaseMillis;
        this.random = random;
    }

    abstract LockCommand next();

    /** Takes note of a reply, or doesn't. */
    abstract void hear(Request request, Answer answer);

    final Party party(long sequence) {
        return new Party(by, sequence);
    }

    /** One ticket at a time; the next one implies the release of the one before, or continues it. */
    static final class Plain extends RandomSession {
        private final Map<Long, Request> requests = new HashMap<>();

        Plain(Contender by, long leaseMillis, Random random) {
            super(by, leaseMillis, random);
        }

        @Override
        LockCommand next() {
            int choice = random.nextInt(10);
            long sequence = last - random.nextInt(3);
            Request old = requests.get(sequence);
            if (choice < 4 || old == null) {
                last++;
                Request request = by.request(last).lease(leaseMillis);
                request = random.nextInt(4) == 0 ? request.once() : request;
                request = random.nextInt(3) == 0 ? request.continuing(last - 1) : request;
                requests.put(last, request);
                return new Acquire(request);
            }
            return choice < 6
                    ? new Acquire(old)
                    : choice < 9 ? new Release(party(sequence), List.of(), false) : new Renew(party(sequence));
        }

        @Override
        void hear(Request request, Answer answer) {}
    }

    /** One ticket at a time, as above, but most of them only read; and who has written may read on. */
    static final class Sharing extends RandomSession {
        private final Map<Long, Request> requests = new HashMap<>();
        private long tenure;

        Sharing(Contender by, long leaseMillis, Random random) {
            super(by, leaseMillis, random);
        }

        @Override
        LockCommand next() {
            int choice = random.nextInt(100);
            Request old = requests.get(last - random.nextInt(3));
            if (choice < 40 || old == null) {
                last++;
                Request request = by.request(last).lease(leaseMillis);
                request = random.nextInt(3) == 0 ? request : request.reading();
                request = random.nextInt(5) == 0 ? request.once() : request;
                request = random.nextBoolean() ? request.continuing(tenure == 0 ? last - 1 : tenure) : request;
                request = random.nextInt(20) == 0 ? request.continuing(-1) : request;
                requests.put(last, request);
                return new Acquire(request);
            } else if (choice < 60) {
                return new Acquire(old);
            } else if (choice < 75) {
                return new Downgrade(party(tenure == 0 ? old.sequence() : tenure));
            } else if (choice < 82) {
                return new Renew(party(old.sequence()));
            }
            return new Release(party(old.sequence()), List.of(), old.reads());
        }

        @Override
        void hear(Request request, Answer answer) {
            tenure = answer.owner();
        }
    }

    /** Several tickets at a time, some of which are served on the tenure of another one. */
    static final class Fair extends RandomSession {
        private final TreeSet<Long> waiting = new TreeSet<>();
        private final List<Long> used = new ArrayList<>();
        private long tenure;
        private long run;

        Fair(Contender by, long leaseMillis, Random random) {
            super(by, leaseMillis, random);
        }

        @Override
        LockCommand next() {
            int choice = random.nextInt(100);
            if (choice < 30) {
                for (int i = random.nextInt(3); i >= 0; i--) {
                    waiting.add(++last);
                }
                return ask();
            } else if (choice < 40 && !waiting.isEmpty()) {
                return ask();
            } else if (choice < 50 && !waiting.isEmpty()) {
                long cancelled = any(waiting);
                waiting.remove(cancelled);
                return new Release(party(cancelled), List.of(), false);
            } else if (choice < 58) {
                return new Acquire(request(++last).once());
            } else if (choice < 63) {
                return new Release(party(Math.max(1, last - random.nextInt(6))), List.of(), false);
            } else if (tenure == 0) {
                return waiting.isEmpty() ? new Renew(party(Math.max(1, last))) : ask();
            }
            use();
            long ended = tenure;
            if (choice < 70) {
                return new Renew(party(tenure));
            } else if (choice < 80) {
                tenure = 0;
                waiting.add(++last);
                return new Acquire(request(last).continuing(ended));
            }
            tenure = 0;
            Release release = new Release(party(ended), List.copyOf(used), false);
            used.clear();
            return release;
        }

        private LockCommand ask() {
            use();
            return waiting.isEmpty()
                    ? new Renew(party(Math.max(1, last)))
                    : new Acquire(request(waiting.toArray(Long[]::new)));
        }

        private Request request(Long... sequences) {
            return by.requests(sequences).lease(leaseMillis).using(used.toArray(Long[]::new));
        }

        // Threads enter on a tenure in the order of the tickets, as far as it may serve them.
        private void use() {
            while (tenure != 0 && !waiting.isEmpty() && waiting.first() <= run && random.nextBoolean()) {
                used.add(waiting.pollFirst());
            }
        }

        private long any(Set<Long> sequences) {
            return List.copyOf(sequences).get(random.nextInt(sequences.size()));
        }

        @Override
        void hear(Request request, Answer answer) {
            answer.over().forEach(waiting::remove);
            used.removeAll(request.used());
            if (answer.owner() != 0 && waiting.remove(answer.owner())) {
                tenure = answer.owner();
                run = answer.run();
            } else if (answer.owner() == tenure) {
                run = answer.run();
            }
        }
    }
}
