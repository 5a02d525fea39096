package dev.interlock.examples;

import dev.interlock.examples.ShopJvm.Held;
import java.time.Duration;

/** The sale under Interlock, with a JVM killed and another one stopped inside their critical sections. */
final class InterlockAct {

    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private final Sale sale;
    private final Screen screen;
    private final Verdict verdict;

    InterlockAct(Sale sale, Screen screen, Verdict verdict) {
        this.sale = sale;
        this.screen = screen;
        this.verdict = verdict;
    }

    void play() throws InterruptedException {
        screen.heading("(c) Interlock, with a lease of " + Shop.LEASE.toMillis()
                + " ms. The store takes no write with an older fencing token than the last.");
        sale.open("interlock");
        screen.watch(sale::progress);
        int killed = killInside(sale.shop(2));
        stopInside(sale.shop(3));
        sale.await("the stock sells out", PATIENCE, () -> sale.left() == 0);
        sale.closeShops("(c)");
        screen.unwatch();
        int sold = sale.sold();
        int oversold = Math.max(0, sold - Stock.UNITS);
        verdict.outcome(new Verdict.Outcome(sold, oversold, killed, sale.refused()));
        screen.note("=> %,d units sold of %,d: %,d oversold.", sold, Stock.UNITS, oversold);
    }

    /** Returns how many JVMs were killed while they held the lock: one, or none. */
    private int killInside(ShopJvm victim) throws InterruptedException {
        victim.hold(Breakpoint.SECTION, 700);
        Held held = victim.awaitHeld();
        boolean inside = owns(victim) && sale.left() == held.stock();
        int exitCode = victim.kill();
        long beganNanos = System.nanoTime();
        screen.note(
                "%s is inside, has read %d and written nothing: kill -9, exit code %d",
                held.buyer(), held.stock(), exitCode);
        screen.note("  Redis keeps the lock for its session another %s ms", sale.ask("PTTL", Shop.LOCK));
        awaitSoldByOthers(victim, 1);
        screen.note("  %,d ms after the kill the others go on selling", millisSince(beganNanos));
        return inside && exitCode == ShopJvm.KILLED ? 1 : 0;
    }

    private void stopInside(ShopJvm sleeper) throws InterruptedException {
        sleeper.hold(Breakpoint.SECTION, 400);
        Held held = sleeper.awaitHeld();
        verdict.expect(owns(sleeper) && sale.left() == held.stock(), "(c) the JVM to stop inside its critical section");
        sleeper.stop();
        long beganNanos = System.nanoTime();
        screen.note("%s is inside, has read %d and written nothing: kill -STOP", held.buyer(), held.stock());
        awaitSoldByOthers(sleeper, 1);
        screen.note("  %,d ms later its lease is over and the others go on selling", millisSince(beganNanos));
        awaitSoldByOthers(sleeper, 20);
        int left = sale.left();
        sleeper.send("go");
        sleeper.cont();
        sale.await(
                "the write of the one who woke up",
                PATIENCE,
                () -> !written(sleeper).isEmpty());
        screen.note(
                "  kill -CONT: it wakes, and writes %d where %d are left: the store has %s",
                held.stock() - 1, left, written(sleeper));
        sale.await(
                "its JVM hears of the loss",
                PATIENCE,
                () -> !sleeper.said("LOST unlock").isEmpty()
                        && !sleeper.said("LOST listener").isEmpty());
        screen.note("  its listener hears: %s", sleeper.said("LOST listener ").get(0));
        screen.note("  its unlock() throws: %s", sleeper.said("LOST unlock ").get(0));
    }

    private static String written(ShopJvm sleeper) {
        if (!sleeper.said("REFUSED ").isEmpty()) {
            return "refused it";
        }
        return sleeper.said("ACCEPTED ").isEmpty() ? "" : "taken it";
    }

    private boolean owns(ShopJvm shop) {
        return sale.ask("HKEYS", Shop.LOCK).startsWith("[" + shop.session() + ":");
    }

    private void awaitSoldByOthers(ShopJvm shop, int units) throws InterruptedException {
        int before = sale.soldOutside(shop);
        sale.await("the others go on selling", PATIENCE, () -> sale.soldOutside(shop) >= before + units);
    }

    private static long millisSince(long beganNanos) {
        return Duration.ofNanos(System.nanoTime() - beganNanos).toMillis();
    }
}
