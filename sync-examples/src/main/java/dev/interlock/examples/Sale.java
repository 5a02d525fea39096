package dev.interlock.examples;

import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The shops and the Redis between them. What it tells of the sale is read from Redis, past all clients. */
final class Sale implements AutoCloseable {

    private static final int SHOPS = 3;
    private static final long POLL_MILLIS = 10;
    private static final int BAR = 20;

    private final RedisServer redis = RedisServer.launch();
    private final boolean fencing;
    private final List<ShopJvm> shops = new ArrayList<>();

    Sale(boolean fencing) {
        this.fencing = fencing;
        for (int number = 1; number <= SHOPS; number++) {
            shops.add(ShopJvm.start("shop-" + number, redis.url(), fencing));
        }
    }

    RedisServer redis() {
        return redis;
    }

    /** A shop by its number, from 1. */
    synchronized ShopJvm shop(int number) {
        return shops.get(number - 1);
    }

    synchronized List<ShopJvm> shops() {
        return List.copyOf(shops);
    }

    /** Puts a new JVM in the place of a dead one; does not wait until it runs. */
    synchronized void replace(int number) {
        shops.set(number - 1, ShopJvm.start("shop-" + number, redis.url(), fencing));
    }

    /** Fills the stock and opens all shops. */
    void open(String lock) {
        redis.command("DEL", Stock.SOLD, Stock.TOKEN, Stock.REFUSED, NaiveLock.KEY);
        redis.command("SET", Stock.LEFT, Integer.toString(Stock.UNITS));
        shops().forEach(shop -> shop.send("open " + lock));
    }

    /** Closes the shops that are alive, and returns when nobody buys any more. */
    void close(String reason) {
        var alive = shops().stream().filter(ShopJvm::isAlive).toList();
        alive.forEach(shop -> shop.send("close"));
        alive.forEach(shop -> shop.await("CLOSED"));
        var broken =
                alive.stream().flatMap(shop -> shop.said("BROKEN ").stream()).toList();
        if (!broken.isEmpty()) {
            throw new IllegalStateException(reason + ", but a buyer broke down: " + broken);
        }
    }

    /** Sends a command to Redis, and returns the reply as text. */
    String ask(String... command) {
        return String.valueOf(redis.command(command));
    }

    int left() {
        return (int) number(redis.command("GET", Stock.LEFT));
    }

    int refused() {
        return (int) number(redis.command("GET", Stock.REFUSED));
    }

    int sold() {
        return soldByShop().values().stream().mapToInt(Integer::intValue).sum();
    }

    int soldOutside(ShopJvm shop) {
        return sold() - soldByShop().getOrDefault(shop.name(), 0);
    }

    private Map<String, Integer> soldByShop() {
        var sold = new TreeMap<String, Integer>();
        if (redis.command("HGETALL", Stock.SOLD) instanceof List<?> fields) {
            for (int i = 0; i < fields.size(); i += 2) {
                String shop = String.valueOf(fields.get(i)).split("/", 2)[0];
                sold.merge(shop, (int) number(fields.get(i + 1)), Integer::sum);
            }
        }
        return sold;
    }

    /** Waits for something that Redis or the shops will show. */
    void await(String what, Duration patience, BooleanSupplier seen) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + patience.toNanos();
        while (!seen.getAsBoolean()) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("not within " + patience.toSeconds() + " s: " + what);
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** The state of the sale in a line. */
    String progress() {
        int left = left();
        var sold = soldByShop();
        int total = sold.values().stream().mapToInt(Integer::intValue).sum();
        int full = Math.max(0, Math.min(BAR, left * BAR / Stock.UNITS));
        String perShop = shops().stream()
                .map(shop -> format("%s %,4d", shop.name(), sold.getOrDefault(shop.name(), 0))
                        + (shop.state().isEmpty() ? "" : " " + shop.state()))
                .collect(Collectors.joining(", "));
        return format(
                "stock %,5d [%s%s] sold %,5d: %s", left, "#".repeat(full), ".".repeat(BAR - full), total, perShop);
    }

    static String format(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    private static long number(@Nullable Object reply) {
        return reply == null ? 0 : Long.parseLong(reply.toString());
    }

    @Override
    public void close() {
        shops().forEach(ShopJvm::close);
        redis.close();
    }
}
