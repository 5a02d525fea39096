package dev.interlock.examples;

import static java.util.Comparator.comparingLong;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.interlock.examples.ShopJvm.Held;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The sale without a lock, and with two naive ones. */
final class NaiveActs {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final Duration RUSH = Duration.ofSeconds(3);
    private static final Duration STUCK = NaiveLock.LEASE.multipliedBy(5).dividedBy(2);

    private final Sale sale;
    private final Screen screen;
    private final Verdict verdict;

    /** Something that a buyer did to the naive lock, on the clock that all JVMs share. */
    private record Event(long nanos, String buyer, String verb, String whose) {
        static Event parse(String line) {
            String[] parts = line.split(" ", 4);
            return new Event(Long.parseLong(parts[0]), parts[1], parts[2], parts[3]);
        }
    }

    NaiveActs(Sale sale, Screen screen, Verdict verdict) {
        this.sale = sale;
        this.screen = screen;
        this.verdict = verdict;
    }

    void withoutLock() throws InterruptedException {
        screen.heading("(a) No lock. Every buyer reads the stock, thinks, and writes it back less one.");
        sale.open("none");
        screen.watch(sale::progress);
        long beganNanos = System.nanoTime();
        sale.await(
                "more sold than there was",
                PATIENCE,
                () -> sale.left() <= 0 || (since(beganNanos).compareTo(RUSH) > 0 && sale.sold() > Stock.UNITS));
        sale.closeShops("(a)");
        screen.unwatch();
        int oversold = Math.max(0, sale.sold() - Stock.UNITS);
        screen.note("=> %,d units sold of %,d: %,d oversold.", sale.sold(), Stock.UNITS, oversold);
        verdict.expect(oversold > 0, "(a) an oversale without a lock");
    }

    void setnxThenExpire() throws InterruptedException {
        screen.heading("(b1) SETNX, then EXPIRE. A lock in two steps, and a JVM that dies between them.");
        ShopJvm victim = sale.shop(2);
        sale.open("setnx");
        screen.watch(sale::progress);
        victim.hold(Breakpoint.BETWEEN, 950);
        Held held = victim.awaitHeld();
        int exitCode = victim.kill();
        screen.note("%s has done SETNX and not yet EXPIRE: kill -9, exit code %d", held.buyer(), exitCode);

        long beganNanos = System.nanoTime();
        int soldBefore = sale.sold();
        long triedBefore = attempts();
        sale.replace(2); // for the next act
        sale.await("time passes", PATIENCE, () -> since(beganNanos).compareTo(STUCK) > 0 || sale.sold() != soldBefore);
        long stuckMillis = since(beganNanos).toMillis();
        String owner = sale.ask("GET", NaiveLock.KEY);
        String ttl = sale.ask("TTL", NaiveLock.KEY);
        boolean stuck = sale.sold() == soldBefore && owner.equals(held.buyer()) && ttl.equals("-1");
        screen.note("the key names %s and has TTL %s%s", owner, ttl, ttl.equals("-1") ? ": it never expires" : "");
        screen.note(
                "=> %s: for %,d ms the others tried %,d times, and %s got in.",
                stuck ? "Deadlock" : "No deadlock",
                stuckMillis,
                attempts() - triedBefore,
                stuck ? "nobody" : "somebody");
        verdict.expect(exitCode == ShopJvm.KILLED && stuck, "(b1) the deadlock of SETNX + EXPIRE");

        sale.ask("DEL", NaiveLock.KEY);
        sale.closeShops("(b1)");
        screen.unwatch();
        sale.shop(2).awaitReady();
    }

    void deleteWithoutOwnerCheck() throws InterruptedException {
        screen.heading("(b2) SET NX PX " + NaiveLock.LEASE.toMillis()
                + ", and DEL without a look at the owner. A holder is slower than that.");
        ShopJvm first = sale.shop(1);
        ShopJvm second = sale.shop(2);
        sale.open("px");
        screen.watch(sale::progress);
        first.hold(Breakpoint.SECTION, 980);
        Held slow = first.awaitHeld();
        second.hold(Breakpoint.SECTION, Stock.UNITS);
        Held robbed = second.awaitHeld(); // got in when the key of the slow one expired
        first.send("go");
        sale.await("a third buyer gets in", PATIENCE, () -> third(slow, robbed).isPresent());
        second.send("go");
        first.await("ACCEPTED ");
        second.await("ACCEPTED ");
        sale.closeShops("(b2)");
        screen.unwatch();

        var theft = events().stream()
                .filter(event -> event.nanos > slow.nanos())
                .filter(event -> event.buyer.equals(slow.buyer()) && event.verb.equals("deletes"))
                .findFirst();
        var third = third(slow, robbed);
        long originNanos = entrance(slow).nanos;
        tell(originNanos, entrance(slow), "enters, reads " + slow.stock() + ", and is slow");
        tell(originNanos, entrance(robbed), "enters, since the key has expired: two inside");
        theft.ifPresent(event ->
                tell(originNanos, event, "writes " + (slow.stock() - 1) + " and deletes the lock of " + event.whose));
        third.ifPresent(event -> tell(originNanos, event, "enters, while " + robbed.buyer() + " is inside"));
        int twice = sale.left() + sale.sold() - Stock.UNITS;
        screen.note(
                "=> %s: %,d in stock + %,d sold, %,d units sold twice.",
                theft.isPresent() && third.isPresent() ? "Another's lock deleted, no exclusion" : "No lock deleted",
                sale.left(),
                sale.sold(),
                twice);
        verdict.expect(theft.isPresent(), "(b2) the deletion of another's lock");
        verdict.expect(third.isPresent(), "(b2) a third buyer who gets in by that");
        verdict.expect(twice > 0, "(b2) a unit sold twice");
    }

    private void tell(long originNanos, Event event, String what) {
        screen.note("%,6d ms  %s %s", NANOSECONDS.toMillis(event.nanos - originNanos), event.buyer, what);
    }

    private List<Event> events() {
        return sale.shops().stream()
                .flatMap(shop -> shop.said("EVENT ").stream())
                .map(Event::parse)
                .sorted(comparingLong(Event::nanos))
                .toList();
    }

    /** When the buyer who is, or was, held entered last before that. */
    private Event entrance(Held held) {
        return events().stream()
                .filter(event -> event.buyer.equals(held.buyer()) && event.verb.equals("enters"))
                .filter(event -> event.nanos <= held.nanos())
                .reduce((earlier, later) -> later)
                .orElseThrow();
    }

    /** Who entered while the robbed buyer was inside and the slow one no more, if anybody did. */
    private Optional<Event> third(Held slow, Held robbed) {
        long fromNanos = entrance(robbed).nanos;
        return events().stream()
                .filter(event -> event.nanos > fromNanos)
                .takeWhile(event -> !(event.buyer.equals(robbed.buyer()) && event.verb.equals("leaves")))
                .filter(event -> event.verb.equals("enters") && !event.buyer.equals(slow.buyer()))
                .findFirst();
    }

    private long attempts() {
        return sale.redis().commandCalls("setnx") + sale.redis().commandCalls("set");
    }

    private static Duration since(long beganNanos) {
        return Duration.ofNanos(System.nanoTime() - beganNanos);
    }
}
