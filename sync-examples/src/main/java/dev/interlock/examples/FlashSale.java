package dev.interlock.examples;

import java.time.Duration;

/**
 * The flash sale: three JVMs sell 1,000 units that a key in Redis holds, first without a lock, then with naive ones,
 * then with Interlock. Run it with {@code mvn -q -Pdemo}; with {@code -Dflashsale.fencing=off} the store takes stale
 * writes, and the sale fails for it.
 */
public final class FlashSale {

    private static final Duration MAX = Duration.ofMinutes(3);
    private static final Duration MAX_END = Duration.ofMinutes(1);

    private FlashSale() {}

    /** Runs the sale; the exit code is 0 if the last line says {@code OK}. */
    public static void main(String[] args) {
        startWatchdog(Thread.currentThread());
        var verdict = new Verdict();
        try {
            play(verdict);
        } catch (InterruptedException | RuntimeException | AssertionError e) {
            e.printStackTrace();
            verdict.expect(
                    false,
                    "the end of the sale: "
                            + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
        System.out.println(verdict);
        System.exit(verdict.isOk() ? 0 : 1);
    }

    private static void play(Verdict verdict) throws InterruptedException {
        boolean fencing = !"off".equals(System.getProperty("flashsale.fencing"));
        long beganNanos = System.nanoTime();
        try (var sale = new Sale(fencing);
                var screen = new Screen()) {
            screen.say(Sale.format(
                    "Flash sale: %,d units in a key of %s, %d JVMs with %d buyers each",
                    Stock.UNITS, sale.redis(), sale.shops().size(), Shop.BUYERS));
            try {
                playActs(sale, screen, verdict);
            } catch (InterruptedException | RuntimeException | AssertionError e) {
                screen.unwatch();
                screen.say(sale.autopsy());
                throw e;
            }
            screen.say("");
            screen.note(
                    "(%.1f s)", Duration.ofNanos(System.nanoTime() - beganNanos).toMillis() / 1000.0);
        }
    }

    private static void playActs(Sale sale, Screen screen, Verdict verdict) throws InterruptedException {
        sale.shops().forEach(ShopJvm::awaitReady);
        sale.shops().forEach(shop -> screen.note("%s is pid %d", shop.name(), shop.pid()));
        var naive = new NaiveActs(sale, screen, verdict);
        naive.withoutLock();
        naive.setnxThenExpire();
        naive.deleteWithoutOwnerCheck();
        new InterlockAct(sale, screen, verdict).play();
    }

    /** Whatever hangs, the demo ends, and tells where; children and Redis end with this JVM. */
    private static void startWatchdog(Thread director) {
        var watchdog = new Thread(
                () -> {
                    try {
                        Thread.sleep(MAX.toMillis());
                        director.interrupt();
                        Thread.sleep(MAX_END.toMillis());
                    } catch (InterruptedException e) {
                        return;
                    }
                    System.out.println("\nFLASH SALE FAILED: not over after "
                            + MAX.plus(MAX_END).toSeconds() + " s");
                    Runtime.getRuntime().halt(1);
                },
                "watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
    }
}
