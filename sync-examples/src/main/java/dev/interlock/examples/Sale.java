package dev.interlock.examples;

import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The shops and the Redis between them. What it tells of the sale is read from Redis, past all clients. */
final class Sale implements AutoCloseable {

    private static final int SHOPS = 3;
    private static final long POLL_MILLIS = 10;
    private static final int BAR = 20;
    private static final String READ_BOOKS = "return { redis.call('get', KEYS[1]), redis.call('hgetall', KEYS[2]) }";

    private final RedisServer redis =
            System.getenv("REDIS_URL") == null ? RedisServer.launch() : RedisServer.provided();
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
        clear();
        redis.command("SET", Stock.LEFT, Integer.toString(Stock.UNITS));
        shops().forEach(shop -> shop.send("open " + lock));
    }

    /** Closes the shops that are alive after an act, and returns when nobody buys any more. */
    void closeShops(String act) {
        var alive = shops().stream().filter(ShopJvm::isAlive).toList();
        alive.forEach(shop -> shop.send("close"));
        alive.forEach(shop -> shop.await("CLOSED"));
        var broken =
                alive.stream().flatMap(shop -> shop.said("BROKEN ").stream()).toList();
        if (!broken.isEmpty()) {
            throw new IllegalStateException("in " + act + " a buyer broke down: " + broken);
        }
    }

    /** Sends a command to Redis, and returns the reply as text. */
    String ask(String... command) {
        return String.valueOf(redis.command(command));
    }

    int left() {
        return books().left;
    }

    int sold() {
        return books().sold();
    }

    int soldOutside(ShopJvm shop) {
        Books books = books();
        return books.sold() - books.soldBy(shop);
    }

    int refused() {
        return number(redis.command("GET", Stock.REFUSED));
    }

    /** What is left and what each shop has sold, at one moment. */
    private record Books(int left, Map<String, Integer> soldByShop) {
        int sold() {
            return soldByShop.values().stream().mapToInt(Integer::intValue).sum();
        }

        int soldBy(ShopJvm shop) {
            return soldByShop.getOrDefault(shop.name(), 0);
        }
    }

    private Books books() {
        var sold = new HashMap<String, Integer>();
        if (!(redis.command("EVAL", READ_BOOKS, "2", Stock.LEFT, Stock.SOLD) instanceof List<?> reply)
                || !(reply.get(1) instanceof List<?> buyers)) {
            throw new IllegalStateException("Redis has no books of the sale");
        }
        for (int i = 0; i < buyers.size(); i += 2) {
            String shop = String.valueOf(buyers.get(i)).split("/", 2)[0];
            sold.merge(shop, number(buyers.get(i + 1)), Integer::sum);
        }
        return new Books(number(reply.get(0)), sold);
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

    /** What is in Redis, and what the threads of all shops do: for a sale that doesn't end as it should. */
    String autopsy() {
        var alive = shops().stream().filter(ShopJvm::isAlive).toList();
        String keys = redis.keys().stream()
                .map(key -> "%s: %s, TTL %s ms".formatted(key, ask("TYPE", key), ask("PTTL", key)))
                .collect(Collectors.joining("\n"));
        return keys + "\n" + alive.stream().map(ShopJvm::stacks).collect(Collectors.joining("\n"));
    }

    /** The state of the sale in a line. */
    String progress() {
        Books books = books();
        int full = Math.max(0, Math.min(BAR, books.left * BAR / Stock.UNITS));
        String perShop = shops().stream()
                .map(shop -> format("%s %,4d %s", shop.name(), books.soldBy(shop), shop.state())
                        .stripTrailing())
                .collect(Collectors.joining(", "));
        return format(
                "stock %,5d [%s%s] sold %,5d: %s",
                books.left, "#".repeat(full), ".".repeat(BAR - full), books.sold(), perShop);
    }

    static String format(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    private static int number(@Nullable Object reply) {
        return reply == null ? 0 : Integer.parseInt(reply.toString());
    }

    @Override
    public void close() {
        shops().forEach(ShopJvm::close);
        clear();
        redis.close();
    }

    private void clear() {
        redis.command("DEL", Stock.LEFT, Stock.SOLD, Stock.TOKEN, Stock.REFUSED, NaiveLock.KEY);
    }
}
