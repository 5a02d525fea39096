package dev.interlock.internal.semaphore;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.semaphore.Teller.Said;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** What the semaphore's script is to do, said once more without Redis: one pool, one queue, one account per session. */
final class SemaphoreModel {

    /** An account. */
    static final class Account {
        final long epoch;
        long version;
        long granted;
        long taken;
        long returned;
        long wanted;
        long contributed;
        long operation;
        long result;
        boolean open = true;

        Account(long epoch) {
            this.epoch = epoch;
        }

        long booked() {
            return granted + taken - returned;
        }
    }

    final boolean owned;
    final Map<String, Account> accounts = new HashMap<>();
    final Set<String> queue = new LinkedHashSet<>();
    final Set<String> dying = new LinkedHashSet<>();
    long available;
    long permits;

    SemaphoreModel(int permits, boolean owned) {
        this.available = permits;
        this.permits = permits;
        this.owned = owned;
    }

    /** The session's lease is over, which the next command of another one notices. */
    void die(String session) {
        Account account = accounts.get(session);
        if (account != null && account.open) {
            dying.add(session);
        }
    }

    private Account known(String session) {
        return requireNonNull(accounts.get(session), session);
    }

    private void close(String session, Account account) {
        if (owned) {
            available += account.booked();
        }
        account.open = false;
        queue.remove(session);
        dying.remove(session);
    }

    void tell(Said said) {
        for (String session : Set.copyOf(dying)) {
            if (!session.equals(said.session())) {
                close(session, known(session));
            }
        }
        Account account = accounts.get(said.session());
        if (said.fresh() && (account == null || account.epoch < said.epoch())) {
            if (account != null && account.open) {
                close(said.session(), account);
            }
            account = new Account(said.epoch());
            accounts.put(said.session(), account);
        }
        if (account != null && account.epoch == said.epoch() && account.open && said.version() > account.version) {
            take(said, account);
        }
        serve();
    }

    private void take(Said said, Account account) {
        account.version = said.version();
        available -= Math.max(0, said.granted() - account.granted) + Math.max(0, said.taken() - account.taken);
        account.granted = Math.max(said.granted(), account.granted);
        account.taken = Math.max(said.taken(), account.taken);
        available += said.returned() - account.returned + said.contributed() - account.contributed;
        account.returned = said.returned();
        account.contributed = said.contributed();
        account.wanted = said.wanted();
        if (said.operation() > account.operation) {
            account.operation = said.operation();
            account.result = operate(said, account);
        }
        if (said.leave()) {
            close(said.session(), account);
            return;
        }
        dying.remove(said.session());
        if (account.wanted > account.granted) {
            queue.add(said.session());
        } else {
            queue.remove(said.session());
        }
    }

    private long operate(Said said, Account account) {
        switch (said.verb()) {
            case "take", "take_in_turn" -> {
                boolean isPassing = queue.stream().anyMatch(waiting -> !waiting.equals(said.session()));
                if (available < said.amount() || (isPassing && said.verb().equals("take_in_turn"))) {
                    return -1;
                }
                available -= said.amount();
                account.taken += said.amount();
                return said.amount();
            }
            case "drain" -> {
                long all = available;
                account.taken += Math.max(0, all);
                available = 0;
                return all;
            }
            case "resize" -> {
                available += said.amount() - permits;
                permits = said.amount();
                return 0;
            }
            case "look" -> {
                return available;
            }
            default -> {
                return 0;
            }
        }
    }

    private void serve() {
        while (!queue.isEmpty()) {
            String head = queue.iterator().next();
            Account account = known(head);
            long need = account.wanted - account.granted;
            if (need > available) {
                return;
            }
            available -= need;
            account.granted = account.wanted;
            queue.remove(head);
        }
    }
}
